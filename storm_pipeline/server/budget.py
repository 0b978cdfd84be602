"""Budgets over many runs, which outlive the server: of all its runs, and of one caller's in a month."""

import json
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from storm_pipeline.errors import BudgetSpentError, RunError, SettingsError
from storm_pipeline.files import cannot_write, read_plain, write_atomically
from storm_pipeline.run.events import CallFinished, Event
from storm_pipeline.server.callers import Caller


@dataclass
class Allowance:
    """What one run may spend in this session, and what it has spent of it, in US dollars."""

    most: float
    spent: float = 0.0


class Budget:
    """What runs may cost together. Thread-safe.

    What they have cost is kept in a file, deleted runs included, and counts from the first server that had the budget.
    A run begins once its cap is free, so that the runs under way cannot exceed the budget.

    Args:
        path: the file.
        most: US dollars, > 0.
        whose: the runs, for messages.
        monthly: whether it begins anew with each calendar month (UTC).

    Raises SettingsError: ``most`` is not above 0, or the file is damaged.
    """

    def __init__(
        self, path: Path, most: float, whose: str = "all runs of this server", *, monthly: bool = False
    ) -> None:
        if not most > 0:
            raise SettingsError(f"a budget is a number of dollars above 0, not {most:g}")
        self.most = most
        self._path, self._whose, self._monthly = path, whose, monthly
        self._month, self._spent = _read(path)
        self._allowances: list[Allowance] = []
        self._lock = threading.RLock()

    @property
    def spent(self) -> float:
        """US dollars that the runs have cost so far; in this month, if it is monthly."""
        with self._lock:
            if self._monthly and self._month != _this_month():
                self._month, self._spent = _this_month(), 0.0
            return self._spent

    def check(self) -> None:
        """Check that something is left. Raises BudgetSpentError: nothing is."""
        if self.spent >= self.most:
            period = " in a month" if self._monthly else ""
            raise BudgetSpentError(
                f"the {self.most:g} dollars that {self._whose} may cost{period} are spent; the server's owner can "
                "raise that"
            )

    def allow(self, cap: float) -> Allowance | None:
        """Reserve what a run may spend: its cap, or what is left if no other run is under way; None: it must wait."""
        with self._lock:
            reserved = sum(max(0.0, one.most - one.spent) for one in self._allowances)
            left = self.most - self.spent - reserved
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
            self._spent = round(self.spent + event.cost, 12)
            record = {"spent": self._spent} | ({"month": self._month} if self._monthly else {})
            try:
                write_atomically(self._path, json.dumps(record) + "\n")
            except OSError as error:
                raise RunError(cannot_write(self._path, error)) from error


class Budgets:
    """The budgets of a server in the folder of its runs. ``most``: of all its runs together; None without limit.

    Raises SettingsError: as :class:`Budget`.
    """

    def __init__(self, folder: Path, most: float | None) -> None:
        self._folder = folder
        self._callers: dict[str, Budget] = {}
        self._lock = threading.Lock()
        self.server = None if most is None else Budget(folder / ".budget.json", most)

    def of(self, caller: Caller | None) -> Budget | None:
        """Return what a caller may spend in a month; None without limit. Raises SettingsError: the file is damaged."""
        if caller is None or caller.budget is None:
            return None
        with self._lock:
            if caller.name not in self._callers:
                file = self._folder / f".budget-{caller.name}.json"
                self._callers[caller.name] = Budget(file, caller.budget, f"the runs of {caller.name}", monthly=True)
            budget = self._callers[caller.name]
            budget.most = caller.budget  # a new token of the name may have another
            return budget

    def check(self, own: Budget | None) -> None:
        """Check that something is left of a caller's budget and the server's. Raises BudgetSpentError: nothing is."""
        for budget in (own, self.server):
            if budget:
                budget.check()


@dataclass(frozen=True)
class Reservation:
    """What a run may spend of each of its budgets."""

    parts: tuple[tuple[Budget, Allowance], ...] = ()

    @property
    def most(self) -> float | None:
        """US dollars; None without limit."""
        return min((allowance.most for _, allowance in self.parts), default=None)

    def check(self) -> None:
        """Check that the run may spend something. Raises BudgetSpentError: a budget is spent."""
        for budget, allowance in self.parts:
            if not allowance.most:
                budget.check()

    def count(self, event: Event) -> None:
        """Count the cost of a run's call in each budget. Raises RunError: it cannot be saved."""
        for budget, allowance in self.parts:
            budget.count(allowance, event)

    def release(self) -> None:
        """Free what was not spent."""
        for budget, allowance in self.parts:
            budget.release(allowance)


def reserved(budget: Budget | None, cap: float) -> Reservation | None:
    """Reserve what a run may spend of a budget, if there is one; None: it must wait."""
    if budget is None:
        return Reservation()
    allowance = budget.allow(cap)
    return None if allowance is None else Reservation(((budget, allowance),))


def _this_month() -> str:
    return datetime.now(UTC).strftime("%Y-%m")


def _read(path: Path) -> tuple[str, float]:
    """The month of a file, empty if it names none, and the sum."""
    try:
        record = json.loads(read_plain(path, 1000))
        month, spent = record.get("month", ""), record["spent"]
    except FileNotFoundError:
        return "", 0.0
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        month, spent = "", None
    if isinstance(spent, bool) or not isinstance(spent, int | float) or not 0 <= spent < 1e15:
        raise SettingsError(f"{path} does not say what the runs have cost: correct it, or delete it to begin at 0")
    return str(month), float(spent)
