"""Which Wikipedia article a page shows, by its URL, or by its title on a mirror of Wikipedia."""

import re
from unicodedata import normalize
from urllib.parse import parse_qs, unquote, urlsplit

_LANGUAGE = r"(?P<language>[a-z]{2,3}(?:-[a-z-]+)?|simple)"
_WIKIPEDIA = rf"(?:www\.)?{_LANGUAGE}(?:\.(?:m|zero))?\.wikipedia\.org"
_SCRIPT_PAGE = re.compile(rf"{_WIKIPEDIA}/w/index\.php(?:/(?P<title>.+))?")
# Host and path of an article, on Wikipedia (/zh-tw/… is a variant of /wiki/…) and on mirrors of all of it.
_ARTICLE_PAGES = (
    re.compile(rf"{_WIKIPEDIA}/(?:wiki|[a-z]{{2,3}}-[a-z]{{2,4}})/(?P<title>.+)"),
    re.compile(rf"(?:www\.)?wikiwand\.com/{_LANGUAGE}/(?:articles/)?(?P<title>.+)"),
    re.compile(rf"(?:www\.)?(?:wikimili\.com|wiki2\.org)/{_LANGUAGE}/(?P<title>.+)"),
    re.compile(rf"{_LANGUAGE}\.wikipedia-on-ipfs\.org/wiki/(?P<title>.+)"),
    re.compile(r"(?:www\.)?dbpedia\.org/(?:page|resource)/(?P<title>.+)(?P<language>)"),
)
_CHINESE_VARIANT = re.compile("zh-(?:hans|hant|cn|tw|hk|sg|mo|my)")
_SITE_NAME = re.compile(r"\s+[-–—|:·•/]+\s+|\s*\|\s*")
_PHRASE = re.compile(r"\s+(?:explained|facts for kids)[.!]*$", re.I)


def wikipedia_article(url: str) -> tuple[str, str] | None:
    """Language and title of the Wikipedia article at a URL of Wikipedia or of a mirror.

    The title has spaces and a capital first letter, as on Wikipedia. None for any other URL.
    """
    try:
        parts = urlsplit(url.strip())
        place = (parts.hostname or "").rstrip(".") + parts.path
        found = _SCRIPT_PAGE.fullmatch(place)
        named = parse_qs(parts.query).get("title", [""])[0] if found else ""
    except ValueError:
        return None
    found = found or next(filter(None, (pattern.fullmatch(place) for pattern in _ARTICLE_PAGES)), None)
    if not found:
        return None
    title = normalize("NFC", " ".join((named or unquote(found["title"] or "")).replace("_", " ").split())).rstrip("/ ")
    language = _CHINESE_VARIANT.sub("zh", found["language"] or "en")
    return (language, title[:1].upper() + title[1:]) if title else None


def folded_title(title: str) -> str:
    """A title folded for comparison: case, spaces, hyphens and other punctuation removed; may be empty."""
    return re.sub(r"[^\w+#]|_", "", normalize("NFKC", title).casefold())


def names_in_url(url: str) -> set[str]:
    """Folded titles that a mirror's URL may name: each path segment and each query value."""
    try:
        parts = urlsplit(url.strip())
        candidates = [value for values in parse_qs(parts.query).values() for value in values]
    except ValueError:
        return set()
    candidates += [re.sub(r"\.html?$", "", unquote(segment)) for segment in parts.path.split("/")]
    return {name for text in candidates if (name := folded_title(text))}


def names_in_title(title: str) -> set[str]:
    """Folded article titles that a page title may name: with and without a trailing site name."""
    cuts = [match.start() for match in _SITE_NAME.finditer(title)]
    candidates = [_PHRASE.sub("", title[:cut]) for cut in [*cuts, len(title)]]
    return {name for text in candidates if (name := folded_title(text))}
