"""Looks at an article's sources again: which sentences rest on words that their pages no longer have."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from storm_pipeline.check.judging import Checked, check_article
from storm_pipeline.check.reading import PASSAGES, WORKERS, joined_text, read_page
from storm_pipeline.concurrency import parallel_map
from storm_pipeline.documents.articles.pages import AvailablePages, Reference
from storm_pipeline.documents.document import Document
from storm_pipeline.documents.plain import web_address
from storm_pipeline.documents.reader import read_documents, stays_below
from storm_pipeline.identity import source_id
from storm_pipeline.judges.base import Judge
from storm_pipeline.pages.extract import Page
from storm_pipeline.references.changing import with_sentences
from storm_pipeline.text.words import tidy
from storm_pipeline.types import Article, Citation, Sentence, Snippet, Source

_FILE = "file:"
NOT_NAMED = "a file in none of the named folders"
"""Why a file was not read: nobody named its folder."""


@dataclass(frozen=True)
class Change:
    """A sentence one of whose passages is not as it was.

    Attributes:
        place: among all sentences of the article in reading order, from 0.
        text: the sentence.
        kind: ``changed`` (the page no longer has the words) or ``unread`` (the page could not be read).
        source: address of the page.
        reason: why it could not be read; empty for ``changed``.
    """

    place: int
    text: str
    kind: Literal["changed", "unread"]
    source: str
    reason: str = ""


@dataclass(frozen=True)
class Refreshed:
    """An article and what its sources say today.

    Attributes:
        changes: in reading order; empty where all pages have the words.
        checked: the article whose sentences with a ``changed`` passage cite what their pages have now, judged anew; all
            other sentences are as they were.
        uncompared: number of citations of a search engine's words, which pages need not have.
    """

    changes: tuple[Change, ...]
    checked: Checked
    uncompared: int

    @property
    def failing(self) -> frozenset[int]:
        """Places of the changed sentences that their pages do not support any more."""
        return frozenset(own.place for own in self.checked.failing({"partly", "not", "contradicted"}))


def refresh(article: Article, judge: Judge, fetch: Callable[[str], Page], folders: Sequence[Path] = ()) -> Refreshed:
    """Read the cited pages again, and compare the words that the sentences rest on.

    An article may come from somebody else, and name any file of this machine as a source. Only files in ``folders``
    are read.

    Args:
        fetch: URL → page as it is now; raises PageError.
        folders: folders whose files may be read, those below included; links out of them are not followed.

    Raises as :meth:`storm_pipeline.judges.base.Judge.judge`.
    """
    snippets = {own.id: own for source in article.sources for own in source.snippets}
    by_id = {own.id: own for own in article.sources}
    cited = (own for sentence in article.sentences() for own in sentence.citations)
    page_of = {own: _page_of(by_id[own.source_id], snippets.get(own.snippet_id)) for own in cited}
    sources = {page.id: page for page in page_of.values()}
    read = parallel_map(partial(_read_again, fetch, folders), sources.values(), workers=WORKERS)
    now = dict(zip(sources, read, strict=True))
    pages = AvailablePages((own for own in now.values() if isinstance(own, Reference)), PASSAGES)
    folded = {name: _folded(own.text) for name, own in now.items() if isinstance(own, Reference)}
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
                    fresh[passage.id] = replace(
                        snippet, text=passage.text, page=None, page_label=None, heading="", place=None
                    )
                    yield Citation(own.source_id, fresh[passage.id].id)

    places = count()

    def sentence(own: Sentence) -> Sentence:
        found = tuple(dict.fromkeys(citations(next(places), own)))
        return own if found == own.citations else replace(own, citations=found)

    updated = _with_snippets(with_sentences(article, sentence), tuple(fresh.values()))
    changed = {own.place for own in changes if own.kind == "changed"}
    return Refreshed(tuple(changes), check_article(updated, judge, only=changed), uncompared)


def _page_of(source: Source, snippet: Snippet | None) -> Source:
    """The page that a cited passage is from: one of a source's other addresses, or the source's own."""
    if snippet is None or not _is_also_of(snippet, source):
        return source
    return Source(snippet.source_id, snippet.url, snippet.title)


def _is_also_of(snippet: Snippet, source: Source) -> bool:
    return any(source_id(url) == snippet.source_id for url in source.also)


def _read_again(fetch: Callable[[str], Page], folders: Sequence[Path], source: Source) -> Reference | str:
    """A source as it is now; says why where it cannot be read."""
    if source.url.startswith(_FILE):
        return _read_file(Path(unquote(urlsplit(source.url).path)), folders, source)
    if not web_address(source.url):
        return "it is neither a page of the web nor a file"
    return read_page(Reference(source.url, source.title), fetch)


def _read_file(file: Path, folders: Sequence[Path], source: Source) -> Reference | str:
    if not any(stays_below(file, folder) for folder in folders):
        return NOT_NAMED
    found = read_documents(file) if file.is_file() else ()
    pages = [page for own in found if isinstance(own, Document) for page in own.pages]
    return Reference(source.url, source.title, joined_text(pages)) if pages else "the file is gone or unreadable"


def _folded(text: str) -> str:
    return tidy(text).casefold()


def _has(page: str, snippet: Snippet, citation: Citation) -> bool:
    """Whether a page has the words that carry a sentence; all of the passage where they are not known."""
    parts = [snippet.text[start:end] for start, end in citation.spans] or [snippet.text]
    return all(_folded(part) in page for part in parts)


def _with_snippets(article: Article, fresh: Sequence[Snippet]) -> Article:
    """The article whose sources have the passages of today too."""
    added = {
        own.id: [new for new in fresh if new.source_id == own.id or _is_also_of(new, own)] for own in article.sources
    }
    sources = (
        replace(own, snippets=tuple(dict.fromkeys([*own.snippets, *added[own.id]]))) if added[own.id] else own
        for own in article.sources
    )
    return replace(article, sources=tuple(sources))
