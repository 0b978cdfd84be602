"""What a new FreshWiki is to be: months, bounds, and who judges quality."""

import re
from dataclasses import dataclass
from typing import Literal

from storm_pipeline.errors import DatasetError
from storm_pipeline.evaluation.datasets.mediawiki import CurrentPage
from storm_pipeline.evaluation.datasets.wiki_page import WikiPage

Quality = Literal["auto", "lift-wing", "features"]
"""Who judges: Lift Wing with a stand-in where it cannot be asked (auto), it alone, or the stand-in alone."""

_LIST = re.compile(
    r"(?:lists?|index|outline|glossary|timeline|chronology|bibliography|discography|filmography) of\b|deaths in \d{4}"
    r"|.*\b(?:discography|filmography|bibliography|list of episodes)$",
    re.I,
)
_LIST_DESCRIPTION = re.compile(r"wikimedia list article|wikipedia list article|list of\b", re.I)
_MOSTLY = 3


@dataclass(frozen=True)
class FreshWikiPlan:
    """A data set to build; the same plan over the same answers gives the same data set.

    Attributes:
        months: each as ``2024-01``; their most edited pages are looked at.
        size: topics at most; taken by chance among those that qualify, as the paper does. None for all.
        max_words: the longest article in words; the paper's experiments have 3,000.
        seed: of the choice.
        quality: who judges it.
        history_points: revisions of each article whose references are counted (Figure 4), >= 0; 0 builds no histories.
    """

    months: tuple[str, ...]
    size: int | None = 100
    max_words: int = 3000
    seed: int = 0
    quality: Quality = "auto"
    history_points: int = 0

    def __post_init__(self) -> None:
        if not self.months:
            raise DatasetError("a data set of no months is empty; name them as 2024-01")
        if (self.size is not None and self.size < 1) or self.max_words < 1 or self.history_points < 0:
            raise DatasetError("size and max_words begin at 1 and history_points at 0; correct them")

    def refuses(self, page: CurrentPage) -> str | None:
        """Why a page is no topic, as far as it tells without being read; None if it may be one."""
        return refuses_page(page)

    def refuses_text(self, page: WikiPage) -> str | None:
        """Why an article is no topic by what it holds; None if it may be one."""
        if page.features.words > self.max_words:
            return f"over {self.max_words} words"
        if not page.features.words or page.features.list_words > _MOSTLY * page.features.words:
            return "list"
        if not page.features.subsections:
            return "no subsections"
        return None


def refuses_page(page: CurrentPage) -> str | None:
    """Why a page is no article with prose of its own, by its namespace, title and description; None if it may be."""
    if page.namespace != 0:
        return "no article"
    if page.is_disambiguation:
        return "disambiguation"
    if _LIST.match(page.title) or _LIST_DESCRIPTION.search(page.description):
        return "list"
    return None
