"""Source addresses for all renderers: which may become links, and their labels."""

from urllib.parse import unquote, urlsplit

from storm_pipeline.text.words import tidy
from storm_pipeline.types import Source

LINKED_SCHEMES = frozenset({"http", "https", "file"})
"""Only these become links; all others, such as ``javascript:`` and ``data:``, stay plain text."""


def one_line(url: str) -> str:
    """The address without control characters and with ``%20`` for white space."""
    return tidy(url).replace(" ", "%20")


def is_link(url: str) -> bool:
    """Whether an address may be rendered as a link: an absolute http, https or file address."""
    try:
        parts = urlsplit(one_line(url))
    except ValueError:
        return False
    return parts.scheme in LINKED_SCHEMES and (bool(parts.netloc) or parts.scheme == "file")


def shared_address(url: str) -> str:
    """The address as it may leave the machine: a local file's name alone, everything else as :func:`one_line`."""
    return unquote(host(url)) if _is_file(url) else one_line(url)


def is_shared_link(url: str) -> bool:
    """Whether an address may be a link in a document that is passed on: as :func:`is_link`, but no local file."""
    return is_link(url) and not _is_file(url)


def _is_file(url: str) -> bool:
    return one_line(url).lower().startswith("file:")


def host(url: str) -> str:
    """The host name without ``www.``; without a host, the file's name or the scheme."""
    try:
        parts = urlsplit(one_line(url))
    except ValueError:
        return ""
    if parts.netloc:
        return (parts.hostname or "").removeprefix("www.")
    return parts.path.rstrip("/").rpartition("/")[2] or parts.scheme


def label(source: Source) -> str:
    """Display name of a source: its title, else its host, else its address."""
    return tidy(source.title) or host(source.url) or one_line(source.url)
