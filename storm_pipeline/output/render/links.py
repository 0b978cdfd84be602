"""Links, labels of sources and citations, for all renderers."""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from itertools import chain, pairwise
from urllib.parse import quote, unquote, urlsplit

from storm_pipeline.errors import DatasetError
from storm_pipeline.evidence.citations import page_name
from storm_pipeline.text.identity import split_address
from storm_pipeline.text.words import tidy, without_controls
from storm_pipeline.types import Article, Snippet, Source, Spans

MOST_CITED = 50_000_000
"""Maximum characters of sentences and cited passages in HTML, summed over citations, in a check or on a page."""
_FRAGMENT_WORDS = 5  # number of first and last words in a text fragment
Passage = tuple[tuple[tuple[str, bool], ...], str]
"""A cited passage: pieces, each with whether it supports the sentence, and its page number."""

NO_ADDRESS = "reference:"  # beginning of the made-up address of a work for which an article gives none


@dataclass(frozen=True)
class Link:
    """A source for display; ``href`` is empty if its address must not become a link."""

    title: str
    host: str
    url: str
    href: str


@dataclass(frozen=True)
class Mark:
    """One citation marker: number, anchor, source (its link leads to the words cited), and the passages cited."""

    number: int
    id: str
    source: Link
    passages: tuple[Passage, ...]


@dataclass(frozen=True)
class Remark:
    """A check's remark on a sentence: the kind, such as ``not``, which chooses the colour, and the words."""

    kind: str
    text: str


def one_line(url: str) -> str:
    """Return the address without control characters and with ``%20`` for white space."""
    return tidy(url).replace(" ", "%20")


def shared_address(url: str) -> str:
    """Return the address for shared documents: only the name of a local file, else as :func:`one_line`."""
    return unquote(host(url)) if one_line(url).lower().startswith("file:") else one_line(url)


def is_shared_link(url: str) -> bool:
    """Return whether an address may be a link in a shared document: http or https, not ``file:`` or ``javascript:``."""
    with suppress(ValueError):
        parts = urlsplit(one_line(url))
        return parts.scheme in {"http", "https"} and bool(parts.netloc)
    return False


def host(url: str) -> str:
    """Return the host name without ``www.``; of a file, or without a host, the file's name or the scheme."""
    with suppress(ValueError):
        parts = split_address(one_line(url))
        if parts.netloc and parts.scheme != "file":
            return (parts.hostname or "").removeprefix("www.")
        return parts.path.rstrip("/").rpartition("/")[2] or parts.scheme
    return ""


def label(source: Source) -> str:
    """Return the display name of a source: its title, else its host, else its address."""
    return tidy(source.title) or tidy(unquote(host(source.url))) or one_line(source.url)


def link_of(source: Source, to_passage: str = "") -> Link:
    """Return a link to a source, or to a passage of it if ``to_passage`` is given."""
    url = shared_address(source.url)
    href = to_passage or url
    return Link(label(source), unquote(host(source.url)), url, href if is_shared_link(source.url) else "")


def require_presentable(article: Article, texts: Mapping[str, str], most: int = MOST_CITED) -> None:
    """Check that the sentences do not cite more than may be compared or shown. Raises DatasetError.

    ``texts``: snippet id → text.
    """
    sizes = {source.id: len(escape(source.title + source.url)) for source in article.sources}
    sizes |= {name: len(escape(text)) for name, text in texts.items()}
    characters = 0
    for sentence in article.sentences():
        cited = [sizes.get(c.snippet_id, 0) + sizes.get(c.source_id, 0) for c in sentence.citations]
        characters += len(escape(sentence.text)) * len(cited) + sum(cited)
    require_few(characters, most)


def require_few(characters: int, most: int) -> None:
    """Check the number of characters of sentences and of the passages that they cite. Raises DatasetError."""
    if characters > most:
        raise DatasetError(
            f"the sentences and the passages that they cite have {characters:,} characters, of which a check or a page "
            f"may have {most:,}: take parts of the article"
        )


def passage_link(snippet: Snippet, spans: Spans) -> str:
    """Return the address of a web page with a text fragment: a browser scrolls to the spans and marks them.

    Empty without spans, and if the text is a search engine's, from a paged file, or not from a web page, since the
    words may not occur on the page. Long spans are given by their first and last words.
    """
    url = one_line(snippet.url)
    was_read = snippet.origin == "page" and snippet.page is None and is_shared_link(url) and ":~:" not in url
    parts = [part for start, end in spans if (part := _text_directive(snippet.text[start:end]))]
    return f"{url}{'' if '#' in url else '#'}:~:{'&'.join(parts)}" if was_read and parts else ""


def _text_directive(text: str) -> str:
    """Return ``text=first words,last words``, with the syntax's own characters encoded; empty if the text has none."""
    terms = tidy(text).split()
    ends = [terms[:_FRAGMENT_WORDS], terms[-_FRAGMENT_WORDS:]] if len(terms) > 2 * _FRAGMENT_WORDS else [terms]
    encoded = ",".join(quote(" ".join(end), safe="").replace("-", "%2D") for end in ends)
    return f"text={encoded}" if encoded else ""


def cited_words(source: Source, places: dict[str, int], spans: Mapping[str, Spans]) -> tuple[Link, tuple[Passage, ...]]:
    """Return a link to the first cited words that a browser can find, and the passages; the maps: by snippet id."""
    snippets = [source.snippets[place] for place in sorted(places[name] for name in spans if name in places)]
    links = (passage_link(snippet, spans[snippet.id]) for snippet in snippets)
    link = link_of(source, next(filter(None, links), ""))
    return link, tuple((_pieces(snippet.text, spans[snippet.id]), page_name(snippet)) for snippet in snippets)


def _pieces(text: str, spans: Spans) -> tuple[tuple[str, bool], ...]:
    """Cut a passage at its spans into pieces on one line, each with whether it supports the sentence."""
    if not tidy(text):
        return ()
    cuts = [0, *chain.from_iterable(spans), len(text)]
    pieces = (" ".join(re.split(r"\s+", without_controls(text[start:end]))) for start, end in pairwise(cuts))
    return tuple((piece, i % 2 == 1 and not piece.isspace()) for i, piece in enumerate(pieces) if piece)
