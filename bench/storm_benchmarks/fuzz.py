"""Random replies, hits, documents and files, for some minutes: nothing dangles, nothing but refusals is raised.

    python -m storm_benchmarks.fuzz [--minutes 5] [--seed 0] [--length 100000]

Everything runs in this process, without a run around it. A reply is read by one of its readers: as a draft, an outline,
or the reply of a program; hits are checked and bounded, documents are decoded and split, journals are damaged and
opened; whole documents are those of :mod:`.fuzz_documents`; configuration files, run folders and requests
are those of :mod:`.fuzz_files`. Prints a Markdown table of cases, their rate, exceptions that are not refusals,
citations of passages that were not shown, and the slowest case, in processor time; the exit code is 1 if there was any
of these exceptions or citations, or a case took over two seconds.
"""

import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import Any

from dspy.utils.exceptions import AdapterParseError

from storm_benchmarks.fuzz_documents import ENDS, OUTCOMES, whole_document
from storm_benchmarks.fuzz_files import MEMORY, configuration, folder_of_a_run, request
from storm_benchmarks.shared import options, print_table
from storm_pipeline.errors import StormError
from storm_pipeline.method.outlines import parse_outline
from storm_pipeline.method.writers.drafts import read_draft
from storm_pipeline.models.prompt_adapter import PromptAdapter
from storm_pipeline.run.journal import Journal
from storm_pipeline.signatures.outline import RefineOutline
from storm_pipeline.signatures.research import AskQuestion, WriteQueries
from storm_pipeline.sources.documents.decoding import decode
from storm_pipeline.sources.search.edge import cut_long_texts, with_checks
from storm_pipeline.sources.search.fake import FakeSearch
from storm_pipeline.text.fitting import without_control_tokens
from storm_pipeline.text.languages import split_sentences

PATTERNS = (
    *("A. B. ", "{", "[", '{"a":', "*a", "The king had it. He went ", ".", "'a b. C ", "(a. B ", '"a. B ', "你好。"),
    *("<think>", "</think>", "# ", "a\n", "< ", "_a", "[1", "[1]", "1,", "__", "\\[", "[a](", "`", "\\", "1 and "),
    *(" ", "Dr. ", "| a ", "- a\n", "lower case words go\n", "[1] \n", "**a**", "\u0301", "1.1 ", "?!", "\n", "#"),
)
"""Pieces that readers of untrusted text once took excessive time for."""
_PIECES = (
    *PATTERNS,
    *("[1]", "[99]", "[1, 2]", "[0]", "[-1]", "【3】", "[[2]]", "[9999999999999999999]", "\ud83d", "\x00", "\x1b[3m"),
    *('{"queries": ["', '"]}', '{"sections": [{"title": "', '", "subsections": []}', "null", "1e999", "```json\n"),
    *("<|im_end|>", "[INST]", "Of silk much is known. ", "Dr. A. B. said so [2]. ", "\u200d", "\u202e", "## ", "\r"),
)
_ADAPTER = PromptAdapter()
_SHOWN, _LIMIT = 3, 2.0  # passages that a draft may cite, and seconds that a case may take
_LONG = 0.002  # share of the cases that are long
_MEAN = 8  # pieces of a short text, on average
_SIGNATURES = (AskQuestion, WriteQueries, RefineOutline)
_READS_DRAFTS = 0.4  # share of the replies that are drafts, whose citations are counted


@dataclass
class Tally:
    """Results of the cases of one kind, in processor seconds; ``faults`` counts each kind of fault."""

    cases: int = 0
    dangling: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    faults: Counter[str] = field(default_factory=Counter)

    def cells(self) -> tuple[str, ...]:
        """Return the row of a table: cases, their rate, faults, dangling citations, the slowest case."""
        counts = (f"{self.cases:,}", f"{self.cases / max(self.seconds, 1e-9):,.0f}", f"{self.faults.total()}")
        return (*counts, f"{self.dangling}", f"{self.slowest:.2f} s")


def text_of(chance: random.Random, longest: int) -> str:
    """Return a random text: mostly short and mixed, sometimes a few pieces repeated up to ``longest``."""
    pieces = chance.choices(_PIECES, k=int(chance.expovariate(1 / _MEAN)))
    if chance.random() > _LONG or not pieces:
        return "".join(pieces)
    few = "".join(pieces[: chance.randint(1, 3)])
    return (few * (longest // max(1, len(few)) + 1))[: chance.randint(1, longest)]


def reply(text: str, tally: Tally, chance: random.Random) -> None:
    """Return a reply as one kind of program reads it."""
    if chance.random() < _READS_DRAFTS:
        draft = read_draft(text, _SHOWN)
        tally.dangling += sum(not 0 <= number < _SHOWN for claim in draft.claims() for number in claim.cited)
        return
    signature = chance.choice([*_SIGNATURES, None])
    if signature is None:
        parse_outline(text, "Topic")
        return
    with suppress(AdapterParseError):
        for value in _ADAPTER.parse(signature, text).values():
            str(value).encode("utf-8")


def hit(text: str, _: Tally, chance: random.Random) -> None:
    """Check, bound and show in a prompt the results of an engine."""
    fields = {"url": f"https://example.org/{text[:50]}", "title": text[:900], "text": text, "published": text[:20]}
    wrong: tuple[Any, ...] = (None, 3, [], {})
    values = {name: value if chance.random() > 0.1 else chance.choice(wrong) for name, value in fields.items()}
    found = with_checks(FakeSearch(lambda _: [values])).search("q", 1)  # type: ignore[list-item]
    for snippet in cut_long_texts(found, "fake").snippets:
        f"{snippet.id} {snippet.title} {snippet.text}".encode()
        without_control_tokens(snippet.text)


def document(text: str, _: Tally, chance: random.Random) -> None:
    """Return the bytes of a file, decoded and split."""
    data = bytearray(text.encode("utf-8", "replace"))
    for _place in range(chance.randint(0, 3) if data else 0):
        data[chance.randrange(len(data))] = chance.randrange(256)
    split_sentences(decode(bytes(data)), chance.choice(("en", "de", "zh")))


def journal(text: str, _: Tally, chance: random.Random) -> None:
    """A damaged journal, opened again."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as place:
        path = Path(place) / "journal.jsonl"
        with Journal(path) as opened:
            opened.add("reply", "a", {"texts": [text]})
            opened.reject("reply", "a", {"texts": [text]})
            opened.add(chance.choice(("rejected", "forgotten", "reply")), "reply", chance.choice((None, [], {}, text)))
        data = bytearray(path.read_bytes())
        for _place in range(chance.randint(0, 3)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        path.write_bytes(data)
        with Journal(path) as opened:
            opened.take("reply", "a")


KINDS: dict[str, tuple[Callable[[str, Tally, random.Random], None], float]] = {
    "replies": (reply, 0.7),
    "hits": (hit, 0.08),
    "documents": (document, 0.09),
    "whole documents": (whole_document, 0.001),
    "journals": (journal, 0.03),
    "configuration files": (configuration, 0.03),
    "run folders": (folder_of_a_run, 0.03),
    "requests": (request, 0.03),
}
"""Fuzzed functions, and their shares of all cases."""


def fuzz(seconds: float, seed: int, longest: int) -> dict[str, Tally]:
    """Try random cases for so long."""
    chance = random.Random(seed)
    tallies = {name: Tally() for name in KINDS}
    split_sentences("Load the rules. Now.", "en")
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        (name,) = chance.choices(list(KINDS), [share for _, share in KINDS.values()])
        _try_one(KINDS[name][0], text_of(chance, longest), tallies[name], chance)
    return tallies


def _try_one(read: Callable[[str, Tally, random.Random], None], text: str, tally: Tally, chance: random.Random) -> None:
    start = time.process_time()
    try:
        read(text, tally, chance)
    except StormError:
        pass
    except Exception as error:  # noqa: BLE001 - whatever is raised is what we look for
        tally.faults[f"{type(error).__name__}: {str(error)[:80]!r}, such as for {text[:80]!r}"] += 1
    took = time.process_time() - start
    tally.cases += 1
    tally.seconds += took
    tally.slowest = max(tally.slowest, took)
    if took > _LIMIT:
        tally.faults[f"{took:.1f} s for {len(text):,} characters, such as {text[:80]!r}"] += 1


def main() -> None:
    """Fuzz, and print what became of it."""
    parser = options(__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--length", type=int, default=100_000, help="of the longest texts, in characters")
    args = parser.parse_args()
    tallies = fuzz(args.minutes * 60, args.seed, args.length)
    rows = ((name, *tally.cells()) for name, tally in tallies.items())
    print_table(("kind", "cases", "a second", "faults", "dangling citations", "slowest"), rows)
    seconds = sum(tally.seconds for tally in tallies.values())
    print(f"\n{seconds:.0f} s of processor time in {args.minutes:g} minutes")
    print()
    read = ((one, *(OUTCOMES[one, end] for end in ENDS)) for one in sorted({name for name, _ in OUTCOMES}))
    print_table(("file", *ENDS), read)
    for whose, of in (("this process", RUSAGE_SELF), ("the largest process that was ended", RUSAGE_CHILDREN)):
        print(f"{whose}: {getrusage(of).ru_maxrss / 1e3:,.0f} MB")
    for name, tally in tallies.items():
        print(*(f"\n{name}, {times} times: {fault}" for fault, times in tally.faults.most_common(9)), sep="")
    sys.exit(any(tally.faults or tally.dangling for tally in tallies.values()))


if __name__ == "__main__":
    main()
