"""Running an experiment: every article that is not written yet, then every score that is missing."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from storm_pipeline.evaluation.reporting import ExperimentResults
from storm_pipeline.evaluation.types import Topic
from storm_pipeline.experiments import work
from storm_pipeline.experiments.config import ExperimentConfig
from storm_pipeline.experiments.executors import Executor, JobLost
from storm_pipeline.experiments.provenance import metric_facts, provenance_of
from storm_pipeline.experiments.results import results_of, score_fingerprint
from storm_pipeline.experiments.sources import problems_of, topics_of
from storm_pipeline.experiments.store import ExperimentStore
from storm_pipeline.experiments.units import ArticleJob, Scored, ScoreJob, Unit, Written, units_of
from storm_pipeline.search.choosing import choose


class Experiment:
    """One experiment and the work on it. Use it in ``with``.

    Units that are done stay done: run it again, after an interruption or with more topics, methods or metrics in its
    description, and only what is missing is made; articles that failed are tried again.

    Args:
        config: what is compared.
        folder: where; made if need be, gone on with if it holds this experiment.
        executor: what the units are done with.
        cache: the cache folder.
        tell: told one line for each unit that ends, and for what is left out.

    Raises:
        DatasetError: the topics cannot be read.
        SettingsError: a setting cannot be used, or the folder holds articles that were written otherwise.
        RunError: the folder cannot be used.
    """

    def __init__(
        self,
        config: ExperimentConfig,
        folder: Path,
        executor: Executor,
        *,
        cache: Path = Path("cache"),
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.folder = folder
        self._executor = executor
        self._cache = cache.absolute()
        self._tell = tell
        self._running = threading.Event()
        self._stopping = threading.Event()
        self._store = ExperimentStore(folder.absolute())
        try:
            self.config = config.located(_engine_of(config, self._store.state))
            self._topics = {topic.id: topic for topic in topics_of(self.config)}
            self._prints = {u: work.fingerprint_of(self.config, self._topics[u.topic], u) for u in self.units}
            missing = self.missing
            self._describe()
            tell(f"{len(self.units)} articles, {len(self.units) - len(missing)} of them written")
        except BaseException:
            self._store.close()
            raise

    @property
    def units(self) -> tuple[Unit, ...]:
        """All articles, topic by topic."""
        return units_of(self.config, self.topics)

    @property
    def missing(self) -> tuple[Unit, ...]:
        """The articles that are still to be written."""
        return tuple(unit for unit in self.units if not self._store.is_written(unit, self._prints[unit]))

    @property
    def unscored(self) -> Mapping[Unit, tuple[str, ...]]:
        """The articles of which scores are missing, with the metrics; those included that are still to be written."""
        missing = set(self.missing)
        wanted = {
            unit: tuple(job.metric for job in self._jobs(unit) if unit in missing or not self._is_scored(job))
            for unit in self.units
        }
        return {unit: metrics for unit, metrics in wanted.items() if metrics}

    @property
    def topics(self) -> tuple[Topic, ...]:
        """The topics, in order."""
        return tuple(self._topics.values())

    @property
    def running(self) -> bool:
        """Whether something was begun that is worth ending in order."""
        return self._running.is_set()

    @property
    def stopped(self) -> bool:
        """Whether it was stopped."""
        return self._stopping.is_set()

    def stop(self) -> None:
        """End what is in flight in order and begin nothing more; from any thread or signal handler."""
        self._stopping.set()
        self._executor.stop()

    def run(self) -> ExperimentResults:
        """Do all that is missing, as far as it goes, and tell what is known then.

        Raises:
            RunError: the folder cannot be written.
        """
        self._running.set()
        try:
            self._write()
            self._score()
        except BaseException:
            self.stop()  # what is in flight must not go on buying
            raise
        return self.results()

    def results(self) -> ExperimentResults:
        """What is known so far."""
        return results_of(self._store)

    def close(self) -> None:
        """Let other processes have the folder. May be called again."""
        self._store.close()

    def __enter__(self) -> "Experiment":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _describe(self) -> None:
        """Look at the metrics, then write down what the experiment is."""
        self._metrics = metric_facts(self.config, self._cache, self._store.state)
        notes = list(problems_of(self.config))
        notes += [
            f"{name} is left out: {facts['missing']}" for name, facts in self._metrics.items() if "missing" in facts
        ]
        for note in notes:
            self._tell(note)
        self._store.describe(
            self.config,
            self.units,
            metrics=self._metrics,
            facts=provenance_of(self.config, self._store.state),
            topics={topic.id: work.topic_fingerprint(topic) for topic in self.topics},
            notes=notes,
            cache=self._cache,
        )

    def _write(self) -> None:
        jobs = [ArticleJob(self._text, self._cache, self._store.article_folder(unit), unit) for unit in self.missing]
        done = self._executor.run(work.write_article, self._begun(jobs))
        for number, (job, made) in enumerate(done, 1):
            written = Written(f"its worker was lost: {made.reason}") if isinstance(made, JobLost) else made
            self._store.put_article(job.unit, self._prints[job.unit], written)
            said = "stopped" if written.stopped else written.failure or "written"
            self._tell(f"{job.unit.id}: {said} ({written.seconds:.0f} s; {number} of {len(jobs)})")

    def _begun(self, jobs: Sequence[ArticleJob]) -> Iterator[ArticleJob]:
        """The jobs, each noted as begun: a folder of a run says with which settings from the first moment on."""
        for job in jobs:
            self._store.begin(job.unit, self._prints[job.unit])
            yield job

    def _score(self) -> None:
        written = (unit for unit in self.units if self._store.is_written(unit, self._prints[unit]))
        wanted = [job for unit in written for job in self._jobs(unit) if not self._is_scored(job)]
        for job, made in self._executor.run(work.score_article, wanted):
            scored = Scored(failure=f"its worker was lost: {made.reason}") if isinstance(made, JobLost) else made
            if scored.stopped:
                continue
            self._store.put_score(job.unit, job.metric, self._of(job), scored)
            self._tell(f"{job.unit.id}: {job.metric}{': ' + scored.failure if scored.failure else ''}")

    @cached_property
    def _text(self) -> str:
        """The description, as jobs carry it."""
        return self.config.model_dump_json()

    def _jobs(self, unit: Unit) -> list[ScoreJob]:
        """An article by each metric that can be had."""
        folder = self._store.article_folder(unit)
        names = (name for name, facts in self._metrics.items() if "missing" not in facts)
        return [ScoreJob(self._text, self._cache, folder, unit, name) for name in names]

    def _is_scored(self, job: ScoreJob) -> bool:
        known = self._store.score(job.unit, job.metric, self._of(job))
        return known is not None and not known.failure

    def _of(self, job: ScoreJob) -> str:
        return score_fingerprint(self._store, job.unit, job.metric)


def _engine_of(config: ExperimentConfig, before: dict[str, Any]) -> str:
    """What ``auto`` stands for in all runs of the experiment, now and later."""
    of_all = config.settings.get("search", "auto") == "auto"
    earlier = str(before.get("config", {}).get("settings", {}).get("search", "auto")) if of_all else "auto"
    asked = (m for m in config.methods if m.recipe and config.search_of(m).corpus == "engine")
    unnamed = any(config.settings_of(method).search == "auto" for method in asked)
    return choose()[0] if unnamed and earlier == "auto" else earlier
