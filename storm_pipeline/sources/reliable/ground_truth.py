"""Recognition of an evaluation's reference article and its copies, including mirrors, in search results."""

import copy
import re
from collections.abc import Iterable
from urllib.parse import parse_qs, unquote

from storm_pipeline.sources.reliable.catalogue import SitePattern, load_catalogue, pattern_of
from storm_pipeline.sources.search.result import SeenPage
from storm_pipeline.text.identity import canonical_url, in_form, normalised_text, split_address
from storm_pipeline.text.words import words

_CHINESE_VARIANTS = frozenset("zh-hans zh-hant zh-cn zh-tw zh-hk zh-sg zh-mo zh-my".split())
_SITE_NAME = re.compile(r"\s+[-–—|:·•/]+\s+|\s*\|\s*")
_PHRASES = (" explained", " facts for kids")
_NGRAM = 8
_WIKIPEDIA = "wikipedia.org"


def wikipedia_article(url: str) -> tuple[str, str] | None:
    """Return language and title of the Wikipedia article at a URL of Wikipedia or a mirror.

    The title has spaces and a capital first letter, as on Wikipedia. None for any other URL.
    """
    try:
        parts = split_address(url.strip())
        language, path = _language_and_title((parts.hostname or "").rstrip("."), parts.path)
        named = parse_qs(parts.query).get("title", [""])[0] if path.startswith("index.php") else ""
    except ValueError:
        return None
    if not _is_language(language):
        return None
    path = path.removeprefix("index.php").removeprefix("/") if path.startswith("index.php") else path
    title = in_form(" ".join((named or unquote(path)).replace("_", " ").split()), "NFC").rstrip("/ ")
    language = "zh" if language in _CHINESE_VARIANTS else language
    return (language, title[:1].upper() + title[1:]) if title else None


def _language_and_title(host: str, path: str) -> tuple[str, str]:
    """Return language and quoted title (for Wikipedia's script ``index.php…``) in an address; else empty."""
    host = host.removeprefix("www.")
    first, _, site = host.partition(".")
    folder, _, title = path.removeprefix("/").partition("/")
    is_wikipedia = site.removeprefix("m.").removeprefix("zero.") == _WIKIPEDIA
    is_variant = "-" in folder and _is_language(folder)  # /zh-tw/
    if is_wikipedia and (folder == "wiki" or is_variant or (folder == "w" and title.startswith("index.php"))):
        return first, title
    if host == "wikiwand.com":
        return folder, title.removeprefix("articles/")
    if host in {"wikimili.com", "wiki2.org"}:
        return folder, title
    if site == "wikipedia-on-ipfs.org" and folder == "wiki":
        return first, title
    return ("en", title) if host == "dbpedia.org" and folder in {"page", "resource"} else ("", "")


def _is_language(code: str) -> bool:
    main, _, variant = code.partition("-")
    is_code = len(main) in {2, 3} and (main + variant.replace("-", "")).isalpha() and code == code.lower()
    return code.isascii() and (is_code or code == "simple")


def folded_title(title: str) -> str:
    """Fold a title for comparison: remove case, spaces, hyphens and other punctuation; the result may be empty."""
    return "".join(char for char in in_form(title, "NFKC").casefold() if char.isalnum() or char in "+#")


def names_in_url(url: str) -> set[str]:
    """Return the folded titles that a mirror's URL may contain: path segments and query values."""
    try:
        parts = split_address(url.strip())
        candidates = [value for values in parse_qs(parts.query).values() for value in values]
    except ValueError:
        return set()
    candidates += [unquote(segment).removesuffix(".html").removesuffix(".htm") for segment in parts.path.split("/")]
    return {name for text in candidates if (name := folded_title(text))}


def names_in_title(title: str) -> set[str]:
    """Return the folded article titles of a page title, with and without a trailing site name."""
    cuts = [match.start() for match in _SITE_NAME.finditer(title)]
    candidates = [title[:cut] for cut in [*cuts, len(title)]]
    for phrase in _PHRASES:
        pairs = zip(candidates, [text.rstrip(".!") for text in candidates], strict=True)
        candidates = [short[: -len(phrase)] if short.lower().endswith(phrase) else text for text, short in pairs]
    return {name for text in candidates if (name := folded_title(text))}


class GroundTruth:
    """Blocked pages, under any URL, and their copies. Immutable.

    A page is recognised by its URL; by the title of a Wikipedia article, on Wikipedia and its mirrors; and by its text,
    if at least a given share of its word 8-grams occur in the known text.

    Args:
        urls: URLs of the pages. A Wikipedia URL means the article in that language, under all its URLs.
        titles: titles of Wikipedia articles, in every language that has an article of this title.
        share: minimum share of 8-grams, in (0, 1].
    """

    def __init__(
        self, urls: Iterable[str] = (), titles: Iterable[str] = (), texts: Iterable[str] = (), *, share: float = 0.2
    ) -> None:
        self._pages = {_identity(url): url for url in urls}
        articles = [page for page in self._pages if isinstance(page, tuple)]
        meant = [*((title, language) for language, title in articles), *((title, None) for title in titles)]
        folded = ((name, language) for title, language in meant if (name := folded_title(title)))
        self._names = {(name, scope) for name, language in folded for scope in (language, "")}  # "": in any language
        self._share = share
        self._ngrams = frozenset(ngram for text in texts for ngram in _ngrams(text))

    def with_texts(self, texts: Iterable[str]) -> "GroundTruth":
        """Return a copy with more known text of the pages, for example from a search."""
        more = copy.copy(self)
        more._ngrams = self._ngrams.union(*map(_ngrams, texts))
        return more

    def with_seen(self, seen: Iterable[SeenPage]) -> "GroundTruth":
        """Return a copy with the text of the pages in ``seen`` recognised by address or title."""
        return self.with_texts(page.text for page in seen if self.recognise_by_name(page.url, page.title))

    def recognise(self, url: str, title: str, text: str) -> str | None:
        """Return why a page is blocked, in one sentence; None if it is not. ``title``: may be empty."""
        return self.recognise_by_name(url, title) or self._by_text(text)

    def recognise_by_name(self, url: str, title: str) -> str | None:
        """Return why a page is blocked as :meth:`recognise` does, by URL and title alone."""
        return self._by_url(url) or self._by_title(url, title)

    def _by_url(self, url: str) -> str | None:
        if (target := self._pages.get(_identity(url))) is None:
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
        elif load_catalogue().is_mirror(where):
            names |= names_in_url(url)
        elif not _is_wikipedia(where):
            return None
        if self._names.isdisjoint((name, scope) for name in names for scope in (None, language or "")):
            return None
        return "by its title it is the kept-out article, or a copy of it"

    def _by_text(self, text: str) -> str | None:
        ngrams = _ngrams(text)
        shared = len(ngrams & self._ngrams)
        if len(ngrams) < _NGRAM or shared < self._share * len(ngrams):
            return None
        return f"it repeats a kept-out page: {shared / len(ngrams):.0%} of its {_NGRAM}-word sequences occur there"


def repeats_wikipedia(url: str) -> bool:
    """Return whether a page is on Wikipedia or a mirror, in any language."""
    if (where := pattern_of(url)) is None:
        return False
    return _is_wikipedia(where) or bool(wikipedia_article(url)) or load_catalogue().is_mirror(where)


def _identity(url: str) -> tuple[str, str] | str:
    return wikipedia_article(url) or canonical_url(url)


def _is_wikipedia(where: SitePattern) -> bool:
    return where.host == _WIKIPEDIA or where.host.endswith("." + _WIKIPEDIA)


def _ngrams(text: str) -> set[str]:
    """Return the distinct word 8-grams, ignoring case and punctuation."""
    folded = words(normalised_text(text))
    return {" ".join(folded[start : start + _NGRAM]) for start in range(len(folded) - _NGRAM + 1)}
