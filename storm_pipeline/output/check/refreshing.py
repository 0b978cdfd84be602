"""Comparison of an article's sources with their current pages, to find sentences that lost their support."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from typing import Any, Literal

from storm_pipeline.evidence.editions import with_sentences
from storm_pipeline.evidence.judges.base import Judge
from storm_pipeline.evidence.judges.spans import sentences_around
from storm_pipeline.output.articles.pages import AvailablePages, Reference
from storm_pipeline.output.check.judging import CheckedArticle, check_article
from storm_pipeline.output.check.reading import PASSAGES, Read, read_sources, source_notes
from storm_pipeline.output.render.links import MOST_CITED, require_few, require_presentable
from storm_pipeline.sources.pages.extract import Page
from storm_pipeline.text.identity import source_id
from storm_pipeline.text.words import tidy
from storm_pipeline.types import Article, Citation, Sentence, Snippet, Source, Spans

_ANYWHERE: dict[str, Any] = {"page": None, "page_label": None, "heading": "", "place": None, "origin": "page"}
FAILING = frozenset({"partly", "not", "contradicted", "digits not found", "not found"})


@dataclass(frozen=True)
class Change:
    """A sentence with a passage that has changed or could not be read."""

    place: int  # among all sentences of the article in reading order, from 0
    text: str  # the sentence
    kind: Literal["changed", "unread", "new"]  # the page lacks the words now, was not read, or is read first
    source: str  # address of the page
    reason: str = ""  # why it could not be read, or where it was, if not at this address


@dataclass(frozen=True)
class RefreshedArticle:
    """An article compared with the current text of its sources."""

    changes: tuple[Change, ...]  # in reading order
    checked: CheckedArticle  # sentences with a changed passage cite current passages and are judged again
    # number of citations without a passage, or of a search engine's text, which need not occur on a page still there
    uncompared: int

    @property
    def failing(self) -> frozenset[int]:
        """Places of the changed sentences that the judge, or the screen, faults now."""
        return frozenset(sentence.place for sentence in self.checked.failing(FAILING))


def refresh(before: Read, judge: Judge, fetch: Callable[[str], Page]) -> RefreshedArticle:
    """Read the cited pages again and look for the supporting words; errors as for the judge.

    A page that had not been read is new. Documents that were matched to references are not read again.

    ``fetch``: URL → current page, or file (see :func:`with_files`); raises PageError.

    Raises DatasetError: the sentences cite more than may be compared.
    """
    article = before.article
    snippets = {snippet.id: snippet for source in article.sources for snippet in source.snippets}
    require_presentable(article, {name: snippet.text for name, snippet in snippets.items()})
    by_id = {source.id: source for source in article.sources}
    cited = (citation for sentence in article.sentences() for citation in sentence.citations)
    also = {source.id: frozenset(map(source_id, source.also)) for source in article.sources}
    page_of = {c: _page_of(by_id[c.source_id], also, snippets.get(c.snippet_id)) for c in cited}
    archives = {name: note.archive for name, note in before.notes.items()}
    sources = {page.id: Reference(page.url, page.title, archive=archives.get(page.id, "")) for page in page_of.values()}
    now = read_sources(fetch, sources)
    texts = {name: page for name, (page, _) in now.items() if page}
    pages = AvailablePages(texts.values(), PASSAGES)
    folded = {name: tidy(page.text).casefold() for name, page in texts.items()}
    read = sum(len(folded.get(page.id, "")) * max(1, len(c.spans)) for c, page in page_of.items())
    require_few(read, 50 * MOST_CITED)  # by is_on
    changes: list[Change] = []
    fresh: dict[str, dict[str, Snippet]] = {}  # by the ids of their page, and their own
    uncompared = 0
    passages = cache(pages.passages)  # once for a sentence and a page, which many citations may have

    @cache
    def is_on(name: str, text: str, spans: Spans) -> bool:
        return all(tidy(part).casefold() in folded[name] for part in sentences_around(text, spans))

    def is_of_page(snippet: Snippet) -> bool:
        return snippet.origin == "page" or snippet.url.startswith("file:")

    def citations(place: int, sentence: Sentence) -> Iterable[Citation]:
        nonlocal uncompared
        for citation in sentence.citations:
            snippet, name = snippets.get(citation.snippet_id), page_of[citation].id
            is_new = name in before.unread
            is_same = snippet and name in folded and is_on(name, snippet.text, citation.spans)
            is_moved = name in texts and texts[name].url != sources[name].url
            if (is_same and not is_moved) or name in before.documents:
                yield citation
            elif snippet is None or not (is_new or is_moved or is_of_page(snippet)):
                uncompared += 1
                yield citation
            elif name not in texts:
                changes.append(Change(place, sentence.text, "unread", snippet.url, str(now[name][1])))
                yield citation
            else:
                where = f"read at {texts[name].url}" if is_moved else ""
                changes.append(Change(place, sentence.text, "new" if is_new else "changed", snippet.url, where))
                for passage in passages(sentence.text, texts[name]):
                    new = passage if is_moved else replace(snippet, url=passage.url, text=passage.text, **_ANYWHERE)
                    fresh.setdefault(new.source_id, {}).setdefault(new.id, new)
                    yield Citation(new.source_id, new.id)

    places = count()

    def sentence(before: Sentence) -> Sentence:
        cited = tuple(dict.fromkeys(citations(next(places), before)))
        return before if cited == before.citations else replace(before, citations=cited)

    updated = _with_snippets(with_sentences(article, sentence), fresh)
    changed = {change.place for change in changes if change.kind != "unread"}
    unread = {name: str(now[name][1]) for name in before.unread if name in now and name not in texts}
    checked = check_article(updated, judge, unread, changed)
    notes = source_notes(updated, now, sources, before.documents) | {
        name: note for name, note in before.notes.items() if note.cited and name in texts
    }
    return RefreshedArticle(tuple(changes), replace(checked, matches=before.matches, notes=notes), uncompared)


def _page_of(source: Source, also: Mapping[str, Collection[str]], snippet: Snippet | None) -> Source:
    """Return the page of a cited passage: at one of a source's other addresses, or at its main address."""
    is_other = snippet is not None and snippet.source_id in also[source.id]
    return Source(snippet.source_id, snippet.url, snippet.title) if snippet and is_other else source


def _with_snippets(article: Article, fresh: Mapping[str, Mapping[str, Snippet]]) -> Article:
    """Return the article with passages, each at its page; pages that had the former text may not have them."""
    sources = {source.id: source for source in article.sources}
    for name, new in fresh.items():
        page = next(iter(new.values()))
        before = sources.get(name, Source(name, page.url, page.title))
        kept = (snippet for snippet in before.snippets if snippet.id not in new)
        sources[name] = replace(before, url=page.url, snippets=(*kept, *new.values()), also=())
    return replace(article, sources=tuple(sources.values()))
