"""A budget over all runs of a server, which outlives the server."""

import json
import threading
from dataclasses import dataclass
from pathlib import Path

from storm_pipeline.errors import BudgetSpentError, RunError, SettingsError
from storm_pipeline.files import cannot_write, read_plain, write_atomically
from storm_pipeline.run.events import CallFinished, Event

_FILE = ".budget.json"


@dataclass
class Allowance:
    """What one run may spend in this session, and what it has spent of it, in US dollars."""

    most: float
    spent: float = 0.0


class Budget:
    """What all runs in a folder may cost together. Thread-safe.

    What they have cost is kept in the folder's ``.budget.json``, deleted runs included, and counts from the first
    server that had a budget. A run begins once its cap is free, so that the runs under way cannot exceed the budget.

    ``most``: US dollars, > 0. Raises SettingsError: it is not above 0, or the file is damaged.
    """

    def __init__(self, folder: Path, most: float) -> None:
        if not most > 0:
            raise SettingsError(f"a budget is a number of dollars above 0, not {most:g}")
        self.most = most
        self._path = folder / _FILE
        self._spent = _read(self._path)
        self._allowances: list[Allowance] = []
        self._lock = threading.Lock()

    @property
    def spent(self) -> float:
        """US dollars that all runs have cost so far."""
        with self._lock:
            return self._spent

    def check(self) -> None:
        """Check that something is left. Raises BudgetSpentError: nothing is."""
        if self.spent >= self.most:
            raise BudgetSpentError(
                f"the {self.most:g} dollars that all runs of this server may cost are spent; its owner can raise that"
            )

    def allow(self, cap: float) -> Allowance | None:
        """Reserve what a run may spend: its cap, or what is left if no other run is under way; None: it must wait."""
        with self._lock:
            reserved = sum(max(0.0, one.most - one.spent) for one in self._allowances)
            left = self.most - self._spent - reserved
            if left < cap and self._allowances:
                return None
            allowance = Allowance(min(cap, max(0.0, left)))
            self._allowances.append(allowance)
            return allowance

    def release(self, allowance: Allowance) -> None:
        """Free what a run that has ended did not spend."""
        with self._lock:
            self._allowances = [one for one in self._allowances if one is not allowance]

    def count(self, allowance: Allowance, event: Event) -> None:
        """Count the cost of a run's call. Raises RunError: it cannot be saved."""
        if not isinstance(event, CallFinished) or not event.cost:
            return
        with self._lock:
            allowance.spent += event.cost
            self._spent = round(self._spent + event.cost, 12)
            try:
                write_atomically(self._path, json.dumps({"spent": self._spent}) + "\n")
            except OSError as error:
                raise RunError(cannot_write(self._path, error)) from error


def _read(path: Path) -> float:
    try:
        spent = json.loads(read_plain(path, 1000))["spent"]
    except FileNotFoundError:
        return 0.0
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        spent = None
    if isinstance(spent, bool) or not isinstance(spent, int | float) or not 0 <= spent < 1e15:
        raise SettingsError(f"{path} does not say what the runs have cost: correct it, or delete it to begin at 0")
    return float(spent)
