"""Persistent budgets: of all runs of a server, and of a caller's runs per month."""

import json
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, Field

from storm_pipeline.errors import BudgetSpentError, RunError, SettingsError
from storm_pipeline.interfaces.server.callers import Caller
from storm_pipeline.interfaces.server.records import records_folder
from storm_pipeline.run.events import CallFinished, Event
from storm_pipeline.text.files import locked_file, read_plain, write_atomically, write_errors_as


@dataclass(eq=False)
class Reservation:
    """The reserved and spent US dollars of a run in this session."""

    budgets: "tuple[Budget, ...]" = ()
    most: float | None = None  # None: no limit
    spent: float = 0.0

    @property
    def left(self) -> float:
        """Remaining US dollars, >= 0."""
        return max(0.0, (self.most or 0.0) - self.spent)

    def check(self) -> None:
        """Check that money is left for the run. Raises BudgetSpentError: a budget is spent."""
        for budget in () if self.most else self.budgets:
            budget.check()

    def count(self, event: Event) -> None:
        """Count the cost of a run's call in each budget. Raises RunError: it cannot be saved."""
        if isinstance(event, CallFinished) and event.cost:
            for budget in self.budgets:
                budget.count(event.cost)
            self.spent += event.cost  # afterwards: it stays reserved until it is counted

    def release(self) -> None:
        """Release the unspent part of the reservation."""
        for budget in self.budgets:
            budget.reservations.remove(self)


class Budget:
    """A limit on the total cost of runs. Thread-safe, except reservations, which the run queue guards.

    The cost so far, including deleted runs, is stored in a file since the first server with this budget. A run begins
    once its cap is available, so that concurrent runs cannot exceed the budget. Servers of one folder share the file,
    but do not know each other's reservations.

    Args:
        path: the file.
        most: US dollars, > 0.
        whose: owner of the runs, for messages.
        monthly: whether it restarts each calendar month (UTC).

    Raises SettingsError: ``most`` is not above 0, or the file is damaged.
    """

    def __init__(
        self, path: Path, most: float, whose: str = "all runs of this server", *, monthly: bool = False
    ) -> None:
        if not most > 0:
            raise SettingsError(f"a budget is a number of dollars above 0, not {most:g}")
        self.most = most
        self.reservations: list[Reservation] = []
        self._path, self._whose, self._monthly = path, whose, monthly
        self._lock = threading.Lock()
        _read(path)  # fails here if it is damaged

    @property
    def spent(self) -> float:
        """US dollars spent so far, or in this month if it is monthly."""
        month, spent = _read(self._path)  # again, since another server may share the folder
        return 0.0 if self._monthly and month != _this_month() else spent

    @property
    def left(self) -> float:
        """Unspent US dollars, >= 0, including those reserved by active runs."""
        return max(0.0, self.most - self.spent)

    def check(self) -> None:
        """Check that money is left. Raises BudgetSpentError: none is."""
        if self.spent >= self.most:
            period = " in a month" if self._monthly else ""
            raise BudgetSpentError(
                f"the {self.most:g} dollars that {self._whose} may cost{period} are spent; the server's owner can "
                "raise that"
            )

    def available(self, cap: float) -> float | None:
        """Return the amount for a run: its cap, or the rest if no other run is active; None: it must wait."""
        left = self.most - self.spent - sum(reservation.left for reservation in self.reservations)
        return None if left < cap and self.reservations else min(cap, max(0.0, left))

    def count(self, cost: float) -> None:
        """Add the cost of a call. Raises RunError: it cannot be saved; SettingsError: the file is damaged."""
        lock = self._path.with_suffix(".lock")
        with write_errors_as(RunError, self._path), self._lock, locked_file(lock, timeout=10):
            record = {"spent": round(self.spent + cost, 12)} | ({"month": _this_month()} if self._monthly else {})
            write_atomically(self._path, json.dumps(record) + "\n")


class Budgets:
    """The budgets of the server of a folder of runs. ``most``: of all runs; None: no limit.

    Raises SettingsError: as :class:`Budget`.
    """

    def __init__(self, folder: Path, most: float | None) -> None:
        self._folder = records_folder(folder)
        self._callers: dict[str, Budget] = {}
        self._lock = threading.Lock()
        self.server = None if most is None else Budget(self._folder / "budget.json", most)

    def of(self, caller: Caller | None) -> Budget | None:
        """Return a caller's monthly budget; None: no limit. Raises SettingsError: the file is damaged."""
        if caller is None or caller.budget is None:
            return None
        with self._lock:
            if caller.name not in self._callers:
                file = self._folder / f"budget-{caller.name}.json"
                self._callers[caller.name] = Budget(file, caller.budget, f"the runs of {caller.name}", monthly=True)
            budget = self._callers[caller.name]
            budget.most = caller.budget  # a new token of the name may have another budget
            return budget

    def check(self, caller_budget: Budget | None) -> None:
        """Check that money is left in a caller's budget and the server's. Raises BudgetSpentError: none is."""
        for budget in filter(None, (caller_budget, self.server)):
            budget.check()

    def reserve(self, caller_budget: Budget | None, cap: float) -> Reservation | None:
        """Reserve money for a run from its caller's budget and the server's; None: it must wait."""
        budgets = tuple(filter(None, (caller_budget, self.server)))
        amounts = [amount for budget in budgets if (amount := budget.available(cap)) is not None]
        if len(amounts) < len(budgets):
            return None
        reservation = Reservation(budgets, min(amounts, default=None))
        for budget in budgets:
            budget.reservations.append(reservation)
        return reservation


def _this_month() -> str:
    return datetime.now(UTC).strftime("%Y-%m")


class _SavedSum(BaseModel, strict=True):
    spent: float = Field(ge=0, lt=1e15)
    month: str = ""


def _read(path: Path) -> tuple[str, float]:
    """Return the month, possibly empty, and the sum in a file."""
    try:
        saved = _SavedSum.model_validate_json(read_plain(path, 1000))
    except FileNotFoundError:
        return "", 0.0
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"{path} does not say what the runs have cost: correct it, or delete it to begin at 0"
        ) from error
    return saved.month, saved.spent
