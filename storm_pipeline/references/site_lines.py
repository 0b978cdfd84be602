"""What the pages of a site have in common besides their subject: menus, calls, notices. Pure functions."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from functools import lru_cache

from storm_pipeline.identity import host_of
from storm_pipeline.text.sentences import is_complete
from storm_pipeline.text.words import folded_words, has_word, word_count
from storm_pipeline.types import Snippet

_PIECE = re.compile(r"(\n|(?<=[.!?…])\s+|\s+[|•·*]\s+)")
"""Separator of lines and sentences, as a group."""
_PAGES = 3  # pages of one host from which a line is the site's
_SENTENCE = 6  # fewest words of a sentence that may be news
_DIGIT = re.compile(r"\d")


def site_lines(snippets: Iterable[Snippet]) -> frozenset[str]:
    """The lines and sentences that three pages or more of one host have, as :func:`without_site_lines` compares them.

    Whole sentences of six words and what has figures may be the news of several days, and are none.
    """
    sites: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))  # host, page → texts
    for snippet in snippets:
        sites[host_of(snippet.url)][snippet.source_id].add(snippet.text)
    found: set[str] = set()
    for pages in (pages for pages in sites.values() if len(pages) >= _PAGES):
        told = Counter(line for texts in pages.values() for line in frozenset[str]().union(*map(_lines, texts)))
        found.update(line for line, number in told.items() if number >= _PAGES)
    return frozenset(found)


def without_site_lines(text: str, of_site: Collection[str]) -> str:
    """A text without the lines and sentences that are its site's."""
    pieces = _PIECE.split(text) if of_site else [text]
    gaps = [*pieces[1::2], ""]
    return "".join(piece + gap for piece, gap in zip(pieces[::2], gaps, strict=True) if _key(piece) not in of_site)


@lru_cache(maxsize=4096)
def _lines(text: str) -> frozenset[str]:
    """The lines and sentences of a text that are no news, as they are compared."""
    pieces = filter(has_word, _PIECE.split(text)[::2])
    return frozenset(_key(piece) for piece in pieces if not _may_be_news(piece))


def _may_be_news(piece: str) -> bool:
    return bool(_DIGIT.search(piece)) or (is_complete(piece) and word_count(piece) >= _SENTENCE)


def _key(piece: str) -> str:
    return " ".join(folded_words(piece))
