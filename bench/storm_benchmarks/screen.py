"""Outcomes of the screen for sentences whose support people have labelled.

    python -m storm_benchmarks.screen [--sentences 500] [--passages 12]

Data: WiCE (a Wikipedia sentence and the page it cites) and AttributionBench (a sentence of an answer and its sources).
Each sentence is checked as a section's is (evidence/screen.py), among passages for other sentences of the same
data set: once citing its own source, once citing another one's while its own is among those shown. Outcomes:

- kept: the writer's citation stays, and nothing is added;
- moved: other passages are cited instead or in addition, and the sentence stays;
- returned: the writer gets a remark. The pipeline drops only sentences that remain unsupported.
A second table counts the sentences with a number or date that the whole source lacks, those of our own sentences about
pages in five languages (``experiments/labels/own-sentences.csv``) as well.
"""

import hashlib
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from storm_bench.datasets.support import Label, LabelledSentence, read_attribution_bench, read_wice
from storm_bench.datasets.wiki_live import read_wiki_live
from storm_bench.datasets.wikigenbench import read_wikigenbench
from storm_benchmarks.labels import labels
from storm_benchmarks.shared import nearest_parts, options, print_table
from storm_pipeline.evidence.citations import Claim
from storm_pipeline.evidence.passages import Passage
from storm_pipeline.evidence.retrieval.embedder import CachingEmbedder, Embedder, open_embedder
from storm_pipeline.evidence.screen import Screen, ScreenVerdict
from storm_pipeline.text.chunks import chunks
from storm_pipeline.text.languages import detect
from storm_pipeline.text.quantities import missing
from storm_pipeline.types import Snippet

_PASSAGE = 300  # maximum words of a passage: about two search results side by side
_PEOPLE = ("data", "cites", "label", "sentences", "kept", "moved", "to its source", "handed back")
_LABELS = TypeAdapter(tuple[Label, ...])
_OUTCOMES = ("kept", "moved", "to its source", "handed back")


@dataclass(frozen=True)
class Shown:
    """A labelled sentence among passages, of which one is its own source and one is cited."""

    name: str  # of the data set
    cites: str
    row: LabelledSentence
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
    labels: tuple[Label, ...]


def main() -> None:
    """Print a Markdown table."""
    parser = options(__doc__, "data", "cache")
    parser.add_argument("--embedder", default="all-MiniLM-L6-v2")
    parser.add_argument("--sentences", type=int, default=500, help="sentences drawn from each data set")
    parser.add_argument("--passages", type=int, default=12, help="passages shown with each sentence")
    args = parser.parse_args()
    embedder = CachingEmbedder(open_embedder(args.embedder, args.cache), size=1 << 17)
    drawn = _people(args.data / "support", args.sentences, args.passages)
    print_table(_PEOPLE, people_rows(drawn, embedder), marks="<<<>>>>>")
    print_table(("data", "label", "sentences", "a number is missing"), number_rows(args.data), marks="<<>>")


def _people(folder: Path, sentences: int, passages: int) -> list[Shown]:
    """Return the sentences of each data set, once with their own citation and once with another one's."""
    found = []
    for name, labelled in _labelled(folder).items():
        drawn = random.Random(1)
        rows = drawn.sample(labelled, min(sentences, len(labelled)))
        for cites in ("its source", "another one's"):
            for row in rows:
                others = drawn.sample([other for other in rows if other.sources != row.sources], passages - 1)
                shown = [_passage(one, row.text) for one in (row, *others)]
                order = drawn.sample(range(len(shown)), len(shown))
                cited = order.index(0 if cites == "its source" else 1)
                found.append(Shown(name, cites, row, tuple(shown[j] for j in order), order.index(0), cited))
    return found


def people_rows(sets: Iterable[Shown], embedder: Embedder) -> Iterator[list[object]]:
    """Yield the outcomes of the screen for each label of each set, as shares of its sentences."""
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    for sample in sets:
        screen = Screen(sample.passages, known=sample.row.topic, embed=embedder.embed)
        verdict = screen.judge([Claim(sample.row.text, (sample.cited,))])[0]
        own = {citation.snippet_id for citation in sample.passages[sample.own].citations()}
        counts.setdefault((sample.name, sample.cites, sample.row.label), Counter()).update(_outcomes(verdict, own))
    for key, own_counts in counts.items():
        total = own_counts["all"]
        yield [*key, total, *(f"{own_counts[outcome] / total:.1%}" for outcome in _OUTCOMES)]


def number_rows(data: Path) -> Iterator[list[object]]:
    """Yield how many sentences of each label have a number or date that their sources lack."""
    read = [(s, *claim) for s in own_sentences(data) for claim in zip(s.claims, s.labels, strict=True)]
    foreign = [
        LabelledSentence(one.text, (own.shown[one.cited[0]].text,), label, own.known) for own, one, label in read
    ]
    for name, labelled in (_labelled(data / "support") | {"five languages": foreign}).items():
        for label in dict.fromkeys(one.label for one in labelled):
            own = [(one.text, [one.topic, "\n".join(one.sources)]) for one in labelled if one.label == label]
            lacking = [text for text, pair in own if missing(text, pair, source_languages=["en", detect(pair[1])])]
            yield [name, label, len(own), len(lacking)]


def own_sentences(data: Path) -> list[Read]:
    """Return our own sentences about pages of WikiGenBench and Wiki Live, by the language of the page."""
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
        found.append(Read(language, subject, shown, claims, _LABELS.validate_python([row["label"] for row in own])))
    return found


def _outcomes(verdict: ScreenVerdict, own: set[str]) -> Iterator[str]:
    yield "all"
    if verdict.problem and not verdict.is_only_copied:
        yield "handed back"
    elif not verdict.change:
        yield "kept"
    else:
        yield "moved"
        if own & {citation.snippet_id for citation in verdict.sentence.citations}:
            yield "to its source"


def _passage(row: LabelledSentence, sentence: str) -> Passage:
    """Return the part of a row's source that is nearest to a sentence."""
    source = "\n".join(row.sources)
    text = nearest_parts(source, sentence, _PASSAGE)[0]
    page = hashlib.sha256(source.encode()).hexdigest()[:16]
    return Passage(text, (Snippet(f"https://example.org/{page}", "", text),))


def _labelled(folder: Path) -> dict[str, tuple[LabelledSentence, ...]]:
    return {"WiCE": read_wice(folder), "AttributionBench": read_attribution_bench(folder, left_out="")}


if __name__ == "__main__":
    main()
