"""Statistics of the published data sets against the papers' tables, leaked copies, and retrieval by ranker.

    python -m storm_benchmarks.datasets [--data ../shared/data] [--dense]

Each ranker is queried with every topic's title over the pooled chunks of all topics; chunks of the topic count as
relevant. ``--dense`` adds the dense ranker, which takes more than ten minutes on two cores.
"""

import time
from collections.abc import Sequence

from storm_bench.datasets.closed_corpus import pooled_chunks, topic_chunks
from storm_bench.datasets.dataset import DataSet
from storm_bench.datasets.freshwiki import read_freshwiki
from storm_bench.datasets.leakage import copies
from storm_bench.datasets.rankers import Bm25Ranker, DenseRanker, RandomRanker, Ranker, TfIdfRanker
from storm_bench.datasets.statistics import PAPER, Table7, table_7
from storm_bench.datasets.usable_documents import is_flattened
from storm_bench.datasets.wikigenbench import read_wikigenbench
from storm_benchmarks.shared import options
from storm_pipeline.retrieval.embedder import open_embedder

_DEPTH = 5


def main() -> None:
    """Print Markdown tables."""
    parser = options(__doc__, "data", "cache")
    parser.add_argument("--dense", action="store_true", help="also rank by sentence embeddings")
    args = parser.parse_args()
    fresh = read_freshwiki(args.data / "freshwiki")
    bench = read_wikigenbench(args.data / "wikigenbench")
    core = read_wikigenbench(args.data / "wikigenbench", core_only=True)
    print("| articles | topics | sections | headings | words a section | words | references |")
    print("|---|---|---|---|---|---|---|")
    for name, back_matter in (("with back matter", True), ("body alone", False)):
        print(_row(f"FreshWiki, {name}", table_7(fresh.topics, back_matter=back_matter)))
    print(_row("FreshWiki, the paper's Table 7", PAPER))
    print(_row("WikiGenBench, body alone", table_7(bench.topics, back_matter=False)))
    print(_row("WikiGenBench core, body alone", table_7(core.topics, back_matter=False)))
    for data in (bench, core):
        _print_documents(data)
    rankers: list[Ranker] = [RandomRanker(), TfIdfRanker(), Bm25Ranker()]
    if args.dense:
        rankers.append(DenseRanker(open_embedder("all-MiniLM-L6-v2", args.cache)))
    _print_rankers(bench, rankers)


def _row(name: str, table: Table7) -> str:
    figures = (table.sections, table.headings, table.words_a_section, table.words, table.references)
    return f"| {name} | {table.topics} | {' | '.join(f'{figure:.1f}' for figure in figures)} |"


def _print_documents(data: DataSet) -> None:
    print(f"\n{data.name}, {len(data.topics)} topics:")
    for origin in ("human", "search"):
        documents = [d for topic in data.topics for d in topic.documents if d.origin == origin]
        words = sum(len(document.text.split()) for document in documents) / len(data.topics)
        flat = sum(is_flattened(document.text) for document in documents)
        print(f"- {origin}: {len(documents)} documents, {flat} without capitals, {words:,.0f} words a topic")
    found = [copy for topic in data.topics for copy in copies(topic)]
    print(f"- copies of their own article: {len(found)}: {', '.join(copy.document.url for copy in found)}")


def _print_rankers(data: DataSet, rankers: Sequence[Ranker]) -> None:
    pool = pooled_chunks(data.topics)
    own = [{chunk.source_id for chunk in topic_chunks(topic)} for topic in data.topics]
    print(f"\n| ranker | of its {_DEPTH} best of {len(pool)} pooled chunks, the topic's own | ms a query |")
    print("|---|---|---|")
    for ranker in rankers:
        ranker.rank(data.topics[0].title, pool, 1)  # builds the index, outside the timing
        start = time.monotonic()
        hits = sum(
            chunk.source_id in mine
            for topic, mine in zip(data.topics, own, strict=True)
            for chunk in ranker.rank(topic.title, pool, _DEPTH)
        )
        share, taken = hits / _DEPTH / len(data.topics), time.monotonic() - start
        print(f"| {ranker.name} | {share:.0%} | {1000 * taken / len(data.topics):.0f} |")


if __name__ == "__main__":
    main()
