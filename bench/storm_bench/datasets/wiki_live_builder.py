"""Builds a new round of Wiki Live Challenge: articles that became Good Articles in given months.

Departures from the benchmark: a statement is a whole sentence of the article, behind the titles of article and section
in place of resolved pronouns, not a fact in a language model's words; the pages are those that editors cite and,
optionally, that a search finds, not those that other systems cited; there are no other systems' articles.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from unicodedata import normalize

from storm_bench.datasets.building import Build
from storm_bench.datasets.built import file_name
from storm_bench.datasets.dataset import DataSet
from storm_bench.datasets.leakage import without_copies
from storm_bench.datasets.mediawiki import CurrentPage, PageGoneError
from storm_bench.datasets.usable_documents import usable
from storm_bench.datasets.wiki_live import NAME
from storm_bench.datasets.wiki_page import WikiPage, read_page
from storm_bench.datasets.wikimedia import first_second
from storm_bench.types import HumanArticle, Topic, TopicDocument
from storm_pipeline import DatasetError
from storm_pipeline.api import is_complete, repeats_wikipedia, words

_CATEGORY = "Good articles"
_MIN_CHARACTERS = 500  # minimum length of a page's text
_QUOTED = re.compile(r"[\"“„«][^\"“”„«»]*[\"”“»]")
_MIN_UNQUOTED = 4  # minimum words outside quotation marks; fewer are a quotation and its speaker
_WORDS = range(6, 61)  # of a statement
_SECOND = timedelta(seconds=1)


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
        if unfinished := [start for start in self.calendar() if _next(start) > datetime.now(UTC)]:
            raise DatasetError(f"{unfinished[0]:%Y-%m} is not over: its revisions are not final; name earlier months")
        least = (self.statements, self.min_pages, 1 if self.per_month is None else self.per_month)
        if min(least) < 1 or self.min_words < 0 or self.search_results < 0:
            raise DatasetError(
                "per_month, statements and min_pages must be at least 1, min_words and search_results at least 0"
            )

    def calendar(self) -> list[datetime]:
        """Return the first seconds of the distinct months, in order."""
        return sorted(set(map(first_second, self.months)))

    def text_rejection(self, page: WikiPage) -> str | None:
        """Return why an article is rejected by its content; None if it may qualify."""
        if page.features.words < self.min_words:
            return f"under {self.min_words} words"
        return None if page.features.sections else "no sections"


def build_wiki_live(plan: WikiLivePlan, build: Build) -> DataSet:
    """Build a round of Wiki Live, month by month; an interrupted build continues when it is run again.

    Raises DatasetError: a service failed for good, nothing qualified, or the folder cannot be written.
    """
    topics: list[Topic] = []
    for month in plan.calendar():
        joined = build.wiki.members(f"Category:{_CATEGORY}", _iso(month), _iso(_next(month) - _SECOND))
        examine = partial(_examined, plan, build, month)
        topics += build.taken(build.drawn(joined, plan.seed), examine, plan.per_month)
    return build.written(NAME, plan, topics)


def _examined(plan: WikiLivePlan, build: Build, month: datetime, page: CurrentPage) -> Topic | str:
    """Return the topic of a page, or why it is left out."""
    page = build.wiki.at(page, _iso(_next(month) - _SECOND))
    if not _is_good(build, page):
        return "no Good Article at the month's end"
    if _was_good(build, page, _iso(month - _SECOND)):
        return "a Good Article before the month"
    read = read_page(build.wiki.html(page), page.title, page.url)
    if reason := plan.text_rejection(read):
        return reason
    statements = statements_of(read.article)
    if not statements:
        return "no statements"
    cited = build.pages.fetch_documents([link for link in read.links() if not repeats_wikipedia(link.url)])
    found = build.pages.search_documents(page.title, plan.search_results)
    human = replace(read.article, statements=spread(statements, plan.statements))
    whole = Topic(file_name(page.title), page.title, human, _pages_with_text([*cited, *found]))
    held = [document.origin for document in without_copies(whole).documents]
    if len(held) < plan.min_pages:
        return f"under {plan.min_pages} pages with text"
    facts = {"month": f"{month:%Y-%m}", "words": read.features.words}
    numbers = {"statements": len(human.statements), "statements_in_article": len(statements)}
    return build.entered(
        page, whole, **facts, **numbers, cited_pages=held.count("human"), found_pages=held.count("search")
    )


def _is_good(build: Build, page: CurrentPage) -> bool:
    return _CATEGORY in build.wiki.categories(page)


def _was_good(build: Build, page: CurrentPage, time: str) -> bool:
    """Return whether the page was a Good Article at a time; one that left the category for a day joins it again."""
    try:
        return _is_good(build, build.wiki.at(page, time))
    except PageGoneError:
        return False


def _pages_with_text(documents: Sequence[TopicDocument]) -> tuple[TopicDocument, ...]:
    """Return the usable pages with at least 500 characters, in order, each once, without Wikipedia and its mirrors."""
    own = (document for document in documents if not repeats_wikipedia(document.url))
    return usable(document for document in own if len(document.text) >= _MIN_CHARACTERS)


def statements_of(article: HumanArticle) -> tuple[str, ...]:
    """Return the distinct statements of an article's body in order: complete sentences of 6 to 60 words in context.

    Left out are questions, mere quotations, and the lead, which repeats the body.
    """
    found: dict[tuple[str, ...], str] = {}
    for part in (part for section in article.sections for part in section.walk()):
        for sentence in part.sentences:
            if _is_statement(sentence.text):
                key = tuple(normalize("NFKC", sentence.text).casefold().split())
                found.setdefault(key, f"{article.title}, {part.heading}: {sentence.text}")
    return tuple(found.values())


def spread(statements: Sequence[str], most: int) -> tuple[str, ...]:
    """Return at most ``most`` statements, evenly spaced over the text, in order."""
    kept = min(most, len(statements))
    return tuple(statements[index * len(statements) // kept] for index in range(kept))


def _is_statement(sentence: str) -> bool:
    if len(words(sentence)) not in _WORDS or not is_complete(sentence):
        return False
    return not sentence.endswith("?") and len(words(_QUOTED.sub("", sentence))) >= _MIN_UNQUOTED


def _next(month: datetime) -> datetime:
    """Return the first second of the month after."""
    return (month + timedelta(days=31)).replace(day=1)


def _iso(time: datetime) -> str:
    return f"{time:%Y-%m-%dT%H:%M:%SZ}"
