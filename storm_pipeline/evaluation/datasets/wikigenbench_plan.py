"""What a new WikiGenBench is to be: candidates, and the bounds that the papers set (v1, section 2.2)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from storm_pipeline.errors import DatasetError
from storm_pipeline.evaluation.datasets.documents import is_usable
from storm_pipeline.evaluation.datasets.freshwiki_plan import refuses_page
from storm_pipeline.evaluation.datasets.mediawiki import CurrentPage
from storm_pipeline.evaluation.datasets.wiki_page import WikiPage
from storm_pipeline.evaluation.types import Document
from storm_pipeline.identity import canonical_url

_DAY = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True)
class WikiGenBenchPlan:
    """A data set to build; the same plan over the same answers gives the same data set.

    Attributes:
        months: each as ``2024-01``; their most edited pages are candidates.
        titles: further candidates, e.g. of a category or a list of new articles.
        size: topics at most, taken by chance among those that qualify; None for all.
        seed: of the choice.
        events_only: whether the article must be about an event, as Wikidata has it.
        created_after: day as ``2024-01-31`` after which the article must have been begun, so that a model cannot have
            read it; empty for any.
        min_words: of its prose, lead included.
        max_words: likewise.
        min_links: distinct pages that editors cite.
        max_links: likewise.
        min_fetched: share of them of which more must be had, in [0, 1).
        search_results: pages that a search for the title adds at most, >= 0.
    """

    months: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    size: int | None = 100
    seed: int = 0
    events_only: bool = True
    created_after: str = ""
    min_words: int = 1000
    max_words: int = 3000
    min_links: int = 10
    max_links: int = 100
    min_fetched: float = 0.4
    search_results: int = 10

    def __post_init__(self) -> None:
        if not self.months and not self.titles:
            raise DatasetError("a data set needs candidates: name months as 2024-01, or titles of articles")
        if self.created_after and not _DAY.fullmatch(self.created_after):
            raise DatasetError(f"{self.created_after!r} is no day; write it as 2024-01-31")
        if (self.size is not None and self.size < 1) or not 0 <= self.min_fetched < 1 or self.search_results < 0:
            raise DatasetError("size begins at 1, min_fetched lies in [0, 1), search_results begins at 0; correct them")

    def refuses(self, page: CurrentPage) -> str | None:
        """Why a page is no topic, as far as it tells without being read; None if it may be one."""
        return refuses_page(page)

    def refuses_text(self, page: WikiPage) -> str | None:
        """Why an article is no topic by what it holds; None if it may be one."""
        if not self.min_words <= page.features.words <= self.max_words:
            return f"not of {self.min_words} to {self.max_words} words"
        if not page.features.sections:
            return "no sections"
        if not self.min_links <= len(links(page)) <= self.max_links:
            return f"not of {self.min_links} to {self.max_links} links"
        return None

    def refuses_documents(self, cited: Sequence[Document]) -> str | None:
        """Why an article is no topic by how many of its references could be had; None if it is one."""
        had = sum(map(is_usable, cited))
        return None if had > self.min_fetched * len(cited) else f"{self.min_fetched:.0%} of its links or fewer were had"


def links(page: WikiPage) -> tuple[Document, ...]:
    """The pages that editors cite, each once, in order."""
    cited = {canonical_url(one.url): one for one in reversed(list(page.citations.values())) if one.url}
    return tuple(reversed(cited.values()))
