"""Names in full, and the snippets of a page that introduce people whom its other snippets mention by bare surname."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from storm_pipeline.files import table_beside
from storm_pipeline.text.person_names import INSTITUTIONAL
from storm_pipeline.types import Snippet

_MOST = 2  # maximum number of snippets added per page
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_INITIAL = re.compile(r"\s(?:[^\W\d_]\.\s?)*")  # separator between two parts of a name: a space, and possibly initials
_MOST_WORDS = 4  # of a person's name
_ARTICLE = re.compile(r"\b(?:the|a|an)\s$", re.I)
_BODIES = "|".join(sorted(word.capitalize() for word in INSTITUTIONAL - {"and", "of", "the"}))
_OF_A_BODY = re.compile(rf"\b(?:{_BODIES}) (?:for|of|on) (?:(?:[^\Wa-z\d_]\w*|and|the) ){{0,6}}$")
_GENITIVE = re.compile(r"['’]s?$")
_THINGS = INSTITUTIONAL | frozenset(table_beside(__file__)["things"].split())
"""Words of names of two words and more that are no persons' names."""
_NEAR = 5  # characters before a word in which to look for the end of the previous sentence
_STOPS = (".", "!", "?", ":", "…", "”", '"', "»", "\n")


def introducing(snippets: Sequence[Snippet], page: Sequence[Snippet]) -> tuple[Snippet, ...]:
    """Snippets of a page with a first name, title or office for a name that the shown snippets use alone.

    "Daca said …" is useless to a reader while "Przemysław Daca, the head of …" is in a snippet that is not shown. Works
    only for scripts with capital letters; at most two snippets, those that introduce most names first. ``page``: all
    snippets of the page, in order.
    """
    shown = {snippet.id for snippet in snippets}
    unknown = {name for s in snippets for name in names_within(s.text)} - {
        name for s in snippets for name in _full(s.text)
    }
    others = {snippet: _full(snippet.text) for snippet in page if snippet.id not in shown}
    chosen: list[Snippet] = []
    while unknown and len(chosen) < _MOST:
        best = max(others, key=lambda s: len(others[s] & unknown), default=None)
        if best is None or not others[best] & unknown:
            break
        chosen.append(best)
        unknown -= others.pop(best)
    return tuple(chosen)


def persons_in(text: str) -> tuple[str, ...]:
    """The names of two to four capitalised words in a text that may be persons', in order and distinct.

    Names behind an article, with a word of institutions, places or works, or that say what an institution is for, are
    none. Only of scripts with capitals.
    """
    names: list[list[re.Match[str]]] = [[]]
    for word in _capitalised(text):
        last = names[-1][-1:]
        if last and _INITIAL.fullmatch(text, last[0].end(), word.start()):
            names[-1].append(word)
        elif not _begins_sentence(text, word.start()):
            names.append([word])
    before = ((own, text[: own[0].start()]) for own in names if 1 < len(own) <= _MOST_WORDS)
    full = (own for own, left in before if not _ARTICLE.search(left) and not _OF_A_BODY.search(left))
    spelt = (_GENITIVE.sub("", text[own[0].start() : own[-1].end()]) for own in full)
    return tuple(dict.fromkeys(name for name in spelt if _THINGS.isdisjoint(name.casefold().split())))


# Cached, since a page's snippets are compared for every section that shows one of them.
@lru_cache(maxsize=4096)
def names_within(text: str) -> frozenset[str]:
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
