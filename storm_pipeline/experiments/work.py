"""Doing a unit: functions of plain values, so that any process of any machine with the same folders can run them."""

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

from storm_pipeline.errors import DatasetError, RunError, StoppedError, StormError
from storm_pipeline.evaluation.datasets.imported import read_imported, system_article
from storm_pipeline.evaluation.datasets.leakage import guards
from storm_pipeline.evaluation.datasets.storm_runs import read_storm_run
from storm_pipeline.evaluation.metrics.base import Metric
from storm_pipeline.evaluation.metrics.registry import open_metric
from storm_pipeline.evaluation.metrics.resources import Resources
from storm_pipeline.evaluation.types import Case, Topic
from storm_pipeline.experiments.config import DataTable, ExperimentConfig, SearchTable
from storm_pipeline.experiments.executors import job_halt
from storm_pipeline.experiments.sources import engine_of, pool_of, topics_of
from storm_pipeline.experiments.units import ArticleJob, Scored, ScoreJob, Unit, Written
from storm_pipeline.files import write_atomically
from storm_pipeline.render.json import from_json
from storm_pipeline.retrieval.embedder import Embedder, shared_embedder
from storm_pipeline.run.journal import fingerprint
from storm_pipeline.settings import Settings
from storm_pipeline.storm import Storm
from storm_pipeline.types import Article, Outline, Usage

ARTICLE = "article.json"
_USAGE = TypeAdapter(Usage)
_LOG = logging.getLogger(__name__)
_UNSEEN = frozenset(
    "out cache api_base api_key_env lm_timeout attempts workers process_workers prices max_failures search_rate "
    "search_cache search_cache_days".split()
)
"""Settings that change how a run is done, not what it is to write."""

_JUDGES_TOO = frozenset("lm api_base api_key_env lm_timeout attempts workers process_workers".split())
"""Settings that hold for the judges as well: how models are reached."""


def write_article(job: ArticleJob) -> Written:
    """Write one article, or go on with it; whatever fails is told, never raised."""
    start = time.monotonic()
    try:
        article = _made(job, job_halt())
        job.folder.mkdir(parents=True, exist_ok=True)
        write_atomically(job.folder / ARTICLE, article.to_json())
    except StoppedError:
        return Written(stopped=True, seconds=time.monotonic() - start)
    except StormError as error:
        return Written(str(error), seconds=time.monotonic() - start)
    except Exception as error:  # noqa: BLE001 - a crash too is a row, and the other articles go on
        _LOG.error("%s crashed", job.unit.id, exc_info=error)
        return Written(f"unexpected {type(error).__name__}: {error}", seconds=time.monotonic() - start)
    return Written(seconds=time.monotonic() - start)


def score_article(job: ScoreJob) -> Scored:
    """Score one article by one metric; whatever fails is told, never raised."""
    if job_halt().is_set():
        return Scored(stopped=True)
    try:
        config = config_of(job.config)
        metric = metric_of(config, job.cache, job.metric)
        case = Case(_topic(config, job.unit), article_in(job.folder))
        values = metric.score([case])[0]
    except StormError as error:
        return Scored(failure=str(error))
    except Exception as error:  # noqa: BLE001 - a crash too is a row
        _LOG.error("%s by %s crashed", job.unit.id, job.metric, exc_info=error)
        return Scored(failure=f"unexpected {type(error).__name__}: {error}")
    return Scored(tuple(values.items()), tuple(metric.parameters.items()))


@lru_cache(4)
def config_of(text: str) -> ExperimentConfig:
    """The experiment that JSON holds."""
    return ExperimentConfig.model_validate(json.loads(text))


def metric_of(config: ExperimentConfig, cache: Path, name: str) -> Metric:
    """A metric of an experiment, opened once in this process.

    Raises:
        StormError: it cannot be opened.
    """
    return _metric(_resources_text(config), cache, name)


def resources_of(config: ExperimentConfig, cache: Path) -> Resources:
    """What the metrics of an experiment share, opened once in this process."""
    return _resources(_resources_text(config), cache)


def article_in(folder: Path) -> Article:
    """The article that was written into a folder.

    Raises:
        RunError: it is absent or damaged.
    """
    path = folder / ARTICLE
    try:
        facts = path.stat()
        return _article(path, facts.st_mtime_ns, facts.st_size)
    except OSError as error:
        raise RunError(f"cannot read {path}: {error.strerror}; run the experiment again") from error


def hash_of(folder: Path) -> str:
    """What tells an article of a folder from another one; empty where there is none."""
    path = folder / ARTICLE
    if not path.is_file():
        return ""
    facts = path.stat()
    return _hash(path, facts.st_mtime_ns, facts.st_size)


def settings_of(config: ExperimentConfig, topic: Topic, unit: Unit) -> Settings:
    """What the run of a unit is written with, but for its folders.

    Raises:
        SettingsError: a value is not allowed.
    """
    method = config.method(unit.method)
    seed: Mapping[str, Any] = {} if unit.seed is None else {"seed": unit.seed}
    reads_the_truth = config.search_of(method).corpus == "article"
    kept_out = {} if reads_the_truth else guards(topic)
    return Settings.build({**config.settings, **method.settings, **kept_out, **seed})


def fingerprint_of(config: ExperimentConfig, topic: Topic, unit: Unit) -> str:
    """Equal where the same article would be written."""
    method = config.method(unit.method)
    if method.recorded:
        return fingerprint(method.recorded.name, method.polished, topic.id)
    if method.imported:
        return fingerprint(method.imported.name, topic.id)
    if method.system:
        return fingerprint(method.system, topic_fingerprint(topic))
    settings = settings_of(config, topic, unit).model_dump(mode="json", exclude=set(_UNSEEN))
    search = config.search_of(method)
    held = _searched(config, search, topic)
    return fingerprint(config.writes, method.recipe, settings, search.model_dump(mode="json"), topic.title, *held)


@lru_cache(1024)
def topic_fingerprint(topic: Topic) -> str:
    """Equal for equal topics: what people wrote, and the documents."""
    return fingerprint(dataclasses.asdict(topic))


def _searched(config: ExperimentConfig, search: SearchTable, topic: Topic) -> tuple[str, ...]:
    """What decides about a search in documents, beside the way they are searched."""
    if search.corpus == "engine":
        return ("",)
    held = _pool_fingerprint(config.data) if search.corpus == "pooled" else topic_fingerprint(topic)
    embedder = str(config.resources.get("embedder", Resources.embedder))
    return (held, embedder) if search.ranker == "dense" else (held,)


@lru_cache(2)
def _pool_fingerprint(data: DataTable) -> str:
    return fingerprint(*map(topic_fingerprint, pool_of(data)))


def _made(job: ArticleJob, halt: threading.Event) -> Article:
    config = config_of(job.config)
    topic, method = _topic(config, job.unit), config.method(job.unit.method)
    if method.recorded:
        return read_storm_run(method.recorded / topic.id, polished=method.polished).article
    if method.imported:
        return read_imported(method.imported, topic)
    if method.system:
        return system_article(topic, method.system)
    folders = {"out": job.folder, "cache": job.cache}
    # Every one is given, so that a run that goes on keeps none that made it fail.
    settings = Settings.build({**settings_of(config, topic, job.unit).model_dump(), **folders})
    resources = resources_of(config, job.cache)
    engine = engine_of(config.search_of(method), topic, config.data, resources, seed=job.unit.seed or 0)
    _embedder(settings.embedder, job.cache)
    storm = Storm(settings, search=engine)
    begun = sorted(path.parent for path in job.folder.glob("*/run.json"))
    if begun:
        made = storm.resume(begun[-1], halt=halt)
    elif config.writes == "outline":
        made = storm.outline(topic.title, method.recipe, halt=halt)
    else:
        made = storm.write(topic.title, method.recipe, halt=halt)
    return made if isinstance(made, Article) else _outlined(made, topic, job.folder)


@lru_cache(2)
def _embedder(name: str, cache: Path) -> Embedder:
    """Keeps the embedder that runs share alive from one run to the next."""
    return shared_embedder(name, cache)


def _outlined(outline: Outline, topic: Topic, folder: Path) -> Article:
    """An article that has nothing but its outline and what that cost, for metrics of outlines."""
    costs = max(folder.glob("*/usage.json"), default=None)
    usage = _USAGE.validate_json(costs.read_bytes()) if costs else Usage()
    return Article(topic.title, outline=outline, usage=usage)


def _topic(config: ExperimentConfig, unit: Unit) -> Topic:
    found = next((topic for topic in topics_of(config) if topic.id == unit.topic), None)
    if found is None:
        raise DatasetError(f"the data set has no topic {unit.topic!r} any more: restore it, or begin a new experiment")
    return found


@lru_cache(4)
def _article(path: Path, changed: int, size: int) -> Article:  # noqa: ARG001 - with them, the file is this very one
    """The article of a file, which all its metrics read one after the other."""
    return from_json(path.read_text(encoding="utf-8"))


@lru_cache(4096)
def _hash(path: Path, changed: int, size: int) -> str:  # noqa: ARG001 - what tells a rewritten file
    return hashlib.sha256(path.read_bytes()).hexdigest()[:32]


@lru_cache(32)
def _metric(resources: str, cache: Path, name: str) -> Metric:
    return open_metric(name, _resources(resources, cache))


@lru_cache(4)
def _resources(given: str, cache: Path) -> Resources:
    values = json.loads(given)
    if wordnet := values.get("wordnet"):
        values["wordnet"] = Path(wordnet).expanduser()
    return Resources(**{**values, "cache": cache})


def _resources_text(config: ExperimentConfig) -> str:
    settings = {name: value for name, value in config.settings.items() if name in _JUDGES_TOO}
    return json.dumps({**config.resources, "settings": settings}, sort_keys=True, default=str)
