"""Check of a caller's article with its sources, as by ``storm check --json``."""

import json
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, StrictBool

from storm_pipeline.errors import DatasetError, PageError, SettingsError
from storm_pipeline.evidence.judges.base import Judge
from storm_pipeline.evidence.judges.capped import MAX_COST
from storm_pipeline.evidence.judges.opening import open_judge
from storm_pipeline.evidence.page_reading import kept_pages
from storm_pipeline.interfaces.server.errors import TooLargeError
from storm_pipeline.interfaces.server.places import caller_name, make_places
from storm_pipeline.interfaces.server.remote_settings import Order
from storm_pipeline.interfaces.server.run_queue import RunQueue
from storm_pipeline.models.prices import known_price
from storm_pipeline.output.check import CheckedArticle, check_article, read_for_check
from storm_pipeline.output.check.judging import Status
from storm_pipeline.output.check.reading import Read
from storm_pipeline.output.check.report import to_record
from storm_pipeline.run.concurrency import require_wanted
from storm_pipeline.run.events import CallbackSink, Events
from storm_pipeline.settings import Settings
from storm_pipeline.sources.pages.extract import Page

MOST_SENTENCES, MOST_PAGES = 500, 50  # of an article that is checked; fetched for it
MOST_CHARACTERS = 1_000_000  # of the article, of the text of a page, and of the passages that a judge reads
MOST_COMPARED = 5_000_000  # characters of sentences and passages, for each citation
MOST_WAITING = 4  # checks besides one: each holds one of the server's threads


class SentPage(BaseModel, extra="forbid"):
    """A page that the article cites, identified by its address."""

    url: str = Field(min_length=1, max_length=2000)
    title: str = Field(default="", max_length=1000)
    text: str = Field(description=f"Its text, of at most {MOST_CHARACTERS:,} characters.")


_EXAMPLE: Any = {
    "title": "Orrin dam",
    "markdown": "The dam was finished in 1926.[^1]\n\n[^1]: https://example.org/orrin\n",
    "sources": [{"url": "https://example.org/orrin", "title": "Orrin", "text": "The dam was finished in 1926."}],
}


class CheckOrder(Order, json_schema_extra={"examples": [_EXAMPLE]}):
    """The body of a request to check an article."""

    markdown: str = Field(
        description=f"The article, with footnotes or numbers of references; at most {MOST_CHARACTERS:,} characters."
    )
    title: str = Field(default="", max_length=300)
    sources: list[SentPage] = Field(default_factory=list, max_length=500, description="Pages that it cites.")
    fetch: StrictBool = Field(default=False, description="Fetch cited pages that were not sent.")


class CitedPassage(BaseModel):
    """A passage that a sentence cites."""

    number: int = Field(description="Number of the source.")
    passage: str
    spans: list[list[int]] = Field(description="Start and end, in characters, of the words of it that decided.")


class SentenceRecord(BaseModel):
    """A sentence and the verdict on it."""

    sentence: int = Field(description="Its number, from 1.")
    heading: str = Field(description="The innermost heading above it; empty in the lead.")
    text: str
    verdict: Status
    reason: str = Field(description="What is missing or contradicted; may be empty.")
    sources: list[CitedPassage]


class CitedSource(BaseModel):
    """A source that the article cites."""

    number: int
    title: str
    url: str
    also: list[str] = Field(description="Other addresses of the same text.")
    unread: str | None = Field(description="Why it was not read; null if it was.")
    rated: str = Field(description="Why Wikipedia's list of perennial sources is against it; empty if it is not.")
    gone: str = Field(description="Why its page no longer exists; empty if it does, or was not fetched.")
    archive: str = Field(description="Address of an archived copy that the article gives; may be empty.")
    cited: str = Field(description="Address in the article that led to this one, of another site; else empty.")
    held: bool = Field(description="Whether only the article has its passages, and its page was not read.")


class CheckRecord(BaseModel):
    """The result of a check, as printed by `storm check --json`."""

    schema_: int = Field(alias="schema", description="Version of this form.")
    title: str
    summary: str = Field(description="Counts in words, and whether anything was read for support.")
    judge: str
    read: int = Field(description="How many sentences a judge read for support; if none, no verdict is about support.")
    support: float | None = Field(description="Share of the sentences read that are supported; null if none was read.")
    counts: dict[Status, int] = Field(description="How many sentences have each verdict.")
    sentences: list[SentenceRecord]
    sources: list[CitedSource]


def judge_of_checks(settings: Settings) -> str:
    """Return the owner's judge of articles, or ``screen`` for a model of unknown price, on which no cap can be kept."""
    name = settings.judge_of_articles
    return "screen" if name == "model" and known_price(settings.lm_of("judge"), settings) is None else name


class ArticleCheck:
    """Checks of articles by the owner's judge, several at once: texts of all are embedded in turns.

    A language model's calls count in the caller's budget and the server's. Where these have no money for them, or its
    price is unknown, the screen compares words and digits. Articles and pages are read before, so that a slow page only
    delays its own check.
    """

    def __init__(self, queue: RunQueue, owner: Settings) -> None:
        self._queue, self._settings = queue, owner
        self._judge: Judge | None = None  # in this process
        self._opening = threading.Lock()
        self._places = make_places("checks", 1 + MOST_WAITING)

    def record(self, markdown: str, title: str, sources: Sequence[SentPage], *, fetch: bool) -> dict[str, Any]:
        """Return the findings of a check, as printed by ``storm check --json``.

        ``fetch``: whether cited pages that were not sent are fetched, as pages are in a run; no private address is.

        Raises TooLargeError: a text is too long; BusyError: as many checks wait as may; SettingsError, DatasetError:
        the article has too many sentences or cannot be read. Others as `open_judge`.
        """
        if max(map(len, (markdown, *(source.text for source in sources)))) > MOST_CHARACTERS:
            raise TooLargeError(f"the article and each text of a page may have {MOST_CHARACTERS:,} characters")
        if markdown.count("|") + markdown.count("\n") > 20 * MOST_SENTENCES:  # another process reads it, not its answer
            raise TooLargeError(f"the article may have {20 * MOST_SENTENCES:,} lines and cells of tables")
        with self._places.hold(caller_name()):
            return self._check(markdown, title, sources, fetch=fetch)

    def _check(self, markdown: str, title: str, sources: Sequence[SentPage], *, fetch: bool) -> dict[str, Any]:
        length = sum(1 for _ in _read(markdown, title, (), None).article.sentences())  # cheap without sources
        if length > MOST_SENTENCES:
            raise SettingsError(f"the article has {length} sentences: send at most {MOST_SENTENCES} at once")
        read = _read(markdown, title, sources or None, self._page_fetcher() if fetch else None)
        article = replace(read.article, title=title)

        def check(judge: Judge) -> CheckedArticle:
            checked = check_article(article, judge, read.unread, most=MOST_COMPARED, most_read=MOST_CHARACTERS)
            return replace(checked, notes=read.notes)

        name = judge_of_checks(self._settings)
        if name == "model":
            cap = min(MAX_COST, self._settings.max_cost or MAX_COST)
            with self._queue.reserving(cap) as reserved:
                if reserved:
                    settings = self._settings.model_copy(update={"max_cost": reserved.most or cap})
                    checked = check(open_judge("model", settings, events=Events(CallbackSink(reserved.count))))
                    if checked.read or not checked.counts["unjudged"]:
                        return to_record(checked)
            name = "screen"
        with self._opening:
            self._judge = self._judge or open_judge(name, self._settings)
        return to_record(check(self._judge))

    def _page_fetcher(self) -> Callable[[str], Page]:
        """Return a function that fetches pages as a run does, up to the limit of a check.

        It raises StoppedError once nobody waits for the check.
        """
        pages = kept_pages(self._settings)
        left = threading.Semaphore(MOST_PAGES)

        def fetch(url: str) -> Page:
            require_wanted()
            if not left.acquire(blocking=False):
                raise PageError(f"{url} was not fetched: a check fetches {MOST_PAGES} pages at most")
            return pages(url)

        return fetch


def _read(markdown: str, title: str, sources: Sequence[SentPage] | None, fetch: Callable[[str], Page] | None) -> Read:
    """Return the article with its sources, or raise DatasetError if it cannot be read."""
    article: dict[str, Any] = {"title": title, "markdown": markdown}
    if sources is not None:  # else the list in the Markdown counts
        article["sources"] = [source.model_dump() for source in sources]
    with tempfile.TemporaryDirectory(prefix="storm-") as place:
        file = Path(place) / "article.json"
        file.write_text(json.dumps(article), encoding="utf-8")
        try:
            return read_for_check(file, None, fetch, MOST_COMPARED)
        except DatasetError as error:
            raise DatasetError(str(error).replace(str(file), "the article")) from error
