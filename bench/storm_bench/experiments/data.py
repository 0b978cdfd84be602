"""The topics of an experiment, and the corpus that runs on a topic search."""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from storm_bench.datasets.closed_corpus import ClosedCorpus, Sources, article_chunks, pooled_chunks, topic_chunks
from storm_bench.datasets.dataset import DataSet
from storm_bench.datasets.freshwiki import read_freshwiki
from storm_bench.datasets.leakage import copies
from storm_bench.datasets.rankers import Bm25Ranker, DenseRanker, RandomRanker, Ranker, TfIdfRanker
from storm_bench.datasets.wiki_live import read_wiki_live
from storm_bench.datasets.wikigenbench import read_wikigenbench
from storm_bench.experiments.config import ExperimentConfig
from storm_bench.experiments.config_tables import DATA, DataTable, SearchTable
from storm_bench.metrics.resources import Resources
from storm_bench.types import Topic
from storm_pipeline import DatasetError, SearchEngine, Snippet
from storm_pipeline.api import source_id
from storm_pipeline.evidence.retrieval.embedder import shared_embedder


def topics_of(config: ExperimentConfig) -> tuple[Topic, ...]:
    """Return the topics of an experiment, in order.

    Raises DatasetError: the data set is absent or damaged, or lacks a topic or system that the experiment names.
    """
    data = config.data
    try:
        data_set = _read(data.set, data.folder, core=data.core)
    except (DatasetError, OSError) as error:  # a name that is too long
        raise DatasetError(f"{error}. Set {DATA} to the folder that contains the data sets") from error
    known = {article.system for topic in data_set.topics for article in topic.system_articles}
    if unknown := sorted({method.system for method in config.methods if method.system} - known):
        raise DatasetError(
            f"{data.set} has no articles by {unknown[0]!r}; available systems: {', '.join(sorted(known)) or 'none'}"
        )
    chosen = data_set.only(data.ids) if data.ids else data_set
    return chosen.topics[: data.topics]


def pool_of(data: DataTable) -> tuple[Topic, ...]:
    """Return the topics of a pooled corpus: all topics of the data set, even if the experiment uses fewer."""
    return _read(data.set, data.folder, core=data.core).topics


def data_problems(config: ExperimentConfig) -> tuple[str, ...]:
    """Return the data that the reader skipped or repaired, and a note if topics are fewer than configured."""
    data = config.data
    data_set = _read(data.set, data.folder, core=data.core)
    problems = list(data_set.problems)
    number = len(topics_of(config))
    if data.topics is not None and number < data.topics:
        problems.append(f"{'the ids name' if data.ids else 'the data set has'} {number} topics, not {data.topics}")
    return tuple(problems)


def engine_of(
    search: SearchTable, topic: Topic, data: DataTable, resources: Resources, *, seed: int = 0
) -> SearchEngine | None:
    """Return the closed corpus that runs on a topic search; None if they search with an engine.

    ``resources``: provides the embedder of the dense ranker. Raises DatasetError: the topic has no documents of that
    kind.
    """
    if search.corpus == "engine":
        return None
    return ClosedCorpus(_chunks(search, topic, data), _ranker(search.ranker, resources, seed), passages=search.passages)


@lru_cache(2)
def _read(name: str, folder: Path, *, core: bool) -> DataSet:
    if name == "wikigenbench":
        return read_wikigenbench(folder, core_only=core)
    return {"freshwiki": read_freshwiki, "wiki_live": read_wiki_live}[name](folder)


@lru_cache(1)
def _pooled(data: DataTable, sources: Sources) -> tuple[Snippet, ...]:
    return pooled_chunks(pool_of(data), sources=sources)


def _pooled_for(topic: Topic, data: DataTable, sources: Sources) -> tuple[Snippet, ...]:
    """Return the pooled corpus without copies of this topic's article, even those among other topics' documents."""
    pool = replace(topic, documents=tuple(document for one in pool_of(data) for document in one.documents))
    copied = {source_id(copy.document.url) for copy in copies(pool)}
    return tuple(chunk for chunk in _pooled(data, sources) if chunk.source_id not in copied)


def _chunks(search: SearchTable, topic: Topic, data: DataTable) -> tuple[Snippet, ...]:
    if search.corpus == "pooled":
        return _pooled_for(topic, data, search.sources)
    return article_chunks(topic) if search.corpus == "article" else topic_chunks(topic, sources=search.sources)


def _ranker(name: str, resources: Resources, seed: int) -> Ranker:
    rankers: dict[str, Callable[[], Ranker]] = {
        "random": lambda: RandomRanker(seed),
        "tfidf": TfIdfRanker,
        "dense": lambda: DenseRanker(resources.vectors),
        "bm25": Bm25Ranker,
    }
    if name in rankers:
        return rankers[name]()
    *of_query, of_chunks = (shared_embedder(part, resources.cache) for part in name.split(":", 1)[1].split("+"))
    return DenseRanker(of_chunks, *of_query)
