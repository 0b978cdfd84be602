"""What the citation check does to sentences whose support people have labelled.

    python -m storm_benchmarks.grounding [--sentences 300] [--passages 12]
    python -m storm_benchmarks.grounding read [--judge screen small model] [--judge-lm MODEL] [--run LABELS=FILE …]
        [--writer-lm MODEL] [--replies FILE]

Data: WiCE (a Wikipedia sentence and the page it cites) and AttributionBench (a sentence of an answer and its sources).
Each sentence is checked as a section's is (references/grounding.py), among passages for other sentences of the same
data set: once citing its own source, once citing another one's while its own is among those shown. Outcomes:

- kept: the writer's citation stays, and nothing is added;
- moved: other passages are cited instead or in addition, and the sentence stays;
- handed back: the writer is told what is missing. The pipeline drops only what comes back without support again.

The last line is about the sentences of AttributionBench that several sources support together: each cites all of them
and another one's source. How many of both does the check leave?

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
from dataclasses import dataclass
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
from storm_pipeline.models.asking import LanguageModels
from storm_pipeline.models.open_models import open_models
from storm_pipeline.models.programs import Programs
from storm_pipeline.references.grounding import Claim, Grounding, Judged
from storm_pipeline.references.passages import Passage, numbered_passages
from storm_pipeline.render.json import from_json
from storm_pipeline.retrieval.embedder import CachingEmbedder, Embedder, open_embedder
from storm_pipeline.run.events import CallbackSink, Event, Events, Revised
from storm_pipeline.settings import Settings
from storm_pipeline.signatures.writing import WriteSection
from storm_pipeline.text.index_terms import terms
from storm_pipeline.types import Snippet
from storm_pipeline.writers.draft_checks import HOW_TO_ANSWER, checked_blocks
from storm_pipeline.writers.drafts import Block, Draft
from storm_pipeline.writers.judging import judge_of

_PASSAGE = 300  # maximum words of a passage: about two search results side by side
_BENCH = {"attributable": "supported", "not attributable": "not"}
_READ = ("judge", "passages", "label", "sentences", "handed back", "gone")


@dataclass(frozen=True)
class Labelled:
    """A sentence with its subject, the source text that it cites, and people's verdict: supported, partly or not."""

    text: str
    topic: str
    source: str
    label: str


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
    parser.add_argument("what", nargs="?", choices=["people", "read"], default="people", help="whose labels")
    parser.add_argument("--judge", nargs="+", default=["screen", "small"], help="of the sentences that were read")
    parser.add_argument("--judge-lm", help="language model of the judge `model`")
    parser.add_argument("--writer-lm", help="language model that answers what is handed back; default: nobody does")
    parser.add_argument("--replies", type=Path, help="CSV file of the sentences afterwards")
    parser.add_argument("--run", nargs="+", default=[], metavar="LABELS=FILE", help="article.json and its labels")
    parser.add_argument("--embedder", default="all-MiniLM-L6-v2")
    parser.add_argument("--sentences", type=int, default=300, help="sentences drawn from each data set")
    parser.add_argument("--passages", type=int, default=12, help="passages shown with each sentence")
    args = parser.parse_args()
    embedder = CachingEmbedder(open_embedder(args.embedder, args.cache), size=1 << 16)
    if args.what == "read":
        sets = [*own_sentences(args.data), *(of_run(*one.split("=", 1)) for one in args.run)]
        judges = [Settings.build({"writing": "whole", "judge": name, "judge_lm": args.judge_lm}) for name in args.judge]
        outcomes = {own.judge: _outcomes_of(sets, own, embedder, args.writer_lm) for own in judges}
        print_table(_READ, (row for name, found in outcomes.items() for row in read_rows(name, found)), marks="<<<>>>")
        if args.replies:
            _keep(args.replies, outcomes)
        return
    print("| data | cites | label | sentences | kept | moved | of these to its source | handed back |")
    print("|---|---|---|---|---|---|---|---|")
    wice = [Labelled(one.text, one.topic, one.sources[0], one.label) for one in read_wice(args.data / "support")]
    for name, labelled in (("WiCE", wice), ("AttributionBench", _attribution_bench(args.data / "support"))):
        drawn = random.Random(1)
        rows = drawn.sample(labelled, min(args.sentences, len(labelled)))
        for cites in ("its source", "another one's"):
            counts: dict[str, Counter[str]] = {}
            for row in rows:
                others = drawn.sample([other for other in rows if other.source != row.source], args.passages - 1)
                shown = [_passage(one, row.text) for one in (row, *others)]
                order = drawn.sample(range(len(shown)), len(shown))
                cited = order.index(0 if cites == "its source" else 1)
                grounding = Grounding([shown[j] for j in order], known=row.topic, embed=embedder.embed)
                verdict = grounding.judge([Claim(row.text, (cited,))])[0]
                own = {citation.snippet_id for citation in shown[0].citations()}
                counts.setdefault(row.label, Counter()).update(_outcomes(verdict, own))
            for label in ("supported", "partly", "not"):
                if label in counts:
                    print(_row(name, cites, label, counts[label]), flush=True)
    kept, foreign = _left_beside_another(args.data / "support", embedder)
    print(f"\nOf several sources: {sum(kept) / len(kept):.1%} of {len(kept)} own ones stay,", end=" ")
    print(f"and of another one's {sum(foreign) / len(foreign):.1%} of {len(foreign)}")


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
        settings=settings, judge=judge, verdicts=Verdicts(), differing=[], events=Events(CallbackSink(told.append))
    )

    def ask_again(said: str, concerned: Collection[int]) -> str:
        remarks.extend(line.partition(". ")[2] for line in said.splitlines())
        if writer is None:
            raise ModelError("nobody writes")
        inputs = dict.fromkeys(WriteSection.input_fields, "") | {
            "article": own.known,
            "section": own.known,
            "words": 400,
        }
        inputs |= {"language": "English", "passages": numbered_passages(own.shown, concerned)}
        inputs["remarks"] = HOW_TO_ANSWER + said
        return str(writer.ask("writer", Programs().section, **inputs).text)

    grounding = Grounding(own.shown, known=own.known, embed=embedder.embed)
    asked = judge_of(ctx, Programs().section, {}, own.shown)
    checked_blocks(ctx, own.name, Draft((Block("", (own.claims,)),), 0), grounding, ask_again, judge=asked)
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


def _left_beside_another(folder: Path, embedder: Embedder) -> tuple[list[bool], list[bool]]:
    """Whether each citation stays: of the sentence's own sources, and of another sentence's."""
    drawn = random.Random(2)
    rows = [row for row in json_lines(folder / "attributionbench_dev.jsonl.gz") if len(set(row["references"])) > 1]
    rows = [row for row in rows if _BENCH[row["attribution_label"]] == "supported"]
    own: list[bool] = []
    others: list[bool] = []
    for row in rows:
        other = drawn.choice([one for one in rows if one["question"] != row["question"]])["references"][0]
        sources = [text for text in dict.fromkeys((*row["references"], other)) if text.strip()]
        shown = [_passage(Labelled(row["claim"], row["question"], text, ""), row["claim"]) for text in sources]
        grounding = Grounding(shown, known=row["question"], embed=embedder.embed)
        verdict = grounding.judge([Claim(row["claim"], tuple(range(len(shown))))])[0]
        cited = {citation.snippet_id for citation in verdict.sentence.citations}
        stays = [bool(cited & {citation.snippet_id for citation in passage.citations()}) for passage in shown]
        own += stays[:-1]
        others.append(stays[-1])
    return own, others


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


def _row(name: str, cites: str, label: str, counts: Counter[str]) -> str:
    total = counts["all"]
    kept, moved, back = (f"{counts[outcome] / total:.1%}" for outcome in ("kept", "moved", "handed back"))
    to_own = f"{counts['to its source'] / counts['moved']:.0%}" if counts["moved"] else "–"
    return f"| {name} | {cites} | {label} | {total} | {kept} | {moved} | {to_own} | {back} |"


def _passage(row: Labelled, sentence: str) -> Passage:
    """The part of a row's source with most of the sentence's content words: what a search for it would find."""
    wanted = frozenset(terms(sentence))
    text = max(chunks(row.source, _PASSAGE), key=lambda part: len(wanted & frozenset(terms(part))))
    page = hashlib.sha256(row.source.encode()).hexdigest()[:16]
    return Passage(text, (Snippet(f"https://example.org/{page}", "", text),))


def _attribution_bench(folder: Path) -> list[Labelled]:
    rows = ((row, "\n".join(row["references"])) for row in json_lines(folder / "attributionbench_dev.jsonl.gz"))
    labelled = ((row["claim"], row["question"], source, _BENCH[row["attribution_label"]]) for row, source in rows)
    return [Labelled(*one) for one in labelled if one[2].strip()]


if __name__ == "__main__":
    main()
