"""A citation for display: its source, the passages cited, and in them the words that carry the sentence."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, pairwise
from urllib.parse import unquote

from storm_pipeline.references.citations import page_name
from storm_pipeline.render.links import host, is_shared_link, label, passage_link, shared_address
from storm_pipeline.text.words import tidy, without_controls
from storm_pipeline.types import Source, Spans


@dataclass(frozen=True)
class Link:
    """A source for display; ``href`` is empty if its address must not become a link."""

    title: str
    host: str
    url: str
    href: str


Passage = tuple[tuple[tuple[str, bool], ...], str]
"""A cited passage in pieces, each with whether it carries the sentence, and its page number."""


@dataclass(frozen=True)
class Mark:
    """One citation marker: number, anchor, source (its link leads to the words cited), and the passages cited."""

    number: int
    id: str
    source: Link
    passages: tuple[Passage, ...]


@dataclass(frozen=True)
class Remark:
    """What a check says of a sentence: its kind, ``not`` for instance, which chooses the colour, and the words."""

    kind: str
    text: str


def link_of(source: Source, to_passage: str = "") -> Link:
    """A source as a link: to the words of a passage if their address is given, else to the page."""
    url = shared_address(source.url)
    href = to_passage or url
    return Link(label(source), unquote(host(source.url)), url, href if is_shared_link(source.url) else "")


def also_links(source: Source) -> list[Link]:
    """The other pages with the source's text as links."""
    return [link_of(Source(source.id, url, source.title)) for url in source.also]


def _pieces(text: str, spans: Spans) -> tuple[tuple[str, bool], ...]:
    """A passage cut at its spans: each piece on one line, and whether it carries the sentence."""
    if not tidy(text):
        return ()
    cuts = [0, *chain.from_iterable(spans), len(text)]
    pieces = (" ".join(re.split(r"\s+", without_controls(text[start:end]))) for start, end in pairwise(cuts))
    return tuple((piece, i % 2 == 1 and not piece.isspace()) for i, piece in enumerate(pieces) if piece)


def cited_words(source: Source, spans: Mapping[str, Spans]) -> tuple[Link, tuple[Passage, ...]]:
    """A link to the first words cited that a browser can find, and the passages, whose spans are given by their ids."""
    snippets = [snippet for snippet in source.snippets if snippet.id in spans]
    links = (passage_link(snippet, spans[snippet.id]) for snippet in snippets)
    link = link_of(source, next(filter(None, links), ""))
    return link, tuple((_pieces(one.text, spans[one.id]), page_name(one)) for one in snippets)
