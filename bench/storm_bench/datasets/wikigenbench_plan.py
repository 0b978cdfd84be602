"""The plan of a new WikiGenBench: candidates, and the papers' limits (v1, section 2.2)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from storm_bench.datasets.current_page import CurrentPage
from storm_bench.datasets.freshwiki_plan import non_article_reason
from storm_bench.datasets.usable_documents import is_usable
from storm_bench.datasets.wiki_page import WikiPage
from storm_bench.types import TopicDocument
from storm_pipeline import DatasetError
from storm_pipeline.api import canonical_url

_DATE = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True)
class WikiGenBenchPlan:
    """A data set to build; reproducible for equal service responses."""

    months: tuple[str, ...] = ()  # such as ``2024-01``; their most edited pages are candidates
    titles: tuple[str, ...] = ()  # further candidates, e.g. of a category or a list of new articles
    size: int | None = 100  # maximum number of topics, sampled from those that qualify; None for all
    seed: int = 0  # seed of the sample
    events_only: bool = True  # whether articles must be about events, according to Wikidata
    # date such as ``2024-01-31`` after which the article must have been created, so that no model can have read it;
    # empty for any
    created_after: str = ""
    min_words: int = 1000  # minimum words of prose, including the lead
    max_words: int = 3000  # maximum words of prose
    min_links: int = 10  # minimum number of distinct cited pages
    max_links: int = 100  # maximum number of distinct cited pages
    min_fetched: float = 0.4  # share of cited pages that must be exceeded by those fetched, in [0, 1)
    search_results: int = 10  # maximum pages added by a search for the title, >= 0

    def __post_init__(self) -> None:
        if not self.months and not self.titles:
            raise DatasetError("a data set needs candidates: name months as 2024-01, or titles of articles")
        if self.created_after and not _DATE.fullmatch(self.created_after):
            raise DatasetError(f"{self.created_after!r} is not a date; write it as 2024-01-31")
        if (self.size is not None and self.size < 1) or not 0 <= self.min_fetched < 1 or self.search_results < 0:
            raise DatasetError("size must be at least 1, min_fetched in [0, 1) and search_results at least 0")

    def page_rejection(self, page: CurrentPage) -> str | None:
        """Why a page is rejected by its metadata; None if it may qualify."""
        return non_article_reason(page)

    def text_rejection(self, page: WikiPage) -> str | None:
        """Why an article is rejected by its content; None if it may qualify."""
        if not self.min_words <= page.features.words <= self.max_words:
            return f"not of {self.min_words} to {self.max_words} words"
        if not page.features.sections:
            return "no sections"
        if not self.min_links <= len(links(page)) <= self.max_links:
            return f"not of {self.min_links} to {self.max_links} links"
        return None

    def documents_rejection(self, cited: Sequence[TopicDocument]) -> str | None:
        """Why an article is rejected by its fetched references; None if it qualifies."""
        fetched = sum(map(is_usable, cited))
        return (
            None
            if fetched > self.min_fetched * len(cited)
            else f"{self.min_fetched:.0%} of its links or fewer were fetched"
        )


def links(page: WikiPage) -> tuple[TopicDocument, ...]:
    """The distinct pages cited by editors, in order."""
    cited = {canonical_url(one.url): one for one in reversed(list(page.citations.values())) if one.url}
    return tuple(reversed(cited.values()))
