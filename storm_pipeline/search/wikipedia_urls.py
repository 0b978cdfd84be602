"""Titles and URLs of Wikipedia articles."""

from urllib.parse import quote, urlsplit

_INVALID_IN_TITLE = frozenset("#<>[]{}|")
_MAX_TITLE_BYTES = 255


def is_title(text: str) -> bool:
    """Whether a page of MediaWiki may have this title: 1 to 255 bytes of UTF-8, none of ``#<>[]{}|``."""
    return 0 < len(text.encode("utf-8", "replace")) <= _MAX_TITLE_BYTES and _INVALID_IN_TITLE.isdisjoint(text)


def is_wikipedia(url: str) -> bool:
    """Whether an address is on a Wikipedia of any language."""
    host = urlsplit(url).hostname or ""
    return host == "wikipedia.org" or host.endswith(".wikipedia.org")


def page_address(title: str, site: str = "en.wikipedia.org") -> str:
    """URL of an article of a Wikipedia or a sister project, by default the English Wikipedia."""
    return f"https://{site}/wiki/" + quote(title.replace(" ", "_"), safe="/:@!$&'()*+,;=~-._")
