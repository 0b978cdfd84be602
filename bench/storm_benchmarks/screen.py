"""What the screen does to sentences whose support people have labelled.

    python -m storm_benchmarks.screen [--sentences 500] [--passages 12]
    python -m storm_benchmarks.screen limits [--sentences 300] [--passages 12]
    python -m storm_benchmarks.screen read [--judge screen model] [--judge-lm MODEL] [--run LABELS=FILE …]
        [--writer-lm MODEL] [--replies FILE]

Data: WiCE (a Wikipedia sentence and the page it cites) and AttributionBench (a sentence of an answer and its sources).
Each sentence is checked as a section's is (references/screen.py), among passages for other sentences of the same
data set: once citing its own source, once citing another one's while its own is among those shown. Outcomes:

- kept: the writer's citation stays, and nothing is added;
- moved: other passages are cited instead or in addition, and the sentence stays;
- handed back: the writer is told what is missing. The pipeline drops only what comes back without support again.
A second table counts the sentences with a number or date that the whole source lacks, those of `read` as well.

`limits` varies every limit of the screen (``storm_pipeline.references.screen.Limits``), the others as they are.

`read` is about sentences that readers judged by the passages that they cite (``experiments/labels``): English ones
about pages in five languages, written for this with errors of many kinds, and with `--run` those of an article.json.
Each set is a section whose passages are all that its sentences cite. A run's judge is asked behind the check; of what
is handed back the last column counts what goes: all, where no writer answers. `--writer-lm` answers as the writer of a
section does, and `--replies` keeps each sentence as it stands afterwards, for readers to label.
"""

import csv
import hashlib
import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from scipy.stats import binomtest

from storm_bench.datasets.support import json_lines, read_wice
from storm_bench.datasets.wiki_live import read_wiki_live
from storm_bench.datasets.wikigenbench import read_wikigenbench
from storm_benchmarks.labels import labels
from storm_benchmarks.shared import options, print_table
from storm_pipeline.documents.chunks import chunks
from storm_pipeline.errors import ModelError
from storm_pipeline.judges.opening import judge_of_run
from storm_pipeline.judges.support import Verdicts
from storm_pipeline.languages import detect
from storm_pipeline.models.asking import LanguageModels
from storm_pipeline.models.open_models import open_models
from storm_pipeline.models.programs import Programs
from storm_pipeline.references.passages import Passage, numbered_passages
from storm_pipeline.references.screen import Claim, Judged, Limits, Screen
from storm_pipeline.render.json import from_json
from storm_pipeline.retrieval.embedder import CachingEmbedder, Embedder, Vectors, open_embedder
from storm_pipeline.run.events import CallbackSink, Event, Events, Revised
from storm_pipeline.settings import Settings
from storm_pipeline.text.index_terms import terms
from storm_pipeline.text.quantities import missing
from storm_pipeline.types import Snippet
from storm_pipeline.writers.draft_checks import checked_blocks
from storm_pipeline.writers.drafts import Block, Draft

_PASSAGE = 300  # maximum words of a passage: about two search results side by side
_BENCH = {"attributable": "supported", "not attributable": "not"}
_PEOPLE = ("data", "cites", "label", "sentences", "kept", "moved", "to its source", "handed back")
_OUTCOMES = ("kept", "moved", "to its source", "handed back")
_LIMITS = ("limit", "value", "supported: kept", "wrong page noticed", "moved home", "elsewhere", "not supported: back")
_VARIED: dict[str, tuple[Any, ...]] = {
    "keep": (0.2, 0.25, 0.3, 0.35, 0.4),
    "recite": (0.45, 0.5, 0.55, 0.6, 0.65),
    "window": (24, 45, 90),
}
_READ = ("judge", "passages", "label", "sentences", "handed back", "gone")


@dataclass(frozen=True)
class Labelled:
    """A sentence with its subject, the source text that it cites, and people's verdict: supported, partly or not."""

    text: str
    topic: str
    source: str
    label: str


@dataclass(frozen=True)
class Shown:
    """A labelled sentence among passages, of which one is its own source and one is cited."""

    name: str  # of the data set
    cites: str
    row: Labelled
    passages: tuple[Passage, ...]
    own: int
    cited: int


@dataclass(frozen=True)
class Read:
    """Sentences that a reader judged by the passages that they cite, all of these, and a label each."""

    name: str  # of the article, or the language of the passages
    known: str
    shown: tuple[Passage, ...]
    claims: tuple[Claim, ...]
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """What became of a sentence that was read."""

    name: str  # of its set
    text: str
    label: str
    back: bool  # it was handed back to its writer
    after: str  # as it stands then; empty: it is gone


def main() -> None:
    """Print a Markdown table."""
    parser = options(__doc__, "data", "cache")
    parser.add_argument("what", nargs="?", choices=["people", "limits", "read"], default="people", help="whose labels")
    parser.add_argument("--judge", nargs="+", default=["screen"], help="of the sentences that were read")
    parser.add_argument("--judge-lm", help="language model of the judge `model`")
    parser.add_argument("--writer-lm", help="language model that answers what is handed back; default: nobody does")
    parser.add_argument("--replies", type=Path, help="CSV file of the sentences afterwards")
    parser.add_argument("--run", nargs="+", default=[], metavar="LABELS=FILE", help="article.json and its labels")
    parser.add_argument("--embedder", default="all-MiniLM-L6-v2")
    parser.add_argument("--sentences", type=int, default=500, help="sentences drawn from each data set")
    parser.add_argument("--passages", type=int, default=12, help="passages shown with each sentence")
    args = parser.parse_args()
    embedder = CachingEmbedder(open_embedder(args.embedder, args.cache), size=1 << 17)
    if args.what == "read":
        sets = [*own_sentences(args.data), *(of_run(*one.split("=", 1)) for one in args.run)]
        judges = [Settings.build({"writing": "whole", "judge": name, "judge_lm": args.judge_lm}) for name in args.judge]
        outcomes = {own.judge: _outcomes_of(sets, own, embedder, args.writer_lm) for own in judges}
        print_table(_READ, (row for name, found in outcomes.items() for row in read_rows(name, found)), marks="<<<>>>")
        if args.replies:
            _keep(args.replies, outcomes)
        return
    drawn = _people(args.data / "support", args.sentences, args.passages)
    if args.what == "limits":
        print_table(_LIMITS, _limit_rows(drawn, embedder), marks="<>>>>>>")
        print_table(("limit", "value", "people's sentences, or wrong pages"), _other_limits(drawn), marks="<>>")
        return
    print_table(_PEOPLE, people_rows(drawn, embedder, Limits()), marks="<<<>>>>>")
    print_table(("data", "label", "sentences", "a number is missing"), number_rows(args.data), marks="<<>>")


def _people(folder: Path, sentences: int, passages: int) -> list[Shown]:
    """The sentences of each data set, once with their own citation and once with another one's."""
    found = []
    for name, labelled in _labelled(folder).items():
        drawn = random.Random(1)
        rows = drawn.sample(labelled, min(sentences, len(labelled)))
        for cites in ("its source", "another one's"):
            for row in rows:
                others = drawn.sample([other for other in rows if other.source != row.source], passages - 1)
                shown = [_passage(one, row.text) for one in (row, *others)]
                order = drawn.sample(range(len(shown)), len(shown))
                cited = order.index(0 if cites == "its source" else 1)
                found.append(Shown(name, cites, row, tuple(shown[j] for j in order), order.index(0), cited))
    return found


def people_rows(sets: Iterable[Shown], embedder: Embedder, limits: Limits) -> Iterator[list[Any]]:
    """What the screen does to each label of each set: shares of its sentences."""
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    for one in sets:
        screen = Screen(one.passages, known=one.row.topic, embed=embedder.embed, limits=limits)
        verdict = screen.judge([Claim(one.row.text, (one.cited,))])[0]
        own = {citation.snippet_id for citation in one.passages[one.own].citations()}
        counts.setdefault((one.name, one.cites, one.row.label), Counter()).update(_outcomes(verdict, own))
    for key, own_counts in counts.items():
        total = own_counts["all"]
        yield [*key, total, *(f"{own_counts[outcome] / total:.1%}" for outcome in _OUTCOMES)]


def _limit_rows(sets: Sequence[Shown], embedder: Embedder) -> Iterator[list[object]]:
    """What other limits would do to both data sets together."""
    for name, values in _VARIED.items():
        for value in values:
            changed = {name: value, **({"step": value * 2 // 3} if name == "window" else {})}
            rows = list(people_rows(sets, embedder, replace(Limits(), **changed)))

            def share(column: int, cites: str, *of: str, rows: list[list[Any]] = rows) -> float:
                own = [row for row in rows if row[1] == cites and row[2] in of]
                return float(sum(float(row[column][:-1]) * row[3] for row in own) / sum(row[3] for row in own))

            every = ("supported", "partly", "not")
            shares = (
                share(4, "its source", "supported"),
                100 - share(4, "another one's", *every),
                share(6, "another one's", "supported"),
                share(5, "another one's", *every) - share(6, "another one's", *every),
                share(7, "its source", "partly", "not"),
            )
            yield [f"`{name}`", value, *(f"{one:.1f}%" for one in shares)]


def _other_limits(sets: Sequence[Shown]) -> Iterator[list[object]]:
    """How many people's sentences copy their source, and how many wrong pages have a quotation of the right one."""
    own = [one for one in sets if one.cites == "its source" and one.row.label == "supported"]
    for run in (8, 12, 16, 24):
        screens = ((one, Screen(one.passages, known="", embed=_no_vectors, limits=Limits(run=run))) for one in own)
        copied = sum(screen.copied_from(one.row.text) is not None for one, screen in screens)
        yield ["`run`", run, f"{copied / len(own):.1%} copy"]
    for words in (2, 3, 4, 6):
        drawn, limits = random.Random(3), Limits(quotation=words)
        proved = 0
        for one in own:
            others = [passage for i, passage in enumerate(one.passages) if i != one.own]
            said = one.passages[one.own].text.split()
            start = drawn.randrange(max(1, len(said) - words))
            screen = Screen(others, known="", embed=_no_vectors, limits=limits)
            proved += screen.by_quotation(Claim("", ()), " ".join(said[start : start + words])) is not None
        yield ["`quotation`", words, f"{proved / len(own):.1%} have it"]


def number_rows(data: Path) -> Iterator[list[object]]:
    """How many sentences of each label have a number or date that their sources lack."""
    read = [(own, *one) for own in own_sentences(data) for one in zip(own.claims, own.labels, strict=True)]
    foreign = [Labelled(one.text, own.known, own.shown[one.cited[0]].text, label) for own, one, label in read]
    for name, labelled in (_labelled(data / "support") | {"five languages": foreign}).items():
        for label in dict.fromkeys(one.label for one in labelled):
            own = [(one.text, [one.topic, one.source]) for one in labelled if one.label == label]
            lacking = [text for text, told in own if missing(text, told, source_languages=["en", detect(told[1])])]
            yield [name, label, len(own), len(lacking)]


def _no_vectors(_: Sequence[str]) -> Vectors:
    raise AssertionError("copies and quotations need no vectors")


def own_sentences(data: Path) -> list[Read]:
    """Our own sentences about pages of WikiGenBench and Wiki Live, by the language of the page."""
    rows = labels("own-sentences")
    topics = (*read_wiki_live(data / "wiki_live").topics, *read_wikigenbench(data / "wikigenbench").topics)
    pages = {page.url: page.text for topic in topics for page in topic.documents}
    found = []
    for language, subject in dict.fromkeys((row["language"], row["subject"]) for row in rows):
        own = [row for row in rows if (row["language"], row["subject"]) == (language, subject)]
        places = list(dict.fromkeys((row["page"], int(row["part"])) for row in own))
        texts = ((url, chunks(pages[url], _PASSAGE)[part]) for url, part in places)
        shown = tuple(Passage(text, (Snippet(url, subject, text),)) for url, text in texts)
        claims = tuple(Claim(row["sentence"], (places.index((row["page"], int(row["part"]))),)) for row in own)
        found.append(Read(language, subject, shown, claims, tuple(row["label"] for row in own)))
    return found


def of_run(name: str, file: str) -> Read:
    """The sentences of an article.json that readers labelled under a name in ``oder-citations.csv``, by number."""
    article = from_json(Path(file).read_text("utf-8"))
    snippets = {snippet.id: snippet for source in article.sources for snippet in source.snippets}
    sentences = list(article.sentences())
    cited = list(dict.fromkeys(own.snippet_id for one in sentences for own in one.citations))
    shown = tuple(Passage(snippets[one].text, (snippets[one],)) for one in cited)
    claims = [Claim(one.text, tuple(cited.index(own.snippet_id) for own in one.citations)) for one in sentences]
    read = {int(row["sentence"]) - 1: row["label"] for row in labels("oder-citations") if row["article"] == name}
    return Read(name, article.title, shown, tuple(claims[i] for i in read), tuple(read.values()))


def read_rows(judge: str, found: Sequence[Outcome]) -> Iterator[list[object]]:
    """What the check with a run's judge does to the sentences of each set: shares with intervals."""
    sets: dict[tuple[str, str], list[Outcome]] = {}
    for one in found:
        sets.setdefault((one.name, "supported" if one.label == "supported" else "not all of it"), []).append(one)
    for (name, label), own in sorted(sets.items()):
        yield [
            judge,
            name,
            label,
            len(own),
            _interval(one.back for one in own),
            _interval(not one.after for one in own),
        ]


def _outcomes_of(sets: Sequence[Read], settings: Settings, embedder: Embedder, writer_lm: str | None) -> list[Outcome]:
    languages = _models(settings) if settings.judge == "model" else None
    judge = judge_of_run(settings, languages, Programs())  # type: ignore[arg-type]
    writer = _models(Settings.build({"lm": writer_lm})) if writer_lm else None
    with ThreadPoolExecutor(len(sets)) as pool:
        every = pool.map(lambda own: list(handed_back(own, settings, judge, embedder, writer)), sets)
        return [one for found in every for one in found]


def _models(settings: Settings) -> LanguageModels:
    return LanguageModels.outside_a_run(open_models(settings), settings)


def handed_back(
    own: Read, settings: Settings, judge: object, embedder: Embedder, writer: LanguageModels | None = None
) -> Iterator[Outcome]:
    """What becomes of each sentence; without a writer, nobody answers."""
    told: list[Event] = []
    remarks: list[str] = []
    ctx: Any = SimpleNamespace(
        settings=settings, judge=judge, verdicts=Verdicts(), events=Events(CallbackSink(told.append))
    )

    def ask_again(said: str, concerned: Collection[int]) -> str:
        remarks.extend(line.partition(". ")[2] for line in said.splitlines())
        if writer is None:
            raise ModelError("nobody writes")
        inputs = {"topic": own.known, "language": "", "style": "", "section": "", "remarks": said}
        passages = numbered_passages(own.shown, concerned)
        return str(writer.ask("writer", Programs().remarks, **inputs, passages=passages).text)

    screen = Screen(own.shown, known=own.known, embed=embedder.embed)
    checked_blocks(ctx, own.name, Draft((Block("", (own.claims,)),), 0), screen, ask_again)
    after = {one.before: one.after for one in told if isinstance(one, Revised)}
    for label, claim in zip(own.labels, own.claims, strict=True):
        back = any(line.startswith(claim.text) for line in remarks)
        yield Outcome(own.name, claim.text, label, back, after.get(claim.text, claim.text))


def _keep(file: Path, outcomes: Mapping[str, Sequence[Outcome]]) -> None:
    with file.open("w", encoding="utf-8", newline="") as lines:
        rows = csv.writer(lines)
        rows.writerow(("judge", "passages", "was", "before", "after"))
        rows.writerows(
            (judge, one.name, one.label, one.text, one.after) for judge, found in outcomes.items() for one in found
        )


def _interval(values: Iterable[bool]) -> str:
    """A share with its 95 % interval by Wilson."""
    every = list(values)
    found = binomtest(sum(every), len(every)).proportion_ci(method="wilson")
    return f"{sum(every) / len(every):.0%} ({found.low:.0%}–{found.high:.0%})"


def _outcomes(verdict: Judged, own: set[str]) -> Iterator[str]:
    yield "all"
    if verdict.problem and not verdict.is_only_copied:
        yield "handed back"
    elif not verdict.change:
        yield "kept"
    else:
        yield "moved"
        if own & {citation.snippet_id for citation in verdict.sentence.citations}:
            yield "to its source"


def _passage(row: Labelled, sentence: str) -> Passage:
    """The part of a row's source with most of the sentence's content words: what a search for it would find."""
    wanted = frozenset(terms(sentence))
    text = max(chunks(row.source, _PASSAGE), key=lambda part: len(wanted & frozenset(terms(part))))
    page = hashlib.sha256(row.source.encode()).hexdigest()[:16]
    return Passage(text, (Snippet(f"https://example.org/{page}", "", text),))


def _labelled(folder: Path) -> dict[str, list[Labelled]]:
    wice = [Labelled(one.text, one.topic, one.sources[0], one.label) for one in read_wice(folder)]
    rows = ((row, "\n".join(row["references"])) for row in json_lines(folder / "attributionbench_dev.jsonl.gz"))
    labelled = ((row["claim"], row["question"], source, _BENCH[row["attribution_label"]]) for row, source in rows)
    return {"WiCE": wice, "AttributionBench": [Labelled(*one) for one in labelled if one[2].strip()]}


if __name__ == "__main__":
    main()
