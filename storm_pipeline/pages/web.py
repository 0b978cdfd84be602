"""Web pages, fetched politely and safely, with their text extracted."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from storm_pipeline.pages.address_checks import Access
from storm_pipeline.pages.extract import Page, extract
from storm_pipeline.pages.fetch import fetch_page
from storm_pipeline.pages.robots import Politeness

if TYPE_CHECKING:
    from storm_pipeline.pages.connection import Limits


class WebPages:
    """URL → page: fetched from the public internet within limits, obeying robots.txt, and extracted. Thread-safe.

    Args:
        limits: time, size and redirects of a page.
        access: which addresses may be connected to; by default those of the public internet.
        politeness: applied to every request; by default robots.txt is obeyed.
    """

    def __init__(
        self, limits: "Limits | None" = None, access: Access | None = None, politeness: Politeness | None = None
    ) -> None:
        self._limits = limits
        self._access = access
        self._politeness = politeness or Politeness(limits, access)

    def __call__(self, url: str) -> Page:
        """Fetch and extract a page.

        Raises:
            PageError: it was not fetched, or contains no text.
        """
        page = extract(fetch_page(url, self._limits, self._access, self._politeness.visit))
        return replace(page, accessed=datetime.now(UTC).date().isoformat())
