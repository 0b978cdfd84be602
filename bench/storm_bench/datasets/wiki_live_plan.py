"""The plan of a new round of Wiki Live: months, limits, and how many topics, statements and pages."""

from collections.abc import Sequence
from dataclasses import dataclass

from storm_bench.datasets.months import Month
from storm_bench.datasets.usable_documents import usable
from storm_bench.datasets.wiki_page import WikiPage
from storm_bench.types import TopicDocument
from storm_pipeline import DatasetError
from storm_pipeline.api import repeats_wikipedia

_MIN_CHARACTERS = 500  # minimum length of a page's text


@dataclass(frozen=True)
class WikiLivePlan:
    """A data set to build; reproducible for equal service responses."""

    months: tuple[str, ...]  # such as ``2026-09``, in which the articles became Good Articles; each must be over
    per_month: int | None = 20  # maximum number of topics of a month, sampled from those that qualify; None for all
    seed: int = 0  # seed of the sample
    min_words: int = 0  # minimum words of prose, including the lead
    statements: int = 150  # maximum statements of a topic, spread over its article, >= 1
    min_pages: int = 5  # minimum pages with text, >= 1; a topic with fewer cannot be written from its pages
    search_results: int = 10  # maximum pages added by a search for the title, >= 0

    def __post_init__(self) -> None:
        if not self.months:
            raise DatasetError("no months given; name them as 2026-09")
        if unfinished := [month for month in self.calendar() if not month.is_over()]:
            raise DatasetError(f"{unfinished[0]} is not over: its revisions are not final; name earlier months")
        least = (self.statements, self.min_pages, 1 if self.per_month is None else self.per_month)
        if min(least) < 1 or self.min_words < 0 or self.search_results < 0:
            raise DatasetError(
                "per_month, statements and min_pages must be at least 1, min_words and search_results at least 0"
            )

    def calendar(self) -> tuple[Month, ...]:
        """The distinct months, in order."""
        return tuple(sorted({Month.parse(month) for month in self.months}, key=str))

    def text_rejection(self, page: WikiPage) -> str | None:
        """Why an article is rejected by its content; None if it may qualify."""
        if page.features.words < self.min_words:
            return f"under {self.min_words} words"
        return None if page.features.sections else "no sections"

    def documents_rejection(self, documents: Sequence[TopicDocument]) -> str | None:
        """Why an article is rejected by its pages; None if it qualifies."""
        return None if len(documents) >= self.min_pages else f"under {self.min_pages} pages with text"


def pages_with_text(documents: Sequence[TopicDocument]) -> tuple[TopicDocument, ...]:
    """The usable pages with at least 500 characters, in order, each once, without Wikipedia and its mirrors."""
    own = (document for document in documents if not repeats_wikipedia(document.url))
    return usable(document for document in own if len(document.text) >= _MIN_CHARACTERS)
