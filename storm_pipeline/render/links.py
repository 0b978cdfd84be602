"""For all renderers: which addresses may become links, and how they are labelled."""

from urllib.parse import quote, unquote, urlsplit

from storm_pipeline.text.words import tidy
from storm_pipeline.types import Snippet, Source, Spans

LINKED_SCHEMES = frozenset({"http", "https", "file"})
"""Only these become links; all others, such as ``javascript:`` and ``data:``, stay plain text."""
_FRAGMENT_WORDS = 5  # first and last words of a passage that a text fragment gives


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


def passage_link(snippet: Snippet, spans: Spans) -> str:
    """The address of a web page that was read, with a text fragment: a browser scrolls to the spans and marks them.

    Empty without spans, and where the text is a search engine's, of a paged file, or of no web page: its words may
    stand nowhere on the page. Of a longer span the first and the last words are given.
    """
    url = one_line(snippet.url)
    was_read = snippet.origin == "page" and snippet.page is None and is_shared_link(url) and ":~:" not in url
    parts = [part for start, end in spans if (part := _text_directive(snippet.text[start:end]))]
    return f"{url}{'' if '#' in url else '#'}:~:{'&'.join(parts)}" if was_read and parts else ""


def _text_directive(text: str) -> str:
    """``text=first words,last words``, with the syntax's own characters encoded; empty if the text has none."""
    own = tidy(text).split()
    ends = [own[:_FRAGMENT_WORDS], own[-_FRAGMENT_WORDS:]] if len(own) > 2 * _FRAGMENT_WORDS else [own]
    encoded = ",".join(quote(" ".join(end), safe="").replace("-", "%2D") for end in ends)
    return f"text={encoded}" if encoded else ""


def label(source: Source) -> str:
    """Display name of a source: its title, else its host, else its address."""
    return tidy(source.title) or host(source.url) or one_line(source.url)
