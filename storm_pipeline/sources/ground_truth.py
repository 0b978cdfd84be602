"""Recognising the reference article of an evaluation and its copies among search results."""

import copy
from collections.abc import Iterable

from storm_pipeline.identity import canonical_url, normalised_text
from storm_pipeline.search.result import SeenPage
from storm_pipeline.sources.catalogue import Catalogue, load_catalogue
from storm_pipeline.sources.mirrors import folded_title, names_in_title, names_in_url, wikipedia_article
from storm_pipeline.sources.site_patterns import SitePattern, pattern_of
from storm_pipeline.text.words import words

_NGRAM = 8
_MIN_NGRAMS = 8
_WIKIPEDIA = "wikipedia.org"


class GroundTruth:
    """Pages that no article may use, under any URL, and their copies. Immutable.

    A page is recognised by its URL; by the title of a Wikipedia article, on Wikipedia and its mirrors; and by its
    text, if at least a given share of its word 8-grams occur in the known text.

    Args:
        urls: URLs of the pages. A Wikipedia URL means the article in that language only, under all its URLs.
        titles: titles of Wikipedia articles, in every language that has an article of this title.
        texts: known text of the pages.
        share: minimum share of 8-grams, in (0, 1].
        catalogue: knows which hosts are mirrors of Wikipedia; default: the package's.
    """

    def __init__(
        self,
        urls: Iterable[str] = (),
        titles: Iterable[str] = (),
        texts: Iterable[str] = (),
        *,
        share: float = 0.2,
        catalogue: Catalogue | None = None,
    ) -> None:
        self._pages = {_identity(url): url for url in urls}
        articles = [page for page in self._pages if isinstance(page, tuple)]
        meant = [*((title, language) for language, title in articles), *((title, None) for title in titles)]
        self._names = {(name, language) for title, language in meant if (name := folded_title(title))}
        self._share = share
        self._catalogue = catalogue or load_catalogue()
        self._ngrams = frozenset(ngram for text in texts for ngram in _ngrams(text))

    def with_texts(self, texts: Iterable[str]) -> "GroundTruth":
        """The same pages with more known text, such as what a search returned of them."""
        more = copy.copy(self)
        more._ngrams = self._ngrams.union(*map(_ngrams, texts))
        return more

    def knowing(self, seen: Iterable[SeenPage]) -> "GroundTruth":
        """The same pages with the text that searches returned of those recognised by address or title."""
        return self.with_texts(page.text for page in seen if self.recognise_by_name(page.url, page.title))

    def recognise(self, url: str, title: str, text: str) -> str | None:
        """Why a page is to be kept out, in one sentence; None if it is not.

        Args:
            url: its URL.
            title: its title; may be empty.
            text: its known passages, joined.
        """
        return self.recognise_by_name(url, title) or self._by_text(text)

    def recognise_by_name(self, url: str, title: str) -> str | None:
        """As :meth:`recognise`, by URL and title alone."""
        return self._by_url(url) or self._by_title(url, title)

    def _by_url(self, url: str) -> str | None:
        page = _identity(url)
        if (target := self._pages.get(page)) is None:
            return None
        if canonical_url(target) == canonical_url(url):
            return "this page is kept out"
        return f"it is {target} under another URL"

    def _by_title(self, url: str, title: str) -> str | None:
        where = pattern_of(url)
        if not self._names or where is None:
            return None
        language, names = None, names_in_title(title)
        if article := wikipedia_article(url):
            language = article[0]
            names.add(folded_title(article[1]))
        elif self._catalogue.is_mirror(where):
            names |= names_in_url(url)
        elif not _is_wikipedia(where):
            return None
        for name, meant in self._names:
            if name in names and (meant is None or language in {None, meant}):
                return "by its title it is the kept-out article, or a copy of it"
        return None

    def _by_text(self, text: str) -> str | None:
        ngrams = _ngrams(text)
        shared = len(ngrams & self._ngrams)
        if len(ngrams) < _MIN_NGRAMS or shared < self._share * len(ngrams):
            return None
        return f"it repeats a kept-out page: {shared / len(ngrams):.0%} of its {_NGRAM}-word sequences occur there"


def repeats_wikipedia(url: str, catalogue: Catalogue | None = None) -> bool:
    """Whether a page is Wikipedia's or on a mirror of it, in any language.

    Args:
        url: its URL.
        catalogue: knows which hosts are mirrors; default: the package's.
    """
    where = pattern_of(url)
    if where is None:
        return False
    return _is_wikipedia(where) or bool(wikipedia_article(url)) or (catalogue or load_catalogue()).is_mirror(where)


def _identity(url: str) -> tuple[str, str] | str:
    return wikipedia_article(url) or canonical_url(url)


def _is_wikipedia(where: SitePattern) -> bool:
    return where.host == _WIKIPEDIA or where.host.endswith("." + _WIKIPEDIA)


def _ngrams(text: str) -> set[str]:
    """The distinct word 8-grams, ignoring case and punctuation."""
    folded = words(normalised_text(text))
    return {" ".join(folded[start : start + _NGRAM]) for start in range(len(folded) - _NGRAM + 1)}
