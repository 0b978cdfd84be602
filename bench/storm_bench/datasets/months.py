"""Calendar months in UTC, as the builders take them."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from storm_pipeline import DatasetError

_MONTH = re.compile(r"(20\d\d)-(0[1-9]|1[0-2])")
_SECOND = timedelta(seconds=1)


@dataclass(frozen=True)
class Month:
    """A calendar month."""

    year: int  # from 2000 to 2099
    number: int  # from 1 to 12

    @classmethod
    def parse(cls, text: str) -> "Month":
        """The month of a text such as ``2024-01``. Raises DatasetError: it is not a month."""
        if not (parts := _MONTH.fullmatch(text)):
            raise DatasetError(f"{text!r} is not a month; write it as 2024-01")
        return cls(int(parts[1]), int(parts[2]))

    def __str__(self) -> str:
        return f"{self.year}-{self.number:02}"

    @property
    def first_second(self) -> str:
        """Its first second, in ISO 8601."""
        return _iso(self._start)

    @property
    def last_second(self) -> str:
        """Its last second."""
        return _iso(self._next - _SECOND)

    @property
    def second_before(self) -> str:
        """The last second of the month before."""
        return _iso(self._start - _SECOND)

    def is_over(self, now: datetime | None = None) -> bool:
        """Whether it has ended."""
        return self._next <= (now or datetime.now(UTC))

    @property
    def _start(self) -> datetime:
        return datetime(self.year, self.number, 1, tzinfo=UTC)

    @property
    def _next(self) -> datetime:
        return datetime(self.year + self.number // 12, self.number % 12 + 1, 1, tzinfo=UTC)


def _iso(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")
