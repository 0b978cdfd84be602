"""Detection of errors planted into sentences that people found supported, by kind.

    python -m storm_benchmarks.planted [--judge-lm MODEL] [--cross-encoder PATH] [--each 60] [--clean 495] [--seed 0]

Sentences: those labelled supported of WiCE dev, AttributionBench dev, and our own about English pages. Each is checked
as a writer's is (``evidence/screen.py``), among passages for other sentences, citing the three best parts of its
source as it was, then with one error; a judge is asked about the same parts. Flagged is what goes back to the writer.
A wrong citation is the passage of another sentence, in a section that lacks the right one. The last row is of
sentences as they were. A judge is asked about all rows in a drawn order, so that no call holds one kind alone.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from storm_bench.datasets.support import read_attribution_bench, read_wice
from storm_benchmarks.planting import RULES
from storm_benchmarks.screen import own_sentences
from storm_benchmarks.shared import options, print_table
from storm_pipeline import Settings
from storm_pipeline.evidence.citations import Claim
from storm_pipeline.evidence.judges.base import Question
from storm_pipeline.evidence.judges.opening import open_judge
from storm_pipeline.evidence.passages import Passage
from storm_pipeline.evidence.retrieval import Embed
from storm_pipeline.evidence.retrieval.embedder import CachingEmbedder, open_embedder
from storm_pipeline.evidence.screen import Screen
from storm_pipeline.text.chunks import chunks
from storm_pipeline.text.lexical import terms
from storm_pipeline.types import Snippet

_WORDS, _PARTS, _OTHERS = 150, 3, 9  # of a passage; passages of its source that a sentence cites; of other sentences
Flags = Callable[[Sequence["Cited"]], list[bool]]
"""Whether each sentence would go back to its writer."""


@dataclass(frozen=True)
class Cited:
    """A sentence, the passages that it cites, and others that its writer was shown."""

    text: str
    passages: tuple[str, ...]
    others: tuple[str, ...]


def main() -> None:
    """Print a Markdown table."""
    parser = options(__doc__, "data", "cache")
    parser.add_argument("--judge-lm", help="a language model that judges too")
    parser.add_argument("--cross-encoder", help="folder or hub name of a cross-encoder that judges too")
    parser.add_argument("--each", type=int, default=60, help="planted errors of a kind, at most")
    parser.add_argument("--clean", type=int, help="sentences as they were, at most; by default all")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    judges: dict[str, dict[str, object]] = {"screen": {}}
    if args.judge_lm:
        judges["model"] = {"judge": "model", "judge_lm": args.judge_lm}
    if args.cross_encoder:
        judges["cross-encoder"] = {"judge": args.cross_encoder}
    embedder = CachingEmbedder(open_embedder("all-MiniLM-L6-v2", args.cache), size=1 << 17)
    flags: dict[str, Flags] = {"screen": lambda some: flagged_by_screen(some, embedder.embed)}
    for name, own in list(judges.items())[1:]:
        flags[name] = by_judge(Settings.build({"cache": args.cache, **own}))
    clean = sentences(args.data, args.seed)
    head = ["kind", "planted", *flags, *(f"screen or {name}" for name in list(flags)[1:])]
    print_table(head, table(clean, flags, args.each, args.clean, args.seed), marks="<" + ">" * (len(head) - 1))


def sentences(data: Path, seed: int) -> list[Cited]:
    """Return the supported sentences in random order, each with the best parts of its and of others' sources."""
    labelled = [*read_wice(data / "support"), *read_attribution_bench(data / "support")]
    rows = [(one.text, "\n".join(one.sources)) for one in labelled if one.label == "supported"]
    for read in own_sentences(data):
        named = zip(read.claims, read.labels, strict=True)
        rows += [
            (c.text, read.shown[c.cited[0]].text) for c, label in named if (read.name, label) == ("en", "supported")
        ]
    rng = random.Random(seed)
    rows = rng.sample(rows, len(rows))
    parts = [_best(text, source) for text, source in rows]
    found = []
    for (text, source), part in zip(rows, parts, strict=True):
        strangers = [other[0] for other, (_, page) in zip(parts, rows, strict=True) if page != source]
        found.append(Cited(text, part, tuple(rng.sample(strangers, _OTHERS))))
    return found


def _best(text: str, source: str) -> tuple[str, ...]:
    """Return the parts of a source with most of a sentence's content words, as ``storm check`` shows a judge."""
    wanted = frozenset(terms(text))
    return tuple(sorted(chunks(source, _WORDS), key=lambda part: -len(wanted & frozenset(terms(part))))[:_PARTS])


def planted(clean: Sequence[Cited], kind: str, most: int, rng: random.Random) -> list[Cited]:
    """Return up to so many sentences with an error of a kind."""
    found = []
    for one in clean:
        if kind == "wrong citation":
            found.append(Cited(one.text, one.others[:1], one.others[1:]))
        else:
            changed = RULES[kind](one.text, one.others[0], rng)
            if changed and not any(changed in text for text in one.passages):
                found.append(Cited(changed, one.passages, one.others))
    return found[:most]


def table(
    clean: Sequence[Cited], flags: dict[str, Flags], most: int, most_clean: int | None, seed: int
) -> Iterator[list[object]]:
    """Yield a row for each kind of error, and one for sentences as they were: the shares that are flagged."""
    rng = random.Random(seed)
    sets = {kind: planted(clean, kind, most, rng) for kind in (*RULES, "wrong citation")}
    sets["none (clean)"] = list(clean[:most_clean])
    rows = [(kind, one) for kind, own in sets.items() for one in own]
    rng.shuffle(rows)
    flagged = {name: flag([one for _, one in rows]) for name, flag in flags.items()}
    for kind, own in sets.items():
        mine = [i for i, (of, _) in enumerate(rows) if of == kind]
        screen, *others = ([found[i] for i in mine] for found in flagged.values())
        both = ([a or b for a, b in zip(screen, other, strict=True)] for other in others)
        yield [kind, len(own), *(f"{sum(row) / len(row):.1%}" for row in (screen, *others, *both))]


def flagged_by_screen(some: Sequence[Cited], embed: Embed) -> list[bool]:
    """Return whether the check of a writer's sentences returns each sentence as unsupported."""
    found = []
    for one in some:
        texts = (*one.others, *one.passages)
        shown = [Passage(text, (Snippet(f"https://example.org/{i}", "", text),)) for i, text in enumerate(texts)]
        claim = Claim(one.text, tuple(range(len(one.others), len(texts))))
        (verdict,) = Screen(shown, known="", embed=embed).judge([claim])
        found.append(bool(verdict.problem) and not verdict.is_only_copied)
    return found


def by_judge(settings: Settings) -> Flags:
    """Flag sentences that a judge does not call supported."""
    judge = open_judge(settings.judge_of_articles, settings)

    def flags(some: Sequence[Cited]) -> list[bool]:
        return [one.label != "supported" for one in judge.judge([Question(c.text, c.passages) for c in some])]

    return flags


if __name__ == "__main__":
    main()
