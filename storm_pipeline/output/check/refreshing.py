"""Comparison of an article's sources with their current pages, to find sentences that lost their support."""

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
FAILING = frozenset({"partly", "not", "contradicted", "digits not found", "not found"})
"""Statuses of sentences that have lost their support."""
NOT_NAMED = "a file in none of the named folders"
"""Reason why a file was not read: its folder was not named."""


@dataclass(frozen=True)
class Change:
    """A sentence with a passage that has changed or could not be read."""

    place: int  # among all sentences of the article in reading order, from 0
    text: str  # the sentence
    kind: Literal["changed", "unread"]  # the page no longer has the words, or could not be read
    source: str  # address of the page
    reason: str = ""  # why it could not be read; empty for ``changed``


@dataclass(frozen=True)
class Refreshed:
    """An article compared with the current text of its sources."""

    changes: tuple[Change, ...]  # in reading order
    # the article; sentences with a changed passage cite current passages and are judged again
    checked: Checked
    uncompared: int  # number of citations of a search engine's text, which need not occur on the page

    @property
    def failing(self) -> frozenset[int]:
        """Places of the changed sentences that the judge, or the screen, faults now."""
        return frozenset(sentence.place for sentence in self.checked.failing(FAILING))


def refresh(article: Article, judge: Judge, fetch: Callable[[str], Page], folders: Sequence[Path] = ()) -> Refreshed:
    """Read the cited pages again and look for the supporting words; errors as for the judge.

    Args:
        fetch: URL → current page; raises PageError.
        folders: only files in them are read, since an untrusted article may name any file of this machine as a source;
            links out of them are not followed.
    """
    snippets = {snippet.id: snippet for source in article.sources for snippet in source.snippets}
    by_id = {source.id: source for source in article.sources}
    cited = (citation for sentence in article.sentences() for citation in sentence.citations)
    also = {source.id: frozenset(map(source_id, source.also)) for source in article.sources}
    page_of = {c: _page_of(by_id[c.source_id], also, snippets.get(c.snippet_id)) for c in cited}
    sources = {page.id: page for page in page_of.values()}
    read = parallel_map(partial(_read_again, fetch, folders), sources.values(), workers=WORKERS)
    now = dict(zip(sources, read, strict=True))
    pages = AvailablePages((page for page in now.values() if isinstance(page, Reference)), PASSAGES)
    folded = {name: tidy(page.text).casefold() for name, page in now.items() if isinstance(page, Reference)}
    changes: list[Change] = []
    fresh: dict[str, Snippet] = {}
    uncompared = 0

    def citations(place: int, sentence: Sentence) -> Iterable[Citation]:
        nonlocal uncompared
        for citation in sentence.citations:
            snippet, name = snippets.get(citation.snippet_id), page_of[citation].id
            page = now[name]
            if snippet is None or (name in folded and _has(folded[name], snippet, citation)):
                yield citation
            elif snippet.origin != "page" and not snippet.url.startswith(_FILE):
                uncompared += 1
                yield citation
            elif isinstance(page, str):
                changes.append(Change(place, sentence.text, "unread", snippet.url, page))
                yield citation
            else:
                changes.append(Change(place, sentence.text, "changed", snippet.url))
                for passage in pages.passages(sentence.text, page):
                    fresh_snippet = replace(
                        snippet, text=passage.text, page=None, page_label=None, heading="", place=None
                    )
                    fresh[passage.id] = fresh_snippet
                    yield Citation(citation.source_id, fresh_snippet.id)

    places = count()

    def sentence(before: Sentence) -> Sentence:
        cited = tuple(dict.fromkeys(citations(next(places), before)))
        return before if cited == before.citations else replace(before, citations=cited)

    updated = _with_snippets(with_sentences(article, sentence), tuple(fresh.values()))
    changed = {change.place for change in changes if change.kind == "changed"}
    return Refreshed(tuple(changes), check_article(updated, judge, only=changed), uncompared)


def _page_of(source: Source, also: Mapping[str, Collection[str]], snippet: Snippet | None) -> Source:
    """Return the page of a cited passage: at one of a source's other addresses, or at its main address."""
    if snippet is None or snippet.source_id not in also[source.id]:
        return source
    return Source(snippet.source_id, snippet.url, snippet.title)


def _read_again(fetch: Callable[[str], Page], folders: Sequence[Path], source: Source) -> Reference | str:
    """Read the current text of a source; return the reason if it cannot be read."""
    if web_address(source.url):
        return read_page(Reference(source.url, source.title), fetch)
    if not source.url.startswith(_FILE):
        return "it is neither a page of the web nor a file"
    file = Path(unquote(urlsplit(source.url).path))
    if not any(stays_below(file, folder) for folder in folders):
        return NOT_NAMED
    documents = read_documents(file) if file.is_file() else ()
    pages = [page for document in documents if isinstance(document, Document) for page in document.pages]
    return Reference(source.url, source.title, joined_text(pages)) if pages else "the file is gone or unreadable"


def _has(page: str, snippet: Snippet, citation: Citation) -> bool:
    """Return whether a page contains the supporting words of a citation, or the whole passage if they are unknown."""
    parts = [snippet.text[start:end] for start, end in citation.spans] or [snippet.text]
    return all(tidy(part).casefold() in page for part in parts)


def _with_snippets(article: Article, fresh: Sequence[Snippet]) -> Article:
    by_page: dict[str, list[Snippet]] = {}
    for new in fresh:
        by_page.setdefault(new.source_id, []).append(new)

    def updated(source: Source) -> Source:
        pages = dict.fromkeys([source.id, *map(source_id, source.also)])
        added = [new for page in pages for new in by_page.get(page, ())]
        return replace(source, snippets=tuple(dict.fromkeys([*source.snippets, *added])))

    return replace(article, sources=tuple(map(updated, article.sources)))
