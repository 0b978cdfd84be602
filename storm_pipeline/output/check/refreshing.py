"""Compares an article's sources with their pages today: which sentences have lost the words that support them."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from storm_pipeline.evidence.editions import with_sentences
from storm_pipeline.evidence.judges.base import Judge
from storm_pipeline.output.articles.pages import AvailablePages, Reference
from storm_pipeline.output.check.judging import Checked, check_article
from storm_pipeline.output.check.reading import PASSAGES, WORKERS, joined_text, read_page
from storm_pipeline.run.concurrency import parallel_map
from storm_pipeline.sources.documents.document import Document
from storm_pipeline.sources.documents.reader import read_documents, stays_below
from storm_pipeline.sources.pages.extract import Page
from storm_pipeline.text.identity import source_id
from storm_pipeline.text.plain import web_address
from storm_pipeline.text.words import tidy
from storm_pipeline.types import Article, Citation, Sentence, Snippet, Source

_FILE = "file:"
NOT_NAMED = "a file in none of the named folders"
"""Reason why a file was not read: its folder was not named."""


@dataclass(frozen=True)
class Change:
    """A sentence one of whose passages has changed or could not be read."""

    place: int  # among all sentences of the article in reading order, from 0
    text: str  # the sentence
    kind: Literal["changed", "unread"]  # the page no longer has the words, or could not be read
    source: str  # address of the page
    reason: str = ""  # why it could not be read; empty for ``changed``


@dataclass(frozen=True)
class Refreshed:
    """An article and what its sources say today."""

    changes: tuple[Change, ...]  # in reading order; empty where all pages have the words
    # the article whose sentences with a changed passage cite what their pages have now, judged anew
    checked: Checked
    uncompared: int  # number of citations of a search engine's words, which pages need not have

    @property
    def failing(self) -> frozenset[int]:
        """Places of the changed sentences that their pages do not support any more."""
        return frozenset(own.place for own in self.checked.failing({"partly", "not", "contradicted"}))


def refresh(article: Article, judge: Judge, fetch: Callable[[str], Page], folders: Sequence[Path] = ()) -> Refreshed:
    """Read the cited pages again, and compare the words that support the sentences; raises as the judge.

    Args:
        fetch: URL → page as it is now; raises PageError.
        folders: only files in them are read, since an article may come from somebody else, and name any file of this
            machine as a source; links out of them are not followed.
    """
    snippets = {own.id: own for source in article.sources for own in source.snippets}
    by_id = {own.id: own for own in article.sources}
    cited = (own for sentence in article.sentences() for own in sentence.citations)
    also = {own.id: frozenset(map(source_id, own.also)) for own in article.sources}
    page_of = {own: _page_of(by_id[own.source_id], also, snippets.get(own.snippet_id)) for own in cited}
    sources = {page.id: page for page in page_of.values()}
    read = parallel_map(partial(_read_again, fetch, folders), sources.values(), workers=WORKERS)
    now = dict(zip(sources, read, strict=True))
    pages = AvailablePages((own for own in now.values() if isinstance(own, Reference)), PASSAGES)
    folded = {name: tidy(own.text).casefold() for name, own in now.items() if isinstance(own, Reference)}
    changes: list[Change] = []
    fresh: dict[str, Snippet] = {}
    uncompared = 0

    def citations(place: int, sentence: Sentence) -> Iterable[Citation]:
        nonlocal uncompared
        for own in sentence.citations:
            snippet, name = snippets.get(own.snippet_id), page_of[own].id
            page = now[name]
            if snippet is None or (name in folded and _has(folded[name], snippet, own)):
                yield own
            elif snippet.origin != "page" and not snippet.url.startswith(_FILE):
                uncompared += 1
                yield own
            elif isinstance(page, str):
                changes.append(Change(place, sentence.text, "unread", snippet.url, page))
                yield own
            else:
                changes.append(Change(place, sentence.text, "changed", snippet.url))
                for passage in pages.passages(sentence.text, page):
                    found = replace(snippet, text=passage.text, page=None, page_label=None, heading="", place=None)
                    fresh[passage.id] = found
                    yield Citation(own.source_id, found.id)

    places = count()

    def sentence(own: Sentence) -> Sentence:
        found = tuple(dict.fromkeys(citations(next(places), own)))
        return own if found == own.citations else replace(own, citations=found)

    updated = _with_snippets(with_sentences(article, sentence), tuple(fresh.values()))
    changed = {own.place for own in changes if own.kind == "changed"}
    return Refreshed(tuple(changes), check_article(updated, judge, only=changed), uncompared)


def _page_of(source: Source, also: Mapping[str, Collection[str]], snippet: Snippet | None) -> Source:
    """Return the page that a cited passage is from: one of a source's other addresses, or the source's own."""
    if snippet is None or snippet.source_id not in also[source.id]:
        return source
    return Source(snippet.source_id, snippet.url, snippet.title)


def _read_again(fetch: Callable[[str], Page], folders: Sequence[Path], source: Source) -> Reference | str:
    """Read a source as it is now; return the reason if it cannot be read."""
    if web_address(source.url):
        return read_page(Reference(source.url, source.title), fetch)
    if not source.url.startswith(_FILE):
        return "it is neither a page of the web nor a file"
    file = Path(unquote(urlsplit(source.url).path))
    if not any(stays_below(file, folder) for folder in folders):
        return NOT_NAMED
    found = read_documents(file) if file.is_file() else ()
    pages = [page for own in found if isinstance(own, Document) for page in own.pages]
    return Reference(source.url, source.title, joined_text(pages)) if pages else "the file is gone or unreadable"


def _has(page: str, snippet: Snippet, citation: Citation) -> bool:
    """Return whether a page has the words that support a sentence, or all of the passage where they are not known."""
    parts = [snippet.text[start:end] for start, end in citation.spans] or [snippet.text]
    return all(tidy(part).casefold() in page for part in parts)


def _with_snippets(article: Article, fresh: Sequence[Snippet]) -> Article:
    by_page: dict[str, list[Snippet]] = {}
    for new in fresh:
        by_page.setdefault(new.source_id, []).append(new)

    def updated(own: Source) -> Source:
        pages = dict.fromkeys([own.id, *map(source_id, own.also)])
        added = [new for page in pages for new in by_page.get(page, ())]
        return replace(own, snippets=tuple(dict.fromkeys([*own.snippets, *added])))

    return replace(article, sources=tuple(map(updated, article.sources)))
