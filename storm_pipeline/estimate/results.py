"""The values of an estimate."""

from collections.abc import Iterable
from dataclasses import dataclass

from storm_pipeline.models.prices import Price
from storm_pipeline.settings import Role
from storm_pipeline.text.formatting import amount


@dataclass(frozen=True)
class Range:
    """An estimated number; ``low <= likely <= high``."""

    low: float
    likely: float
    high: float

    @classmethod
    def sum(cls, ranges: Iterable["Range"]) -> "Range":
        """The sum, as if all were low at once or high at once."""
        summands = list(ranges)
        return cls(sum(r.low for r in summands), sum(r.likely for r in summands), sum(r.high for r in summands))

    def amounts(self) -> str:
        """In words: ``30 (12–42)``, ``12.3k (10.1k–15.0k)``; ``30`` if the bounds are equal."""
        low, likely, high = (amount(round(number)) for number in (self.low, self.likely, self.high))
        return likely if low == high else f"{likely} ({low}–{high})"

    def __contains__(self, number: float) -> bool:
        return self.low <= number <= self.high


@dataclass(frozen=True)
class EstimateRow:
    """One program of one stage."""

    stage: str  # as in events and usage, e.g. ``conversations``
    role: Role  # role of the model
    program: str  # field of :class:`storm_pipeline.models.programs.Programs`, e.g. ``question``
    model: str  # name of the model as in the settings
    calls: Range  # number of calls
    tokens_in: Range  # prompt tokens of all calls
    tokens_out: Range  # completion tokens of all calls, thinking included
    dollars: Range | None  # US dollars; None if the model's price is unknown


@dataclass(frozen=True)
class Estimate:
    """Estimated usage of a run."""

    topic: str  # topic of the article
    recipe: str  # the method that writes it
    rows: tuple[EstimateRow, ...]  # one per program and stage, in the order of stages
    searches: Range  # queries sent to the search engine
    prices: tuple[tuple[str, Price | None], ...]  # name and price (None: unknown) of every model used
    notes: tuple[str, ...]  # what the numbers leave out or assume, a sentence each

    @property
    def calls(self) -> Range:
        """Calls in all."""
        return Range.sum(row.calls for row in self.rows)

    @property
    def tokens_in(self) -> Range:
        """Prompt tokens in all."""
        return Range.sum(row.tokens_in for row in self.rows)

    @property
    def tokens_out(self) -> Range:
        """Completion tokens in all."""
        return Range.sum(row.tokens_out for row in self.rows)

    @property
    def dollars(self) -> Range | None:
        """US dollars in all; None if the price of any model is unknown."""
        return None if self.unpriced else self.known_dollars

    @property
    def known_dollars(self) -> Range:
        """US dollars of the models whose price is known."""
        return Range.sum(row.dollars for row in self.rows if row.dollars is not None)

    @property
    def unpriced(self) -> tuple[str, ...]:
        """Names of the models whose price is unknown."""
        return tuple(name for name, price in self.prices if price is None)
