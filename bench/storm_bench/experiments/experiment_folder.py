"""An experiment's folder: configuration, articles and scores; locked by one process at a time.

``experiment.json`` holds the configuration, the units and the metrics' facts; ``units.jsonl`` a record per finished
unit; ``articles/TOPIC/METHOD[/SEED]/`` the article and its run folder; ``report/`` the report.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from filelock import BaseFileLock

from storm_bench.experiments.config import ExperimentConfig
from storm_bench.experiments.jobs import article_hash
from storm_bench.experiments.units import Scored, Unit, Written
from storm_pipeline import RunError, SettingsError
from storm_pipeline.api import Journal, cannot_write, lock_folder, read_state, redact, write_atomically

FORMAT = 1
"""Version of the folder format; incremented when an older reader would misread it."""
_FIELDS = {"config": dict, "units": list, "metrics": dict, "facts": dict, "topics": dict, "notes": list}
_STATE, _JOURNAL, _LOCK = "experiment.json", "units.jsonl", "experiment.lock"


class ExperimentStore:
    """The folder of one experiment. A context manager; not thread-safe for writing.

    ``read_only``: read without locking, even while another process writes; nothing can be recorded. Raises RunError: it
    cannot be created or written, is damaged, has a newer format, or is locked by another process.
    """

    def __init__(self, folder: Path, *, read_only: bool = False) -> None:
        self.folder = folder
        self._lock = None if read_only else _acquire_lock(folder)
        try:
            self.state = _read_state(folder)
            # a record for each article and metric: WikiGenBench's 1,320 topics by 6 methods have 150,000
            self._journal = Journal(folder / _JOURNAL, read_only=read_only, times=10)
        except BaseException:
            self._release()
            raise
        self._articles = {key: records[-1] for key, records in self._journal.earlier("article").items()}
        self._scores = {key: records[-1] for key, records in self._journal.earlier("score").items()}

    def article_folder(self, unit: Unit) -> Path:
        """Return the folder of a unit's article. Raises RunError: a link leads elsewhere."""
        folder = self.folder / "articles" / unit.id
        if not folder.resolve().is_relative_to(self.folder.resolve() / "articles"):
            raise RunError(f"{folder} leads out of {self.folder}: delete the link")
        return folder

    def is_written(self, unit: Unit, fingerprint: str) -> bool:
        """Return whether a unit's article is written.

        Raises SettingsError: it was written or started with another fingerprint.
        """
        known = self._articles.get(unit.id)
        if known is None or (known["failure"] and known["fingerprint"] != fingerprint):
            return False
        if known["fingerprint"] != fingerprint:
            raise SettingsError(
                f"{self.folder} holds another experiment: {unit.id} was written or started with other settings; "
                "choose another folder with --out"
            )
        return not known["failure"] and not known["stopped"] and bool(article_hash(self.article_folder(unit)))

    def failure(self, unit: Unit) -> str | None:
        """Return why a unit has no article; empty if it has one, None if it was not attempted or is in progress."""
        known = self._articles.get(unit.id)
        if known is None or known["stopped"] or not (known["failure"] or article_hash(self.article_folder(unit))):
            return None
        return str(known["failure"])

    def words_asked(self, unit: Unit) -> int | None:
        """Return the words that the prompts asked for; None without an article, without a number, or if unknown."""
        known = self._articles.get(unit.id, {})
        return None if known.get("failure") or known.get("stopped") else known.get("words_asked") or None

    def is_scored(self, unit: Unit, metric: str) -> bool:
        """Return whether a unit has a score, which may be of an earlier article."""
        return f"{unit.id}|{metric}" in self._scores

    def score(self, unit: Unit, metric: str, fingerprint: str) -> Scored | None:
        """Return a metric's score of a unit's article; None if there is none with this fingerprint."""
        known = self._scores.get(f"{unit.id}|{metric}")
        if known is None or known["of"] != fingerprint:
            return None
        return Scored(tuple(map(tuple, known["values"])), tuple(map(tuple, known["parameters"])), known["failure"])

    def begin(self, unit: Unit, fingerprint: str) -> None:
        """Record that a unit is in progress; deletes the run of a failed attempt with another fingerprint.

        Raises RunError: a file cannot be deleted or written.
        """
        known = self._articles.get(unit.id)
        if known and known["fingerprint"] != fingerprint:
            try:
                for state in self.article_folder(unit).glob("*/run.json"):
                    shutil.rmtree(state.parent)
            except OSError as error:
                raise RunError(f"cannot delete {error.filename}: {error.strerror}; delete it and run again") from error
        self.put_article(unit, fingerprint, Written(stopped=True))

    def put_article(self, unit: Unit, fingerprint: str, written: Written) -> None:
        """Record the outcome of an article. Raises RunError: it cannot be written."""
        facts = {"fingerprint": fingerprint, "failure": redact(written.failure), "stopped": written.stopped}
        more = {"seconds": round(written.seconds, 1), "words_asked": written.words_asked}
        self._journal.add("article", unit.id, facts | more)
        self._articles[unit.id] = facts | more

    def put_score(self, unit: Unit, metric: str, fingerprint: str, scored: Scored) -> None:
        """Record a score; errors as :meth:`put_article`."""
        failure = redact(scored.failure)
        facts = {"of": fingerprint, "values": scored.values, "parameters": scored.parameters, "failure": failure}
        self._scores[f"{unit.id}|{metric}"] = facts
        self._journal.add("score", f"{unit.id}|{metric}", facts)

    def describe(
        self, config: ExperimentConfig, units: Sequence[Unit], cache: Path, **facts: Mapping[str, Any] | Sequence[str]
    ) -> None:
        """Write ``experiment.json``, so that a report needs only the folder. Raises RunError: it cannot be written.

        ``facts``: ``metrics``, ``facts``, ``topics`` and ``notes``, as JSON values.
        """
        self.state = {
            "format": FORMAT,
            "config": config.model_dump(mode="json", exclude={"spending"}),
            "units": [[unit.topic, unit.method, unit.seed] for unit in units],
            **facts,
            "places": [str(self.folder), str(cache)],
        }
        path = self.folder / _STATE
        try:
            write_atomically(path, json.dumps(self.state, ensure_ascii=False, indent=1) + "\n")
        except OSError as error:
            raise RunError(f"{cannot_write(path, error)} and run again") from error

    def close(self) -> None:
        """Release the folder's lock. May be called repeatedly."""
        self._journal.close()
        self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()


def _acquire_lock(folder: Path) -> BaseFileLock:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"cannot create {folder}: {error.strerror}; choose another with --out") from error
    return lock_folder(folder, _LOCK)


def _read_state(folder: Path) -> dict[str, Any]:
    """Return the content of a folder's ``experiment.json``; empty if there is none."""
    path = folder / _STATE
    remedy = "; delete it and run the experiment again"
    return read_state(path, FORMAT, _FIELDS, absent=f"{path} has gone", remedy=remedy) if path.is_file() else {}
