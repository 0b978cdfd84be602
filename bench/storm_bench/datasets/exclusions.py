"""What a build takes, what it leaves out, and why."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from storm_bench.datasets.current_page import CurrentPage

T = TypeVar("T")
Progress = Callable[[str], None]
"""Called with one line per page."""


class Exclusions:
    """Pages that a build left out, with the reasons.

    Args:
        on_progress: told what becomes of each page.
    """

    def __init__(self, on_progress: Progress) -> None:
        self._on_progress = on_progress
        self._reasons: list[tuple[str, str]] = []

    def taken(
        self,
        pages: Iterable[CurrentPage],
        examine: Callable[[CurrentPage], T | str],
        described: Callable[[T], str],
        at_most: int | None,
    ) -> Iterator[T]:
        """What qualifies, in the order of the pages, until there is enough; the other pages are recorded.

        Args:
            pages: the candidates.
            examine: returns what the build takes of a page, or why it is excluded.
            described: what progress says of it after "taken", such as ``with 7 pages``.
            at_most: maximum number taken; None for all.
        """
        found = 0
        for page in pages:
            if found == at_most:
                return
            one = examine(page)
            if isinstance(one, str):
                self._reasons.append((page.title, one))
                self._on_progress(f"{page.title}: left out, {one}")
                continue
            found += 1
            self._on_progress(f"{page.title}: taken {described(one)}")
            yield one

    def summary(self) -> str:
        """The reasons, most frequent first, such as ``3 × list, 1 × deleted``."""
        counts = Counter(reason for _, reason in self._reasons)
        return ", ".join(f"{count} × {reason}" for reason, count in counts.most_common()) or "there were no candidates"

    def entries(self) -> list[dict[str, str]]:
        """``title`` and ``reason`` of each page, ordered by title, for a manifest."""
        return [{"title": title, "reason": reason} for title, reason in sorted(self._reasons)]
