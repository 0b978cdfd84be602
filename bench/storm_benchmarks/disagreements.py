"""On what the pages of topics differ, as a run would tell the writers of sections: to be read, pair by pair.

    python -m storm_benchmarks.disagreements [--topics 12] [--sections 5] [--pages 8]

The first topics of Wiki Live Challenge and of WikiGenBench whose documents were found by search. For each of the first
sections of the human article the best passages of the topic's pages are searched by BM25; what
:class:`~storm_pipeline.writers.disagreement.Differing` finds among them is printed with the sentences that say so.
"""

from collections.abc import Iterator
from itertools import chain, islice

from storm_bench.datasets.closed_corpus import ClosedCorpus, topic_chunks
from storm_bench.datasets.wiki_live import read_wiki_live
from storm_bench.datasets.wikigenbench import read_wikigenbench
from storm_bench.types import Topic
from storm_benchmarks.shared import options
from storm_pipeline.languages import detect, split_sentences
from storm_pipeline.references.passages import Passage, passages
from storm_pipeline.writers.disagreement import Differing


def main() -> None:
    """Print each thing on which passages differ, once a topic."""
    parser = options(__doc__, "data")
    parser.add_argument("--topics", type=int, default=12, help="of each data set")
    parser.add_argument("--sections", type=int, default=5, help="of a topic")
    parser.add_argument("--pages", type=int, default=8, help="searched for a section")
    args = parser.parse_args()
    live = read_wiki_live(args.data / "wiki_live").topics[: args.topics]
    recent = (
        (topic, topic_chunks(topic, sources="search")) for topic in read_wikigenbench(args.data / "wikigenbench").topics
    )
    found = ((topic, chunks) for topic, chunks in recent if chunks)
    for topic, chunks in chain(((one, topic_chunks(one)) for one in live), islice(found, args.topics)):
        told = dict.fromkeys(_of(topic, ClosedCorpus(chunks), args.sections, args.pages))
        print(f"\n## {topic.title}: {len(told)}\n", *told, sep="\n", flush=True)


def _of(topic: Topic, corpus: ClosedCorpus, sections: int, pages: int) -> Iterator[str]:
    for section in topic.human.sections[:sections]:
        shown = passages(corpus.search(f"{topic.title} {section.heading}", pages))
        for thing in Differing.among(shown, f"{topic.title} {section.heading}", "en").things:
            yield "".join(f"{side.says}: {_sentence(shown[places[0]], side.says)}\n" for side, places in thing)


def _sentence(passage: Passage, says: str) -> str:
    told = split_sentences(passage.text, detect(passage.text))
    return next((" ".join(one.split()) for one in told if says in one), "") + f" ({passage.site})"


if __name__ == "__main__":
    main()
