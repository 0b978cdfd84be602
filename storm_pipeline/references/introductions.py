"""Names in full, and the snippets of a page that introduce people whom its other snippets mention by bare surname."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import dropwhile, pairwise

from storm_pipeline.files import table_beside
from storm_pipeline.text.person_names import INSTITUTIONAL
from storm_pipeline.text.words import GENITIVE
from storm_pipeline.types import Snippet

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_INITIAL = re.compile(r"\s(?:[^\W\d_]\.\s?)*")  # separator between two parts of a name: a space, and possibly initials
_TABLE = table_beside(__file__)
_MOST, _MOST_WORDS = 2, 4  # snippets added per page, and words of a person's name
_BODIES = "|".join(sorted(word.capitalize() for word in INSTITUTIONAL - {"and", "of", "the"}))
_OF_A_BODY = re.compile(rf"\b(?:{_BODIES}) (?:for|of|on) (?:(?:[^\Wa-z\d_]\w*|and|the) ){{0,6}}$")
_OF_A_TITLE = re.compile(rf"\b(?:{'|'.join(_TABLE['titles'].title().split())}) of [^\W\da-z_][^\W\d_]+")
_BEHIND = re.compile(rf"\b(?:{'|'.join(_TABLE['behind'].split())})\s$|[\"“‘„«]$", re.I)
_THINGS, _OFFICES = INSTITUTIONAL | frozenset(_TABLE["things"].split()), frozenset(_TABLE["offices"].split())
"""Words of names of two words and more that are no persons' names, and offices before persons' names."""
_OF_A_THING = re.compile(rf"\s(?:{'|'.join(sorted(_THINGS)).title()}|[Ss]tations?)\b")
SHORT_FORM = re.compile(r"[^\W\d_] \(([A-Z]{2,6})\)")  # behind a name in full: Chicago Transit Authority (CTA)
_NEAR, _NEAR_NAME = 5, 12  # characters before a word in which to look for the end of a sentence, and for an article
_STOPS = (".", "!", "?", ":", "…", "”", '"', "»", "\n")


def introducing(snippets: Sequence[Snippet], page: Sequence[Snippet]) -> tuple[Snippet, ...]:
    """Snippets of a page with a first name, title or office for a name that the shown snippets use alone.

    "Daca said …" is useless to a reader while "Przemysław Daca, the head of …" is in a snippet that is not shown. Works
    only for scripts with capital letters; at most two snippets, those that introduce most names first. ``page``: all
    snippets of the page, in order.
    """
    shown = {snippet.id for snippet in snippets}
    unknown = {name for s in snippets for name in names_within(s.text)} - {
        name for s in snippets for name in surnames_within(s.text)
    }
    others = {snippet: surnames_within(snippet.text) for snippet in page if snippet.id not in shown}
    chosen: list[Snippet] = []
    while unknown and len(chosen) < _MOST:
        best = max(others, key=lambda s: len(others[s] & unknown), default=None)
        if best is None or not others[best] & unknown:
            break
        chosen.append(best)
        unknown -= others.pop(best)
    return tuple(chosen)


def persons_in(text: str, pages: str) -> tuple[str, ...]:
    """The names of two to four capitalised words in a text that may be persons', in order and distinct.

    None stands behind an article or opens a quotation, does so often on the pages, or stands behind "in" there; none
    has a word which they spell in lower case or which institutions, places or works have, or says what an institution
    is for. An office before a name is no part of it, but a title of nobility with its place is one: Duke of Hamilton.
    Only of scripts with capitals. ``pages``: text on the same subject.
    """
    names: list[list[re.Match[str]]] = [[]]
    for word in _capitalised(text):
        last = names[-1][-1:]
        goes_on = last and not GENITIVE.search(last[0][0]) and _INITIAL.fullmatch(text, last[0].end(), word.start())
        names[-1:] = [[*names[-1], word]] if goes_on else [names[-1], [word]]
    found = (_person(text, own, _in_lower_case(pages)) for own in names)
    known = {*(name for name in found if name and not _is_behind(name, pages)), *_OF_A_TITLE.findall(text)}
    return tuple(sorted(known, key=lambda name: (text.index(name), name)))


def _person(text: str, words: Sequence[re.Match[str]], common: frozenset[str]) -> str:
    """The name of a person among capitalised words in a row; empty if they are none."""
    plain = [GENITIVE.sub("", word[0]).casefold() for word in words]
    name = list(dropwhile(lambda i: plain[i] in common or plain[i] in _OFFICES, range(len(words))))
    if not 1 < len(name) <= _MOST_WORDS or not _THINGS.isdisjoint(plain) or any(plain[i] in common for i in name):
        return ""
    start = words[name[0]].start()
    is_thing = _BEHIND.search(text[:start]) or _OF_A_BODY.search(text[:start])
    return "" if is_thing else GENITIVE.sub("", text[start : words[-1].end()])


def _is_behind(name: str, pages: str) -> bool:
    """Whether pages have a name twice and more behind an article or "in", or before a thing, a third of the time."""
    places = list(re.finditer(rf"{re.escape(name)}(?!['’\w])", pages))
    behind = (_BEHIND.search(pages[max(0, one.start() - _NEAR_NAME) : one.start()]) for one in places)
    found = [bool(own or _OF_A_THING.match(pages, one.end())) for one, own in zip(places, behind, strict=True)]
    return sum(found) >= max(2, len(found) / 3)


@lru_cache(maxsize=2)  # all findings of a run are read beside the same pages
def _in_lower_case(pages: str) -> frozenset[str]:
    """Words that begin with a small letter at least once in ten times: in addresses names do so, too."""
    words = Counter(_WORD.findall(pages))
    small: Counter[str] = Counter()
    for word, number in words.items():
        small[word.casefold()] += number * (10 if word[0].islower() else -1)
    return frozenset(word for word, balance in small.items() if balance > 0)


# Cached, since a page's snippets are compared for every section that shows one of them.
@lru_cache(maxsize=4096)
def names_within(text: str) -> frozenset[str]:
    """Capitalised words within a sentence."""
    return frozenset(word[0] for word in _capitalised(text) if not _begins_sentence(text, word.start()))


@lru_cache(maxsize=4096)
def surnames_within(text: str) -> frozenset[str]:
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
