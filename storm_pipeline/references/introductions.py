"""Names in full, and the snippets of a page that introduce people whom its other snippets mention by bare surname."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from storm_pipeline.types import Snippet

_MOST = 2  # maximum number of snippets added per page
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_INITIAL = re.compile(r"\s(?:[^\W\d_]\.\s?)*")  # separator between two parts of a name: a space, and possibly initials
_NEAR = 5  # characters before a word in which to look for the end of the previous sentence
_STOPS = (".", "!", "?", ":", "…", "”", '"', "»", "\n")


def introducing(snippets: Sequence[Snippet], page: Sequence[Snippet]) -> tuple[Snippet, ...]:
    """Snippets of a page with a first name, title or office for a name that the shown snippets use alone.

    "Daca said …" is useless to a reader while "Przemysław Daca, the head of …" is in a snippet that is not shown. Works
    only for scripts with capital letters; at most two snippets, those that introduce most names first. ``page``: all
    snippets of the page, in order.
    """
    shown = {snippet.id for snippet in snippets}
    unknown = {name for s in snippets for name in _names(s.text)} - {name for s in snippets for name in _full(s.text)}
    others = {snippet: _full(snippet.text) for snippet in page if snippet.id not in shown}
    chosen: list[Snippet] = []
    while unknown and len(chosen) < _MOST:
        best = max(others, key=lambda s: len(others[s] & unknown), default=None)
        if best is None or not others[best] & unknown:
            break
        chosen.append(best)
        unknown -= others.pop(best)
    return tuple(chosen)


def full_names(text: str) -> tuple[str, ...]:
    """The names of two capitalised words or more in a text, in order and distinct; only of scripts with capitals."""
    names: list[list[re.Match[str]]] = [[]]
    for word in _capitalised(text):
        last = names[-1][-1:]
        if last and _INITIAL.fullmatch(text, last[0].end(), word.start()):
            names[-1].append(word)
        elif not _begins_sentence(text, word.start()):
            names.append([word])
    return tuple(dict.fromkeys(text[own[0].start() : own[-1].end()] for own in names if len(own) > 1))


# Cached, since a page's snippets are compared for every section that shows one of them.
@lru_cache(maxsize=4096)
def _names(text: str) -> frozenset[str]:
    """Capitalised words within a sentence."""
    return frozenset(word[0] for word in _capitalised(text) if not _begins_sentence(text, word.start()))


@lru_cache(maxsize=4096)
def _full(text: str) -> frozenset[str]:
    """Capitalised words preceded by another one that does not begin a sentence."""
    return frozenset(
        word[0]
        for before, word in pairwise(_capitalised(text))
        if _INITIAL.fullmatch(text, before.end(), word.start()) and not _begins_sentence(text, before.start())
    )


def _capitalised(text: str) -> Iterator[re.Match[str]]:
    return (word for word in _WORD.finditer(text) if word[0][0].isupper() and word[0][-1].islower())


def _begins_sentence(text: str, at: int) -> bool:
    before = text[max(0, at - _NEAR) : at].rstrip(" “‘„'(")
    return not before or before.endswith(_STOPS)
