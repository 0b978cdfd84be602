"""Gives the sentences of an article the passages that they cite, from the pages that are available."""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from storm_pipeline.documents.chunks import chunks
from storm_pipeline.identity import source_id
from storm_pipeline.references.changing import with_sentences
from storm_pipeline.text.index_terms import terms
from storm_pipeline.types import Article, Citation, Report, Sentence, Snippet, Source

_PASSAGE = 150  # maximum words of a cited passage, as in our own runs
_CACHED_PAGES = 128  # pages whose passages are cached


@dataclass(frozen=True)
class Reference:
    """A page that an article cites, or that is available to be cited."""

    url: str  # its address; empty if the article states none, which a reference with a text must not be
    title: str = ""  # its title; may be empty
    text: str = ""  # the page as plain text, if it is known; empty otherwise


class AvailablePages:
    """The pages whose text is known.

    Args:
        pages: those without an address or a text do not count; of two with one address, the later one counts.
        most: maximum passages of a page that a statement cites, >= 1.
    """

    def __init__(self, pages: Iterable[Reference] = (), most: int = 1) -> None:
        self._most = most
        self._pages = {source_id(own.url): own for own in pages if own.url and own.text.strip()}

    def passages(self, statement: str, reference: Reference) -> tuple[Snippet, ...]:
        """The passages of up to 150 words with most of a statement's content words, of a reference's text or page.

        Best first; empty if the reference has no text, and its page is not available.
        """
        page = self._pages.get(source_id(reference.url))
        if reference.text.strip():
            page = reference
        if page is None:
            return ()
        wanted = frozenset(terms(statement))
        best = sorted(_passages(page.text), key=lambda own: -len(wanted & own[1]))[: self._most]
        return tuple(Snippet(page.url, page.title, text, origin="page") for text, _ in best)

    def cite(self, article: Article, references: Mapping[int, Reference], invented: int = 0) -> Article:
        """The article with the best passages of the references whose numbers it cites.

        Args:
            article: the source id of a citation is the number of a reference.
            references: by their numbers.
            invented: how many citations of other numbers were left out already.
        """
        cited: dict[int, list[Snippet]] = {}
        unavailable = 0
        for index, sentence in enumerate(article.sentences()):
            numbers = [int(citation.source_id) for citation in sentence.citations]
            listed = [references[number] for number in numbers if number in references]
            found = [self.passages(sentence.text, reference) for reference in listed]
            cited[index] = [passage for own in found for passage in own]
            invented += len(numbers) - len(listed)
            unavailable += found.count(())
        report = Report(invented_citations=invented, unavailable_citations=unavailable)
        return with_citations(replace(article, report=report), cited)


class ReferencesOnly(AvailablePages):
    """Pages that are not at hand: the article is left as it is, and its references are kept here."""

    def __init__(self) -> None:
        super().__init__()
        self.references: Mapping[int, Reference] | None = None
        self.invented = 0

    def cite(self, article: Article, references: Mapping[int, Reference], invented: int = 0) -> Article:
        """The article as it is."""
        self.references, self.invented = references, invented
        return article


def with_citations(article: Article, cited: Mapping[int, Iterable[Snippet]]) -> Article:
    """The article with other citations and sources.

    Args:
        article: its citations are replaced.
        cited: the cited passages by the sentence's index in reading order.
    """
    numbers = itertools.count()

    def sentence(own: Sentence) -> Sentence:
        found = cited.get(next(numbers), ())
        return replace(own, citations=tuple(dict.fromkeys(Citation(one.source_id, one.id) for one in found)))

    return with_sentences(replace(article, sources=_sources(cited)), sentence)


def _sources(cited: Mapping[int, Iterable[Snippet]]) -> tuple[Source, ...]:
    """The cited pages, those with most passages first, then by URL."""
    pages: dict[str, dict[str, Snippet]] = {}
    for snippet in (one for own in cited.values() for one in own):
        pages.setdefault(snippet.source_id, {})[snippet.id] = snippet
    found = ((page, tuple(snippets.values())) for page, snippets in pages.items())
    sources = (Source(page, own[0].url, own[0].title, own) for page, own in found)
    return tuple(sorted(sources, key=lambda source: (-len(source.snippets), source.url)))


@lru_cache(_CACHED_PAGES)
def _passages(text: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """The passages of a page, each with its content words."""
    return tuple((passage, frozenset(terms(passage))) for passage in chunks(text, _PASSAGE))
