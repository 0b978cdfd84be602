"""An experiment's folder: its description, its articles, and what is known of each unit; held by one process at a time.

``experiment.json`` holds the description, the units and what the metrics are; ``units.jsonl`` every unit from the
moment it was done; ``articles/TOPIC/METHOD[/SEED]/`` the article and the folder of its run; ``report/`` the report.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from filelock import FileLock

from storm_pipeline.errors import RunError, SettingsError
from storm_pipeline.experiments.config import ExperimentConfig
from storm_pipeline.experiments.units import Scored, Unit, Written
from storm_pipeline.experiments.work import hash_of
from storm_pipeline.files import write_atomically
from storm_pipeline.run.journal import Journal
from storm_pipeline.run.locking import locked, read_state

FORMAT = 1
"""Version of the folder; raised when an older reader would misread it."""
_STATE, _JOURNAL, _LOCK = "experiment.json", "units.jsonl", "experiment.lock"


class ExperimentStore:
    """The folder of one experiment. Use it in ``with``; one thread at a time changes it.

    Args:
        folder: made if need be.
        read_only: read it as it is, also while another process works on it; nothing can be noted then.

    Attributes:
        folder: where it is.
        state: what ``experiment.json`` says: ``config``, ``units``, ``metrics``, ``facts``, ``topics``, ``notes``,
            ``places`` on the machine that wrote it; empty before it is written.

    Raises:
        RunError: it cannot be made or written, is damaged, belongs to a newer version, or another process holds it.
    """

    def __init__(self, folder: Path, *, read_only: bool = False) -> None:
        self.folder = folder
        self._lock = None if read_only else _held(folder)
        try:
            self.state = _state_of(folder)
            self._journal = Journal(folder / _JOURNAL, read_only=read_only)
        except BaseException:
            self._release()
            raise
        self._articles = {key: records[-1] for key, records in self._journal.earlier("article").items()}
        self._scores = {key: records[-1] for key, records in self._journal.earlier("score").items()}

    def article_folder(self, unit: Unit) -> Path:
        """Where the article of a unit lies."""
        return self.folder / "articles" / unit.id

    def is_written(self, unit: Unit, fingerprint: str) -> bool:
        """Whether a unit has its article.

        Raises:
            SettingsError: it has one that was written otherwise.
        """
        known = self._articles.get(unit.id)
        if known is None or (known["failure"] and known["fingerprint"] != fingerprint):
            return False
        if known["fingerprint"] != fingerprint:
            raise SettingsError(
                f"{self.folder} holds another experiment: {unit.id} was written, or begun, with other settings; "
                "choose another folder with --out"
            )
        return not known["failure"] and not known["stopped"] and bool(hash_of(self.article_folder(unit)))

    def failure(self, unit: Unit) -> str | None:
        """Why a unit has no article; empty if it has one, None if it was not tried or is under way."""
        known = self._articles.get(unit.id)
        if known is None or known["stopped"] or not (known["failure"] or hash_of(self.article_folder(unit))):
            return None
        return str(known["failure"])

    def score(self, unit: Unit, metric: str, of: str) -> Scored | None:
        """What a metric said of a unit's article; None if it was not asked.

        Args:
            unit: which article.
            metric: which metric.
            of: what the score must have been given for: fingerprint of article and metric.
        """
        known = self._scores.get(f"{unit.id}|{metric}")
        if known is None or known["of"] != of:
            return None
        return Scored(tuple(map(tuple, known["values"])), tuple(map(tuple, known["parameters"])), known["failure"])

    def begin(self, unit: Unit, fingerprint: str) -> None:
        """Note that a unit is under way; what an attempt under another fingerprint left, which failed, is deleted.

        Raises:
            RunError: it cannot be deleted or written.
        """
        known = self._articles.get(unit.id)
        if known and known["fingerprint"] != fingerprint:
            try:
                for state in self.article_folder(unit).glob("*/run.json"):
                    shutil.rmtree(state.parent)
            except OSError as error:
                raise RunError(f"cannot delete {error.filename}: {error.strerror}; delete it, then go on") from error
        self.put_article(unit, fingerprint, Written(stopped=True))

    def put_article(self, unit: Unit, fingerprint: str, written: Written) -> None:
        """Note what came of a unit.

        Raises:
            RunError: it cannot be written.
        """
        facts = {"fingerprint": fingerprint, "failure": written.failure, "stopped": written.stopped}
        self._articles[unit.id] = facts
        self._journal.add("article", unit.id, facts | {"seconds": round(written.seconds, 1)})

    def put_score(self, unit: Unit, metric: str, of: str, scored: Scored) -> None:
        """Note what a metric said; errors as :meth:`put_article`."""
        facts = {"of": of, "values": scored.values, "parameters": scored.parameters, "failure": scored.failure}
        self._scores[f"{unit.id}|{metric}"] = facts
        self._journal.add("score", f"{unit.id}|{metric}", facts)

    def describe(
        self,
        config: ExperimentConfig,
        units: Sequence[Unit],
        *,
        metrics: Mapping[str, Any],
        facts: Mapping[str, str],
        topics: Mapping[str, str],
        notes: Sequence[str],
        cache: Path,
    ) -> None:
        """Write down what the experiment is, so that a report needs nothing else.

        Raises:
            RunError: it cannot be written.
        """
        self.state = {
            "format": FORMAT,
            "config": config.model_dump(mode="json"),
            "units": [[unit.topic, unit.method, unit.seed] for unit in units],
            "metrics": dict(metrics),
            "facts": dict(facts),
            "topics": dict(topics),
            "notes": list(notes),
            "places": [str(self.folder), str(cache)],
        }
        path = self.folder / _STATE
        try:
            write_atomically(path, json.dumps(self.state, ensure_ascii=False, indent=1) + "\n")
        except OSError as error:
            raise RunError(f"cannot write {path}: {error.strerror}; free some space, then run it again") from error

    def close(self) -> None:
        """Let other processes have the folder. May be called again."""
        self._journal.close()
        self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()


def _held(folder: Path) -> FileLock:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"cannot make {folder}: {error.strerror}; choose another with --out") from error
    return locked(folder, _LOCK)


def _state_of(folder: Path) -> dict[str, Any]:
    """What ``experiment.json`` of a folder says; empty where there is none."""
    path = folder / _STATE
    remedy = "; delete it, then run the experiment again"
    return read_state(path, FORMAT, absent=f"{path} has gone", remedy=remedy) if path.is_file() else {}
