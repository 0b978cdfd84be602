"""What pages have in common: agency texts, blurbs, notices, which are shown once, and menus, which are left out.

Pure functions.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from functools import lru_cache

from storm_pipeline.identity import host_of
from storm_pipeline.text.sentences import is_complete
from storm_pipeline.text.words import folded_words, has_word, word_count
from storm_pipeline.types import Snippet

_STOP = re.compile(r"(?<=[.!?…。！？])(?<!\b[\dA-Z]\.)(?<!\b\d\d\.)\s+")  # no number of an item, no initial of a name
_SHORTEST, _SHORTEST_ON_SITE = 6, 2  # minimum words of a sentence that is shown once, and once for each site
_REST = 8  # minimum words that are shown of a text whose other sentences were shown before
_PIECE = re.compile(r"(\n|(?<=[.!?…])(?<!\b[A-Z]\.)\s+|\s+[|•·*]\s+)")
"""Separator of lines and sentences, as a group."""
_PAGES = 3  # pages of one host from which a line is the site's
_SENTENCE = 6  # fewest words of a sentence that may be news
_DIGIT = re.compile(r"\d")


class Told:
    """The sentences of the texts that were read so far, which are those that a prompt shows before the next one."""

    def __init__(self) -> None:
        self._holders: dict[str, int] = {}

    def rest_of(self, text: str, site: str, number: int) -> tuple[str, int]:
        """What of a text no earlier one shows, and its number; if that is hardly anything, nothing and another number.

        Args:
            text: on one line.
            site: of its page; sentences of two to five words, such as "Add to basket.", are compared within a site.
            number: of this text; returned instead is that of the earlier text that shows most of its sentences.
        """
        sentences = _STOP.split(text)
        words = [folded_words(sentence) for sentence in sentences]
        keys = [" ".join(own if len(own) >= _SHORTEST else (site, *own)) for own in words]
        holders = [
            self._holders.setdefault(key, number) if len(own) >= _SHORTEST_ON_SITE else number
            for key, own in zip(keys, words, strict=True)
        ]
        first = [keys.index(key) for key in keys]
        rest = [i for i, holder in enumerate(holders) if holder == number and (first[i] == i or len(words[i]) < 2)]
        told = Counter(holder for holder in holders if holder != number)
        if told and sum(len(words[i]) for i in rest) < _REST:
            return "", told.most_common(1)[0][0]
        return " ".join(sentences[i] for i in rest), number


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
    pieces = (piece for piece in _PIECE.split(text)[::2] if has_word(piece) and not _DIGIT.search(piece))
    return frozenset(_key(own) for own in pieces if not is_complete(own) or word_count(own) < _SENTENCE)


def _key(piece: str) -> str:
    return " ".join(folded_words(piece))
