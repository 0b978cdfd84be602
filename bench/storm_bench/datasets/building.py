"""What the builders of data sets share: a folder, services, and which pages are taken and why the others are not."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from storm_bench.datasets.current_page import CurrentPage
from storm_bench.datasets.dataset import folder_to_build, shuffled
from storm_bench.datasets.mediawiki import MediaWiki, PageGoneError
from storm_bench.datasets.wikimedia import AnswerCache, Wikimedia
from storm_pipeline import __version__

T = TypeVar("T")
Progress = Callable[[str], None]
"""Called with one line per page."""


class Build:
    """One build: it continues an earlier one in the same folder, whose responses are cached in ``.build/``.

    Raises DatasetError: the folder holds a data set from elsewhere.
    """

    def __init__(
        self, folder: Path, *parts: str, services: Wikimedia | None = None, on_progress: Progress | None = None
    ) -> None:
        self.folder = folder_to_build(folder, *parts)
        self.services = services or Wikimedia()
        self.answers = AnswerCache(self.folder)
        self.wiki = MediaWiki(self.services, self.answers)
        self._on_progress = on_progress or (lambda _: None)
        self._left_out: list[tuple[str, str]] = []

    def drawn(self, titles: Iterable[str], seed: int) -> list[CurrentPage]:
        """The pages of titles in an order that the seed decides."""
        return shuffled(self.wiki.current(titles), seed, lambda page: page.number)

    def taken(
        self,
        pages: Iterable[CurrentPage],
        examine: Callable[[CurrentPage], T | str],
        described: Callable[[T], str],
        at_most: int | None,
    ) -> Iterator[T]:
        """What qualifies, in the order of the pages, until there is enough; the other pages are recorded.

        Args:
            examine: returns what the build takes of a page, or why it is left out; a page that has gone is left out.
            described: what progress says of it after "taken", such as ``with 7 pages``.
            at_most: maximum number taken; None for all.
        """
        found = 0
        for page in pages:
            if found == at_most:
                return
            try:
                one = examine(page)
            except PageGoneError:
                one = "deleted"
            if isinstance(one, str):
                self._left_out.append((page.title, one))
                self._on_progress(f"{page.title}: left out, {one}")
                continue
            found += 1
            self._on_progress(f"{page.title}: taken {described(one)}")
            yield one

    def reasons(self) -> str:
        """Why pages were left out, most frequent first, such as ``3 × list, 1 × deleted``."""
        counts = Counter(reason for _, reason in self._left_out)
        return ", ".join(f"{count} × {reason}" for reason, count in counts.most_common()) or "there were no candidates"

    def provenance(self, form: str, plan: dict[str, Any], topics: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
        """Where the data set comes from, as JSON values: plan, revisions, and the pages left out with the reasons."""
        return {
            "form": form,
            "made_by": f"storm-pipeline/{__version__}",
            "plan": plan,
            "wikipedia": self.services.project,
            **more,
            "topics": topics,
            "excluded": [{"title": title, "reason": reason} for title, reason in sorted(self._left_out)],
        }
