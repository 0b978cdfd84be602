"""The plan of a new FreshWiki: months, limits, and the quality judge."""

import re
from dataclasses import dataclass
from typing import Literal

from storm_bench.datasets.current_page import CurrentPage
from storm_bench.datasets.wiki_page import WikiPage
from storm_pipeline import DatasetError

Quality = Literal["auto", "lift-wing", "features"]
"""Quality judge: Lift Wing with a fallback where it fails (auto), Lift Wing only, or the fallback only."""

_LIST = re.compile(
    r"(?:lists?|index|outline|glossary|timeline|chronology|bibliography|discography|filmography) of\b|deaths in \d{4}"
    r"|.*\b(?:discography|filmography|bibliography|list of episodes)$",
    re.I,
)
_LIST_DESCRIPTION = re.compile(r"wikimedia list article|wikipedia list article|list of\b", re.I)
_MAX_LIST_RATIO = 3


@dataclass(frozen=True)
class FreshWikiPlan:
    """A data set to build; reproducible for equal service responses."""

    months: tuple[str, ...]  # such as ``2024-01``; their most edited pages are the candidates
    size: int | None = 100  # maximum number of topics, sampled from those that qualify, as in the paper; None for all
    max_words: int = 3000  # maximum words of an article; 3,000 in the paper's experiments
    seed: int = 0  # seed of the sample
    quality: Quality = "auto"  # the quality judge
    history_points: int = 0  # revisions per article whose references are counted (Figure 4), >= 0; 0 skips histories

    def __post_init__(self) -> None:
        if not self.months:
            raise DatasetError("no months given; name them as 2024-01")
        if (self.size is not None and self.size < 1) or self.max_words < 1 or self.history_points < 0:
            raise DatasetError("size and max_words must be at least 1 and history_points at least 0")

    def page_rejection(self, page: CurrentPage) -> str | None:
        """Why a page is rejected by its metadata; None if it may qualify."""
        return non_article_reason(page)

    def text_rejection(self, page: WikiPage) -> str | None:
        """Why an article is rejected by its content; None if it may qualify."""
        if page.features.words > self.max_words:
            return f"over {self.max_words} words"
        if not page.features.words or page.features.list_words > _MAX_LIST_RATIO * page.features.words:
            return "list"
        if not page.features.subsections:
            return "no subsections"
        return None


def non_article_reason(page: CurrentPage) -> str | None:
    """Why a page is not a prose article, by namespace, title and description; None if it may be one."""
    if page.namespace != 0:
        return "no article"
    if page.is_disambiguation:
        return "disambiguation"
    if _LIST.match(page.title) or _LIST_DESCRIPTION.search(page.description):
        return "list"
    return None
