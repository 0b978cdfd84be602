"""Running an experiment: writes the missing articles, then computes the missing scores."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from storm_bench.experiments import jobs
from storm_bench.experiments.config import ExperimentConfig
from storm_bench.experiments.data import data_problems, topics_of
from storm_bench.experiments.experiment_folder import ExperimentStore
from storm_bench.experiments.provenance import is_unjudged, metric_facts, provenance_of
from storm_bench.experiments.results import results_of, score_fingerprint
from storm_bench.experiments.units import ArticleJob, Scored, ScoreJob, Unit, Written, units_of
from storm_bench.metrics.registry import METRICS
from storm_bench.reporting import ExperimentResults
from storm_bench.types import Topic
from storm_pipeline import Settings
from storm_pipeline.api import choose, pinned_engine
from storm_pipeline.interfaces.batch import Executor, JobLost, open_executor

J = TypeVar("J", bound=ArticleJob)
_MOST_JUDGED = 64  # articles judged concurrently, in this process


class Experiment:
    """One experiment and its folder. A context manager.

    Running it again, after an interruption or with more topics, methods or metrics, computes only what is missing;
    failed articles are retried. ``folder``: its folder; created if absent, continued if it holds this experiment;
    ``cache``: the cache folder; default: the user's, as in :class:`storm_pipeline.settings.Settings`; ``on_progress``:
    called with one line for each finished unit and each skipped metric. Raises DatasetError: the topics cannot be read;
    SettingsError: a setting is invalid, or the folder holds articles written with other settings; RunError: the folder
    cannot be used.
    """

    def __init__(
        self,
        config: ExperimentConfig,
        folder: Path,
        executor: Executor,
        *,
        cache: Path | None = None,
        on_progress: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.folder = folder
        self._executor, self._judging = executor, open_executor(at_once=min(executor.at_once, _MOST_JUDGED))
        self._judging.recorder = executor.recorder
        self._cache = (cache or Settings.build({}).cache).absolute()
        self._on_progress = on_progress
        self._running = threading.Event()
        self._stopping = threading.Event()
        self._store = ExperimentStore(folder.absolute())
        try:
            self.config = config.resolved(_resolve_engine(config, self._store.state), folder)
            self._topics = {topic.id: topic for topic in topics_of(self.config)}
            self._fingerprints = {u: jobs.fingerprint_of(self.config, self._topics[u.topic], u) for u in self.units}
            missing = self.missing
            self._describe()
            on_progress(f"{len(self.units)} articles, {len(self.units) - len(missing)} of them written")
        except BaseException:
            self._store.close()
            raise

    @property
    def units(self) -> tuple[Unit, ...]:
        """All articles, in topic order."""
        return units_of(self.config, self.topics)

    @property
    def missing(self) -> tuple[Unit, ...]:
        """The articles that are still to be written."""
        return tuple(unit for unit in self.units if not self._store.is_written(unit, self._fingerprints[unit]))

    @property
    def unscored(self) -> Mapping[Unit, tuple[str, ...]]:
        """Articles with missing scores and the missing metrics, unwritten articles included."""
        missing = set(self.missing)
        wanted = {
            unit: tuple(job.metric for job in self._score_jobs(unit) if unit in missing or not self._is_scored(job))
            for unit in self.units
        }
        return {unit: metrics for unit, metrics in wanted.items() if metrics}

    @property
    def topics(self) -> tuple[Topic, ...]:
        """The topics, in order."""
        return tuple(self._topics.values())

    @property
    def running(self) -> bool:
        """Whether :meth:`run` was called, so that there is work to stop cleanly."""
        return self._running.is_set()

    @property
    def stopped(self) -> bool:
        """Whether :meth:`stop` was called."""
        return self._stopping.is_set()

    def stop(self) -> None:
        """Stop running jobs cleanly and start no more; may be called from any thread or signal handler."""
        self._stopping.set()

    def run(self) -> ExperimentResults:
        """Compute whatever is missing and return the results. Raises RunError: the folder cannot be written."""
        self._running.set()
        try:
            self._write()
            self._score()
        except BaseException:
            self.stop()  # running jobs must not go on spending
            raise
        return self.results()

    def results(self) -> ExperimentResults:
        """Return the results so far."""
        return results_of(self._store)

    def close(self) -> None:
        """Release the folder's lock. May be called repeatedly."""
        self._store.close()

    def __enter__(self) -> "Experiment":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _describe(self) -> None:
        """Open the metrics, then write ``experiment.json``."""
        self._metrics = metric_facts(self.config, self._cache, self._store.state)
        notes = list(data_problems(self.config))
        notes += [
            f"{name} is left out: {facts['missing']}" for name, facts in self._metrics.items() if "missing" in facts
        ]
        for note in notes:
            self._on_progress(note)
        self._store.describe(
            self.config,
            self.units,
            self._cache,
            metrics=self._metrics,
            facts=provenance_of(self.config, self._store.state),
            topics={topic.id: jobs.topic_fingerprint(topic) for topic in self.topics},
            notes=notes,
        )

    def _write(self) -> None:
        folder = self._store.article_folder
        wanted = [ArticleJob(self._config_json, self._cache, folder(unit), unit) for unit in self.missing]
        done = self._executor.run(jobs.write_article, self._mark_started(wanted), halt=self._stopping)
        for number, (job, result) in enumerate(done, 1):
            self._executor.recorder.finish(job.task)
            written = Written(f"its worker was lost: {result.reason}") if isinstance(result, JobLost) else result
            self._store.put_article(job.unit, self._fingerprints[job.unit], written)
            outcome = "stopped" if written.stopped else written.failure or "written"
            self._on_progress(f"{job.unit.id}: {outcome} ({written.seconds:.0f} s; {number} of {len(wanted)})")

    def _mark_started(self, wanted: Sequence[ArticleJob]) -> Iterator[ArticleJob]:
        """Yield the jobs, each recorded as started before it runs, with the settings it runs under."""
        for job in wanted:
            self._store.begin(job.unit, self._fingerprints[job.unit])
            job.folder.mkdir(parents=True, exist_ok=True)
            yield from self._placed([job])

    def _placed(self, wanted: Iterable[J]) -> Iterator[J]:
        for job in wanted:
            own = set() if isinstance(job, ScoreJob) else {run.name for run in jobs.runs_of(job.folder)}
            self._executor.recorder.place(job.task, job.folder, {jobs.ARTICLE} | own)
            yield job

    def _score(self) -> None:
        written = (unit for unit in self.units if self._store.is_written(unit, self._fingerprints[unit]))
        wanted = [job for unit in written for job in self._score_jobs(unit) if not self._is_scored(job)]
        asks = jobs.resources_of(self.config, self._cache).asks_language_model
        paid = {name for name in self._metrics if name in METRICS and asks(METRICS[name].needs)}
        judged = [job for job in wanted if job.metric in paid]  # in this process, where one account counts
        others = [job for job in wanted if job.metric not in paid]
        done = chain(
            self._executor.run(jobs.score_article, self._placed(others), halt=self._stopping),
            self._judging.run(jobs.score_article, self._placed(judged), halt=self._stopping),
        )
        for job, result in done:
            self._executor.recorder.finish(job.task)
            scored = Scored(failure=f"its worker was lost: {result.reason}") if isinstance(result, JobLost) else result
            if scored.stopped:
                continue
            self._store.put_score(job.unit, job.metric, self._score_fingerprint(job), scored)
            self._on_progress(f"{job.unit.id}: {job.metric}{': ' + scored.failure if scored.failure else ''}")

    @cached_property
    def _config_json(self) -> str:
        """The configuration, serialised for jobs."""
        return self.config.model_dump_json()

    def _score_jobs(self, unit: Unit) -> list[ScoreJob]:
        """Return one job per available metric for an article."""
        folder = self._store.article_folder(unit)
        wanted = self.config.metrics_of(self.config.method(unit.method))
        known = {name: facts for name, facts in self._metrics.items() if name in wanted and "missing" not in facts}
        names = (name for name, facts in known.items() if not is_unjudged(facts))
        return [ScoreJob(self._config_json, self._cache, folder, unit, name) for name in names]

    def _is_scored(self, job: ScoreJob) -> bool:
        known = self._store.score(job.unit, job.metric, self._score_fingerprint(job))
        return known is not None and not known.failure

    def _score_fingerprint(self, job: ScoreJob) -> str:
        return score_fingerprint(self._store, job.unit, job.metric)


def _resolve_engine(config: ExperimentConfig, before: dict[str, Any]) -> str:
    """Return the engine that ``auto`` stands for in all runs of the experiment; stays the same in later sessions.

    The folder may be another's: of an engine on record the name alone counts, never an address or a variable. Raises
    SettingsError: it is paid for, and ``auto`` would not choose it now.
    """
    settings = before.get("config", {}).get("settings") if config.settings.get("search", "auto") == "auto" else None
    recorded = settings.get("search") if isinstance(settings, Mapping) else None
    earlier = pinned_engine("auto", recorded)
    asked = (m for m in config.methods if m.recipe and config.search_of(m).corpus == "engine")
    unnamed = any(config.settings_of(method).search == "auto" for method in asked)
    return choose().spec if unnamed and earlier == "auto" else earlier
