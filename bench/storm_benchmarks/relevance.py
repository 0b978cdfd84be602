"""Precision and recall of the floor of relevance on labelled pages, and what it removes from a capable writer's run.

    python -m storm_benchmarks.relevance [--data ../shared/data] [--to docs/relevance.md]

``relevance.csv`` holds 418 pairs of topic and page: which query found the page, and whether a reader found it about the
topic, bearing on it (it has a fact that the topic's article could tell), or neither. Thresholds were chosen on the
topics of the part ``tuning`` alone. The texts come from the data: the best passages of a page for the query.
"""

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from storm_bench.datasets.closed_corpus import topic_chunks
from storm_bench.datasets.rankers import Bm25Ranker
from storm_bench.datasets.wiki_live import read_wiki_live
from storm_bench.datasets.wikigenbench import read_wikigenbench
from storm_benchmarks.shared import options
from storm_pipeline.assets import LEADS, fetch
from storm_pipeline.documents.plain import plain_text
from storm_pipeline.identity import page_address
from storm_pipeline.languages import opening_of
from storm_pipeline.references.facts import names_topic
from storm_pipeline.references.relevance import Floor, names_in_full
from storm_pipeline.retrieval.embedder import CachingEmbedder, Embedder, open_embedder
from storm_pipeline.types import Snippet

LABELS = Path(__file__).with_name("relevance.csv")
_PASSAGES = 3
_NEAR = 0.3  # cosine of the baseline that looks at nothing else


@dataclass(frozen=True)
class Labelled:
    """A page that a query for a topic found, and whether it is useful: about the topic, or bearing on it."""

    source: str
    part: str
    topic: str
    label: str
    query: str
    snippets: tuple[Snippet, ...]

    @property
    def useful(self) -> bool:
        """Whether the topic's article could tell something of the page."""
        return self.label != "neither"


_HEAD = (
    "# The floor of relevance on labelled pages",
    "",
    "Precision / recall of keeping a page that is about the topic or has a fact that its article could tell (useful),",
    "on pairs of topic and page; labels of one reader. Thresholds were chosen on the topics `tuning`. Beside it: the",
    "floor asked with the query that found the page, pages that name the topic in full, those with half of its",
    "words, a cosine of at least 0.3 to the topic, and all pages. `python -m storm_benchmarks.relevance --to",
    "docs/relevance.md`",
    "",
)


def main() -> None:
    """Print the tables, or write them to a file."""
    parser = options(__doc__, "data", "cache")
    parser.add_argument("--to", type=Path, help="file to write instead of printing")
    args = parser.parse_args()
    embedder = CachingEmbedder(open_embedder("all-MiniLM-L6-v2", args.cache))
    run = args.data / "capable_oder" / "run"
    lines = [*_HEAD, *pairs_table(labelled(args.data, args.cache), embedder), "", *run_lines(run, embedder)]
    text = "\n".join(lines) + "\n"
    args.to.write_text(text, encoding="utf-8") if args.to else print(text)


def labelled(data: Path, cache: Path) -> list[Labelled]:
    """The labelled pages with their texts. Raises DatasetError, CorpusError: the data is not there."""
    documents = {
        (data_set.name, document.url): replace(topic, documents=(document,))
        for data_set in (read_wikigenbench(data / "wikigenbench"), read_wiki_live(data / "wiki_live"))
        for topic in data_set.topics
        for document in reversed(topic.documents)
    }
    records = json.loads(fetch(LEADS, cache).read_bytes())
    leads = {page_address(title): (title, plain_text(own["extract"])) for title, own in records.items()}
    ranker = Bm25Ranker()

    def snippets(row: dict[str, str]) -> tuple[Snippet, ...]:
        if row["source"] == "wiki-leads":
            return (Snippet(row["url"], *leads[row["url"]]),)
        chunks = topic_chunks(documents[row["source"], row["url"]], guarded=False)
        return ranker.rank(row["query"], chunks, _PASSAGES)

    with LABELS.open(encoding="utf-8", newline="") as opened:
        return [
            Labelled(row["source"], row["part"], row["topic"], row["label"], row["query"], snippets(row))
            for row in csv.DictReader(opened)
        ]


def kept(pages: Sequence[Labelled], embedder: Embedder) -> dict[str, list[bool]]:
    """For each rule, whether it keeps each of the pages, which are of one topic."""
    topic = pages[0].topic
    floor = Floor(topic, [page.snippets[0] for page in pages], embedder.embed)
    names = floor.own.names if floor.own else (topic,)
    whole = [" ".join([page.snippets[0].title, *(one.text for one in page.snippets)]) for page in pages]
    verdicts = floor.judge([page.snippets for page in pages])
    opening = [f"{page.snippets[0].title}: {opening_of(page.snippets[0].text, 60)}" for page in pages]
    vectors = embedder.embed([topic, *opening])
    return {
        "floor": [verdict.relevance != "neither" for verdict in verdicts],
        "floor, asked": [floor.judge([page.snippets], page.query)[0].relevance != "neither" for page in pages],
        "names in full": [names_in_full(text, names) for text in whole],
        "half of the topic's words": [names_topic(text, topic) for text in whole],
        f"cosine alone, {_NEAR}": (vectors[1:] @ vectors[0] >= _NEAR).tolist(),
        "always": [True] * len(pages),
    }


def pairs_table(pages: Sequence[Labelled], embedder: Embedder) -> Iterator[str]:
    """Lines of Markdown: precision and recall of each rule, by part and source."""
    by_topic: dict[tuple[str, str], list[Labelled]] = {}
    for page in pages:
        by_topic.setdefault((page.source, page.topic), []).append(page)
    judged: dict[tuple[str, str], list[tuple[bool, dict[str, bool]]]] = {}
    rules: list[str] = []
    for own in by_topic.values():
        verdicts = kept(own, embedder)
        rules = list(verdicts)
        for i, page in enumerate(own):
            row = page.useful, {rule: keeps[i] for rule, keeps in verdicts.items()}
            for source in (page.source, "all"):
                judged.setdefault((page.part, source), []).append(row)
    yield f"| topics | source | pages | useful | {' | '.join(rules)} |"
    yield "|---|---|---:|---:|" + "---:|" * len(rules)
    for part, source in sorted(judged, key=lambda key: (key[0] != "tuning", key[1] == "all", key[1])):
        rows = judged[part, source]
        useful = sum(row[0] for row in rows)
        cells = [_precision_recall([(row[0], row[1][rule]) for row in rows]) for rule in rules]
        yield f"| {part} | {source} | {len(rows)} | {useful} | {' | '.join(cells)} |"


def _precision_recall(rows: Sequence[tuple[bool, bool]]) -> str:
    right = sum(useful and keeps for useful, keeps in rows)
    return f"{right / max(1, sum(k for _, k in rows)):.2f} / {right / max(1, sum(u for u, _ in rows)):.2f}"


def run_lines(folder: Path, embedder: Embedder) -> Iterator[str]:
    """Lines on a capable writer's recorded run: of what its answers were shown, what the floor removes.

    ``folder``: of the run with its ``conversations``, and beside it the corpus.
    """
    topic = json.loads((folder / "article.json").read_text(encoding="utf-8"))["article"]["title"]
    shown = removed = cited = lost = 0
    gone: set[str] = set()
    for file in sorted((folder / "conversations").glob("*.json")):
        for turn in json.loads(file.read_text(encoding="utf-8"))["turns"]:
            snippets = tuple(Snippet(**one) for one in turn["snippets"])
            left = {one.id for one in Floor(topic, snippets, embedder.embed).bearing(snippets, turn["question"])}
            ids = {one["snippet_id"] for sentence in turn["answer"] for one in sentence["citations"]}
            shown, removed = shown + len(snippets), removed + len(snippets) - len(left)
            cited, lost = cited + len(ids), lost + len(ids - left)
            gone |= {one.url for one in snippets if one.id not in left}
    references = json.loads((folder / "references.json").read_text(encoding="utf-8"))
    used = {one["url"] for one in references}
    yield f"{topic}: of {shown} passages shown in the prompts of a capable writer's answers, the floor removes "
    yield f"{removed}, of {len(gone)} pages. It removes {lost} of the {cited} that these answers cite, and "
    yield f"{len(gone & used)} of the {len(used)} pages that the article cites."


if __name__ == "__main__":
    main()
