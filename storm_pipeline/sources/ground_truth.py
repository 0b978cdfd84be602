"""Recognising the article that a new one is measured against, wherever a search engine finds it."""

import copy
from collections.abc import Iterable

from storm_pipeline.identity import canonical_url, normalised_text
from storm_pipeline.sources.catalogue import Catalogue, load_catalogue
from storm_pipeline.sources.mirrors import folded_title, names_in_address, names_in_title, wikipedia_article
from storm_pipeline.sources.site_patterns import SitePattern, pattern_of
from storm_pipeline.text.words import words

_RUN = 8
_FEWEST_RUNS = 8
_WIKIPEDIA = "wikipedia.org"


class GroundTruth:
    """Pages that no article may draw on, however they are addressed, and whatever repeats them. Never changed.

    A page is recognised by its address; by the title of a Wikipedia article, on Wikipedia and on copies of it;
    and by its text, where the share of its runs of 8 words that stand in known text reaches a bound.

    Args:
        urls: addresses of the pages. A Wikipedia article is meant in that language alone, in all its addresses.
        titles: titles of Wikipedia articles, in every language that has one of this name.
        texts: known text of the pages.
        share: the bound, in (0, 1].
        catalogue: tells which hosts are copies of Wikipedia; default: the package's.
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
        self._runs = frozenset(run for text in texts for run in _runs(text))

    def knowing(self, texts: Iterable[str]) -> "GroundTruth":
        """The same pages with more known text of them, such as what a search shows of them."""
        more = copy.copy(self)
        more._runs = self._runs.union(*map(_runs, texts))
        return more

    def recognise(self, url: str, title: str, text: str) -> str | None:
        """Why a page is to be kept out, in one sentence; None if it is not.

        Args:
            url: its address.
            title: its title; may be empty.
            text: what is known of its text, all passages together.
        """
        return self.named(url, title) or self._by_text(text)

    def named(self, url: str, title: str) -> str | None:
        """As :meth:`recognise`, by address and title alone."""
        return self._by_address(url) or self._by_title(url, title)

    def _by_address(self, url: str) -> str | None:
        page = _identity(url)
        if (target := self._pages.get(page)) is None:
            return None
        if canonical_url(target) == canonical_url(url):
            return "this page is kept out"
        return f"it is {target} at another address"

    def _by_title(self, url: str, title: str) -> str | None:
        where = pattern_of(url)
        if not self._names or where is None:
            return None
        language, names = None, names_in_title(title)
        if article := wikipedia_article(url):
            language = article[0]
            names.add(folded_title(article[1]))
        elif self._catalogue.is_mirror(where):
            names |= names_in_address(url)
        elif not _is_wikipedia(where):
            return None
        for name, meant in self._names:
            if name in names and (meant is None or language in {None, meant}):
                return "by its title it is the article that is kept out, or a copy of it"
        return None

    def _by_text(self, text: str) -> str | None:
        runs = _runs(text)
        shared = len(runs & self._runs)
        if len(runs) < _FEWEST_RUNS or shared < self._share * len(runs):
            return None
        return f"it repeats a page that is kept out: {shared / len(runs):.0%} of its runs of {_RUN} words stand there"


def _identity(url: str) -> tuple[str, str] | str:
    return wikipedia_article(url) or canonical_url(url)


def _is_wikipedia(where: SitePattern) -> bool:
    return where.host == _WIKIPEDIA or where.host.endswith("." + _WIKIPEDIA)


def _runs(text: str) -> set[str]:
    """The distinct runs of 8 words, case and punctuation aside."""
    folded = words(normalised_text(text))
    return {" ".join(folded[start : start + _RUN]) for start in range(len(folded) - _RUN + 1)}
