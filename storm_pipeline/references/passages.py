"""Passages: what a capable model is shown of the sources. Snippets of one page joined, copies of a text merged.

Nothing that was found is lost for being cut at an edge, a fragment, or in another language: a passage is the text as it
stands on the page. What two pages say in the same words is shown once, and both can be cited for it.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain

from storm_pipeline.identity import host_of
from storm_pipeline.languages import count_words, detect
from storm_pipeline.quantities import missing
from storm_pipeline.references.boilerplate import without_boilerplate
from storm_pipeline.references.joining import are_neighbours, joined, piece_of
from storm_pipeline.text.words import folded_words, tidy
from storm_pipeline.types import Citation, Snippet

_SHINGLE = 5
_SAME = 0.8
"""Share of the shorter text's word 5-grams that the longer one has, from which on the two are copies."""
_OWN = 15
"""The most word 5-grams of its own that a copy may have: three words changed, or ten added."""
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*|[〇零一二三四五六七八九十百千万萬億亿]+")


@dataclass(frozen=True)
class Passage:
    """A contiguous text of one page, possibly found in several overlapping snippets, and possibly on other pages too.

    Attributes:
        text: on one line.
        snippets: of this page, in the order of the text, one within another behind it; the first one tells address,
            title and date.
        copies: snippets of other pages that say the same.
    """

    text: str
    snippets: tuple[Snippet, ...]
    copies: tuple[Snippet, ...] = ()

    @property
    def source_id(self) -> str:
        """Id of its page."""
        return self.snippets[0].source_id

    @property
    def title(self) -> str:
        """Title of its page; may be empty."""
        return self.snippets[0].title

    @property
    def published(self) -> str | None:
        """ISO date of its page, where one of the snippets knows it."""
        return next((snippet.published for snippet in self.snippets if snippet.published), None)

    @property
    def site(self) -> str:
        """Name of the site, or else the host of the page; may be empty."""
        first = self.snippets[0]
        return first.site or host_of(first.url).removeprefix("www.")

    @cached_property
    def words(self) -> int:
        """Length of the text in words."""
        return count_words(self.text)

    def citations(self) -> tuple[Citation, ...]:
        """Every snippet that it holds, of its own page and of copies."""
        return tuple(map(_cite, (*self.snippets, *self.copies)))


def passages(snippets: Iterable[Snippet]) -> tuple[Passage, ...]:
    """Join, clean and merge snippets; passages stand in the order in which their first snippet came.

    Snippets of one page are joined where one ends in the words with which another begins (four words or more), the
    longest overlaps first; a snippet within another one is taken into it. Texts that share most of
    their words in the same order, and whose numbers are the same, are one passage: the longer one, with the other's
    page as a copy, where the first of them stood.
    """
    by_page: dict[str, dict[str, Snippet]] = {}
    for snippet in snippets:
        by_page.setdefault(snippet.source_id, {}).setdefault(snippet.id, snippet)
    pieces = [piece for page in by_page.values() for piece in joined(tuple(page.values()))]
    return _merged([Passage(text, own.snippets) for own in pieces if (text := without_boilerplate(own.text))])


def with_neighbours(snippets: Sequence[Snippet], page: Sequence[Snippet]) -> tuple[Snippet, ...]:
    """Snippets of a page, and those others of it that go on where one of them ends, or end where one begins.

    Args:
        snippets: some of the page's.
        page: all that is known of it.
    """
    chosen = {snippet.id: snippet for snippet in snippets}
    beside = {snippet.id: piece_of(snippet) for snippet in page if snippet.id not in chosen}
    for own in map(piece_of, snippets):
        for other in page:
            if other.id not in chosen and are_neighbours(own, beside[other.id]):
                chosen[other.id] = other
    return tuple(chosen.values())


def numbered_passages(shown: Sequence[Passage]) -> str:
    """``[1] Title (site, date): text`` lines: a passage is one line, so that it cannot pose as part of a prompt."""
    return "\n".join(f"[{number}] {_heading(one)}: {tidy(one.text)}" for number, one in enumerate(shown, 1))


def within_budget(ranked: Iterable[Passage], words: int) -> tuple[Passage, ...]:
    """The first passages of a ranking that fit into so many words, one at least; what is too long is passed over."""
    kept: list[Passage] = []
    left = words
    for passage in ranked:
        if passage.words <= left or not kept:
            kept.append(passage)
            left -= passage.words
    return tuple(kept)


def _heading(passage: Passage) -> str:
    """Title, site and date of a page, without a colon: that ends the heading."""
    title = passage.title or passage.site or "untitled"
    about = ", ".join(part for part in (passage.site if passage.title else "", passage.published or "") if part)
    return tidy(f"{title} ({about})" if about else title).replace(":", " –")


def _cite(snippet: Snippet) -> Citation:
    return Citation(snippet.source_id, snippet.id)


def _merged(found: Sequence[Passage]) -> tuple[Passage, ...]:
    """Copies merged, longer texts before shorter ones; each passage stands where the first text of it stood."""
    grams = [_shingles(passage.text) for passage in found]
    numbers = [_NUMBER.findall(passage.text) for passage in found]
    holders: defaultdict[str, list[int]] = defaultdict(list)
    merged: dict[int, Passage] = {}
    place: dict[int, int] = {}
    for i in sorted(range(len(found)), key=lambda i: (-len(grams[i]), i)):
        rivals = Counter(chain.from_iterable(holders[gram] for gram in grams[i] if gram in holders))
        same = [
            j
            for j, shared in rivals.items()
            if len(grams[i]) - shared <= min(_OWN, (1 - _SAME) * len(grams[i]))
            and _is_within(numbers[i], numbers[j])
            and not _lacks_quantity(found[j].text, found[i].text)
        ]
        if same:
            best = min(same, key=lambda j: (-rivals[j], j))
            merged[best], place[best] = _with_copy(merged[best], found[i]), min(place[best], i)
            continue
        merged[i], place[i] = found[i], i
        for gram in grams[i]:
            holders[gram].append(i)
    return tuple(merged[i] for i in sorted(merged, key=place.__getitem__))


def _is_within(some: Sequence[str], others: Sequence[str]) -> bool:
    """Whether others have all of some in their order."""
    rest = iter(others)
    return all(one in rest for one in some)


def _lacks_quantity(text: str, told: str) -> bool:
    """Whether a text lacks a quantity that another one tells, in words too."""
    return bool(missing(told, [text], language=detect(told), source_languages=[detect(text)]))


def _with_copy(passage: Passage, copy: Passage) -> Passage:
    """The passage with another page's snippets as copies; those of its own page are its own."""
    own = tuple(s for s in copy.snippets if s.source_id == passage.source_id and s not in passage.snippets)
    others = tuple(s for s in copy.snippets if s.source_id != passage.source_id)
    more = dict.fromkeys((*passage.copies, *others, *copy.copies))
    return replace(passage, snippets=(*passage.snippets, *own), copies=tuple(more))


@lru_cache(maxsize=2048)
def _shingles(text: str) -> frozenset[str]:
    words = folded_words(text)
    if len(words) < _SHINGLE:
        return frozenset((" ".join(words),))
    return frozenset(" ".join(words[i : i + _SHINGLE]) for i in range(len(words) - _SHINGLE + 1))
