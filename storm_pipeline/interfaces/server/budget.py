"""Budgets over many runs, which outlive the server: of all its runs, and of one caller's in a month."""

import json
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, Field

from storm_pipeline.errors import BudgetSpentError, RunError, SettingsError
from storm_pipeline.interfaces.server.callers import Caller
from storm_pipeline.run.events import CallFinished, Event
from storm_pipeline.text.files import cannot_write, read_plain, write_atomically


@dataclass(eq=False)
class Reservation:
    """What one run may spend of its budgets in this session, and what it has spent, in US dollars."""

    budgets: "tuple[Budget, ...]" = ()
    most: float | None = None  # None without limit
    spent: float = 0.0

    @property
    def left(self) -> float:
        """US dollars that it may still spend, >= 0."""
        return max(0.0, (self.most or 0.0) - self.spent)

    def check(self) -> None:
        """Check that the run may spend something. Raises BudgetSpentError: a budget is spent."""
        for budget in () if self.most else self.budgets:
            budget.check()

    def count(self, event: Event) -> None:
        """Count the cost of a run's call in each budget. Raises RunError: it cannot be saved."""
        if isinstance(event, CallFinished) and event.cost:
            for budget in self.budgets:
                budget.count(event.cost)
            self.spent += event.cost  # only now: what was counted stays reserved until then

    def release(self) -> None:
        """Free what was not spent."""
        for budget in self.budgets:
            budget.reservations.remove(self)


class Budget:
    """What runs may cost together. Thread-safe, but for reservations, which the queue of the runs guards.

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
        self.reservations: list[Reservation] = []
        self._path, self._whose, self._monthly = path, whose, monthly
        self._month, self._spent = _read(path)
        self._lock = threading.RLock()

    @property
    def spent(self) -> float:
        """US dollars that the runs have cost so far; in this month, if it is monthly."""
        with self._lock:
            if self._monthly and self._month != _this_month():
                self._month, self._spent = _this_month(), 0.0
            return self._spent

    @property
    def left(self) -> float:
        """US dollars that are not spent, >= 0; runs under way may have reserved them."""
        return max(0.0, self.most - self.spent)

    def check(self) -> None:
        """Check that something is left. Raises BudgetSpentError: nothing is."""
        if self.spent >= self.most:
            period = " in a month" if self._monthly else ""
            raise BudgetSpentError(
                f"the {self.most:g} dollars that {self._whose} may cost{period} are spent; the server's owner can "
                "raise that"
            )

    def available(self, cap: float) -> float | None:
        """Return what a run may spend: its cap, or what is left if no other is under way; None: it must wait."""
        left = self.most - self.spent - sum(reservation.left for reservation in self.reservations)
        return None if left < cap and self.reservations else min(cap, max(0.0, left))

    def count(self, cost: float) -> None:
        """Add the cost of a call. Raises RunError: it cannot be saved."""
        with self._lock:
            self._spent = round(self.spent + cost, 12)
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

    def check(self, caller_budget: Budget | None) -> None:
        """Check that something is left of a caller's budget and the server's. Raises BudgetSpentError: nothing is."""
        for budget in filter(None, (caller_budget, self.server)):
            budget.check()

    def reserve(self, caller_budget: Budget | None, cap: float) -> Reservation | None:
        """Reserve what a run may spend of its caller's budget and the server's; None: it must wait."""
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


class _Saved(BaseModel, strict=True):
    spent: float = Field(ge=0, lt=1e15)
    month: str = ""


def _read(path: Path) -> tuple[str, float]:
    """Return the month that a file names, empty if none, and the sum."""
    try:
        saved = _Saved.model_validate_json(read_plain(path, 1000))
    except FileNotFoundError:
        return "", 0.0
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"{path} does not say what the runs have cost: correct it, or delete it to begin at 0"
        ) from error
    return saved.month, saved.spent
