"""Runs the jobs of an experiment: functions of plain values, for any process that sees the same folders."""

import dataclasses
import hashlib
import json
import logging
import threading
import time
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from storm_bench.articles.data_set import human_article, system_article
from storm_bench.articles.folder import imported_hash, read_imported
from storm_bench.datasets.leakage import exclusion_settings
from storm_bench.datasets.storm_runs import find_storm_run, read_storm_run
from storm_bench.experiments.config import ExperimentConfig
from storm_bench.experiments.config_tables import DataTable, MethodTable, SearchTable
from storm_bench.experiments.data import engine_of, pool_of, topics_of
from storm_bench.experiments.own_code import is_own, own_metric, own_recipe, run_name, source_hash
from storm_bench.experiments.units import ArticleJob, Scored, ScoreJob, Unit, Written
from storm_bench.metrics.base import Metric
from storm_bench.metrics.registry import open_metric
from storm_bench.metrics.resources import Resources
from storm_bench.types import Case, Topic
from storm_pipeline import Article, DatasetError, Outline, RunError, Settings, StoppedError, Storm, StormError
from storm_pipeline.api import current_disk, fingerprint, from_json, job_halt, read_plain, workplace
from storm_pipeline.evidence.retrieval.embedder import Embedder, shared_embedder

ARTICLE = "article.json"
_ARTICLES = TypeAdapter(Article)
_LOG = logging.getLogger(__name__)
_IRRELEVANT_TO_RESULT = frozenset(
    "out cache api_base api_key_env lm_timeout call_attempts workers process_workers tokens_per_minute prices "
    "max_failures search_rate search_cache".split()
)
"""Settings that affect how a run executes, not what it writes."""

_UNKNOWN_OF_HUMANS = frozenset({"references", "references_collected", "bibliography_cited", "length_ratio"})
"""Measures that say nothing of the human article, which comes without citations and is its own measure of length."""

_FOR_JUDGES = frozenset(
    "lm api_base api_key_env lm_timeout call_attempts workers process_workers tokens_per_minute prices".split()
)
"""Settings that also apply to judges: how models are called."""


def write_article(job: ArticleJob) -> Written:
    """Write or resume one article; failures are returned, never raised."""
    start = time.monotonic()
    try:
        with workplace(job.task) as place:
            article = _produce_article(job, place.folder, job_halt())
            current_disk().write(place.folder / ARTICLE, article.to_json())
    except StoppedError:
        return Written(stopped=True, seconds=time.monotonic() - start)
    except StormError as error:
        return Written(str(error), seconds=time.monotonic() - start)
    except Exception as error:  # noqa: BLE001 - a crash is a row too, and other articles continue
        _LOG.error("%s crashed", job.unit.id, exc_info=error)
        return Written(f"unexpected fault: {error}", seconds=time.monotonic() - start)
    return Written(seconds=time.monotonic() - start, words_asked=article.report.words_asked)


def score_article(job: ScoreJob) -> Scored:
    """Score one article by one metric; failures are returned, never raised."""
    if job_halt().is_set():
        return Scored(stopped=True)
    try:
        config = config_of(job.config)
        metric = metric_of(config, job.cache, job.metric)
        method = config.method(job.unit.method)
        with workplace(job.task) as place:
            case = Case(_topic(config, job.unit), load_article(place.folder), method.system)
        values = metric.score([case])[0]
        if method.human:
            values = {name: None if name in _UNKNOWN_OF_HUMANS else value for name, value in values.items()}
    except StormError as error:
        return Scored(failure=str(error))
    except Exception as error:  # noqa: BLE001 - a crash is a row too
        _LOG.error("%s by %s crashed", job.unit.id, job.metric, exc_info=error)
        return Scored(failure=f"unexpected fault: {error}")
    return Scored(tuple(values.items()), tuple(metric.parameters.items()))


@lru_cache(4)
def config_of(text: str) -> ExperimentConfig:
    """Parse an experiment's configuration from JSON."""
    return ExperimentConfig.model_validate(json.loads(text))


def metric_of(config: ExperimentConfig, cache: Path, name: str) -> Metric:
    """Return a metric of an experiment, opened once per process. Raises StormError: it cannot be opened."""
    if config.code and is_own(name):
        return own_metric(name, config.code)
    return _metric(_resources_text(config), cache, name)


def resources_of(config: ExperimentConfig, cache: Path) -> Resources:
    """Return the resources that an experiment's metrics share, opened once per process."""
    return _resources(_resources_text(config), cache)


def load_article(folder: Path) -> Article:
    """Read the article in a folder. Raises RunError: it is absent or damaged."""
    path = folder / ARTICLE
    try:
        facts = path.stat()
    except OSError as error:
        raise RunError(f"cannot read {path}: {error.strerror}; run the experiment again") from error
    return _article(path, facts.st_mtime_ns, facts.st_size)


def article_hash(folder: Path) -> str:
    """Hash of the article in a folder; empty if there is none. Raises RunError: it is a link, or too large."""
    path = folder / ARTICLE
    if not path.is_file():
        return ""
    facts = path.stat()
    return _hash(path, facts.st_mtime_ns, facts.st_size)


def settings_of(config: ExperimentConfig, topic: Topic, unit: Unit) -> Settings:
    """Return the settings of a unit's run, except its folders. Raises SettingsError: a value is invalid."""
    method = config.method(unit.method)
    seed: Mapping[str, Any] = {} if unit.seed is None else {"seed": unit.seed}
    reads_ground_truth = config.search_of(method).corpus == "article"
    exclusions = {} if reads_ground_truth else exclusion_settings(topic)
    return Settings.build({**config.settings, **method.settings, **exclusions, **seed})


def fingerprint_of(config: ExperimentConfig, topic: Topic, unit: Unit) -> str:
    """Hash of everything that decides what article is written."""
    method = config.method(unit.method)
    if method.recorded:
        return fingerprint(method.recorded.name, method.polished, topic.id)
    if method.imported:
        return fingerprint(imported_hash(method.imported, topic), topic_fingerprint(topic))
    if method.system or method.human:
        return fingerprint(method.system, topic_fingerprint(topic))
    settings = settings_of(config, topic, unit).model_dump(mode="json", exclude=set(_IRRELEVANT_TO_RESULT))
    search = config.search_of(method)
    corpus = _corpus_fingerprint(config, search, topic)
    own = [source_hash(method.recipe, config.code)] if config.code and is_own(method.recipe) else []
    facts = search.model_dump(mode="json"), topic.title, *corpus, *own
    return fingerprint(config.writes, method.recipe, settings, *facts)


@lru_cache(1024)
def topic_fingerprint(topic: Topic) -> str:
    """Hash of a topic: the human article and the documents."""
    facts = dataclasses.asdict(topic)
    if not topic.human.published_text:
        del facts["human"]["published_text"]  # as it was before that field existed
    return fingerprint(facts)


def _corpus_fingerprint(config: ExperimentConfig, search: SearchTable, topic: Topic) -> tuple[str, ...]:
    """Return the hashes of what a search depends on besides its configuration: the documents and the embedder."""
    if search.corpus == "engine":
        return ("",)
    corpus = _pool_fingerprint(config.data) if search.corpus == "pooled" else topic_fingerprint(topic)
    embedder = str(config.resources.get("embedder", Resources.embedder))
    return (corpus, embedder) if search.ranker == "dense" else (corpus,)


@lru_cache(2)
def _pool_fingerprint(data: DataTable) -> str:
    return fingerprint(*map(topic_fingerprint, pool_of(data)))


def _produce_article(job: ArticleJob, folder: Path, halt: threading.Event) -> Article:
    config = config_of(job.config)
    topic, method = _topic(config, job.unit), config.method(job.unit.method)
    if method.recorded:
        run = find_storm_run(method.recorded, topic)
        return read_storm_run(run, polished=method.polished, title=topic.title).article
    if method.imported:
        return read_imported(method.imported, _with_corpus(config, topic, method))
    if method.system:
        return system_article(topic, method.system)
    if method.human:
        return human_article(topic)
    folders = {"out": job.folder, "cache": job.cache}
    # All settings are given, so that a resumed run does not keep one that made it fail.
    values = settings_of(config, topic, job.unit).model_dump()
    caps = {name: cap for name, cap in config.caps.items() if values[name] is None or cap < values[name]}
    settings = Settings.build({**values, **caps, **folders})
    resources = resources_of(config, job.cache)
    engine = engine_of(config.search_of(method), topic, config.data, resources, seed=job.unit.seed or 0)
    _keep_embedder(settings.embedder, job.cache)
    recipe, own = method.recipe, {}
    if config.code and is_own(recipe):
        recipe, own = run_name(recipe), {run_name(recipe): own_recipe(recipe, config.code)}
    storm = Storm(settings, search=engine, recipes=own, progress=False)
    if started := runs_of(folder):
        made = storm.resume(started[-1], halt=halt)
    elif config.writes == "outline":
        made = storm.outline(topic.title, method.recipe, halt=halt)
    else:
        made = storm.write(topic.title, recipe, halt=halt)
    return made if isinstance(made, Article) else _outline_only_article(made, topic, runs_of(folder)[-1])


def runs_of(folder: Path) -> list[Path]:
    """Return the runs of a unit; one is made only where there is none."""
    return sorted(path.parent for path in folder.glob("*/run.json") if not path.parent.is_symlink())


def _with_corpus(config: ExperimentConfig, topic: Topic, method: MethodTable) -> Topic:
    """Return the topic with the pages that articles on it may cite: those of all topics, where all are searched."""
    if config.search_of(method).corpus != "pooled":
        return topic
    return dataclasses.replace(topic, documents=tuple(d for one in pool_of(config.data) for d in one.documents))


@lru_cache(2)
def _keep_embedder(name: str, cache: Path) -> Embedder:
    """Keep the shared embedder alive between runs."""
    return shared_embedder(name, cache)


def _outline_only_article(outline: Outline, topic: Topic, run: Path) -> Article:
    """Return an article with only an outline, its research and its usage, for outline metrics."""
    files = {name: run / f"{name}.json" for name in ("usage", "conversations")}
    try:
        known = {name: json.loads(_read(file)) for name, file in files.items() if file.exists()}
        return _ARTICLES.validate_python({"title": topic.title, "outline": outline, **known})
    except (ValueError, RecursionError) as error:
        raise RunError(f"{run} is damaged, its usage or its conversations: delete it and run again") from error


def _read(file: Path) -> bytes:
    """Read a file of the experiment's folder, which another may have made."""
    try:
        return read_plain(file)
    except OSError as error:
        raise RunError(f"cannot read {file}: {error.strerror}; delete it and run the experiment again") from error


def _topic(config: ExperimentConfig, unit: Unit) -> Topic:
    found = next((topic for topic in topics_of(config) if topic.id == unit.topic), None)
    if found is None:
        raise DatasetError(f"the data set no longer has topic {unit.topic!r}: restore it or start a new experiment")
    return found


@lru_cache(4)
def _article(path: Path, mtime_ns: int, size: int) -> Article:  # noqa: ARG001 - part of the cache key
    """Read an article; cached, because every metric reads it in turn."""
    return from_json(_read(path).decode("utf-8", "replace"))


@lru_cache(4096)
def _hash(path: Path, mtime_ns: int, size: int) -> str:  # noqa: ARG001 - part of the cache key
    return hashlib.sha256(_read(path)).hexdigest()[:32]


@lru_cache(32)
def _metric(resources: str, cache: Path, name: str) -> Metric:
    return open_metric(name, _resources(resources, cache))


@lru_cache(4)
def _resources(given: str, cache: Path) -> Resources:
    values = json.loads(given)
    values |= {name: Path(values[name]).expanduser() for name in ("wordnet", "spending") if values.get(name)}
    return Resources(**{**values, "cache": cache})


def _resources_text(config: ExperimentConfig) -> str:
    settings = {name: value for name, value in config.settings.items() if name in _FOR_JUDGES}
    settings |= {name: cap for name, cap in config.caps.items() if name != "max_minutes"}  # a judge waits for articles
    own = {"settings": settings, "spending": config.spending}
    return json.dumps({**config.resources, **own}, sort_keys=True, default=str)
