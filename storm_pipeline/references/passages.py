"""Passages, the source text shown to capable models: snippets of one page joined, copies of a text merged.

No snippet is dropped for being cut off, a fragment, or in another language: a passage is the text as it is on the page.
A text that occurs on two pages is shown once, and both pages can be cited for it.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain

from storm_pipeline.identity import host_of
from storm_pipeline.languages import count_words, detect
from storm_pipeline.references.cleaning import cleaned
from storm_pipeline.references.joining import Piece, apart, are_neighbours, joined
from storm_pipeline.references.repeated import Told, site_lines, without_site_lines
from storm_pipeline.text.quantities import missing
from storm_pipeline.text.words import folded_words, numbers, tidy
from storm_pipeline.types import Citation, Snippet

_SHINGLE = 5
_SAME = 0.8  # minimum share of the shorter text's word 5-grams in the longer one for the two to be copies
_OWN = 15  # maximum word 5-grams that a copy may not share: three words changed, or ten added
_GAP = "[…]"


@dataclass(frozen=True)
class Passage:
    """A contiguous text of one page, perhaps in several overlapping snippets, and perhaps on other pages too."""

    text: str  # on one line
    snippets: tuple[Snippet, ...]  # of this page, in text order; the first one provides address and title
    copies: tuple[Snippet, ...] = ()  # snippets of other pages with the same text

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
        """ISO date of its page, if any of the snippets has it."""
        return next((snippet.published for snippet in self.snippets if snippet.published), None)

    @property
    def site(self) -> str:
        """Name of the site, or else the host of the page; may be empty."""
        first = self.snippets[0]
        return first.site or host_of(first.url).removeprefix("www.")

    @property
    def heading(self) -> str:
        """The headings above it on its page; empty if unknown."""
        return self.snippets[0].heading

    def goes_on(self, before: "Passage") -> bool:
        """Whether it follows another one of its page without a gap; False where their places are unknown."""
        ends = [[own.place for own in one.snippets if own.place is not None] for one in (before, self)]
        return self.source_id == before.source_id and all(ends) and max(ends[0]) + 1 == min(ends[1])

    @cached_property
    def words(self) -> int:
        """Length of the text in words."""
        return count_words(self.text)

    def citations(self) -> tuple[Citation, ...]:
        """Citations of all its snippets, copies included."""
        return tuple(Citation(snippet.source_id, snippet.id) for snippet in (*self.snippets, *self.copies))


def passages(snippets: Iterable[Snippet], beside: Iterable[Snippet] = (), *, language: str = "") -> tuple[Passage, ...]:
    """Join, clean and merge snippets; passages are ordered by their first snippet's position.

    Snippets of one page that stand in a row under one heading, or overlap by four words or more, are joined. A text
    whose words, in their order, and numbers nearly all stand in a longer one becomes one passage with it: the longer
    text, with the other page as a copy, at the position of the first of them.
    Lines that three pages of a site have are left out.

    Args:
        beside: other snippets to know such lines by.
        language: of what is written from them, if known. Snippets in another one stay apart: which of them a statement
            rests on its writer alone can tell, no comparison of words.
    """
    snippets = tuple(snippets)
    of_site = site_lines((*snippets, *beside))
    by_page: dict[str, dict[str, Snippet]] = {}
    for snippet in snippets:
        by_page.setdefault(snippet.source_id, {}).setdefault(snippet.id, snippet)
    whole = (piece for page in by_page.values() for piece in joined(tuple(page.values())))
    pieces = [part for piece in whole for part in (apart(piece) if _has_foreign(piece, language) else [piece])]
    texts = (cleaned(without_site_lines(piece.text, of_site)) for piece in pieces)
    return _merged([Passage(text, own.snippets) for own, text in zip(pieces, texts, strict=True) if text])


def _has_foreign(own: Piece, language: str) -> bool:
    return bool(language) and len(own.snippets) > 1 and any(detect(s.text) not in {"", language} for s in own.snippets)


def with_neighbours(snippets: Sequence[Snippet], page: Sequence[Snippet]) -> tuple[Snippet, ...]:
    """Snippets of a page, and the page's other snippets that touch or overlap them, those of the first one first."""
    chosen = {snippet.id: snippet for snippet in snippets}
    for own in snippets:
        for other in page:
            if other.id not in chosen and are_neighbours(own, other):
                chosen[other.id] = other
    return tuple(chosen.values())


def distinct(snippets: Iterable[Snippet]) -> tuple[Passage, ...]:
    """A passage for each text of the snippets, which are not joined: the longest copy, where the first stood."""
    return _merged([Passage(text, (one,)) for one in snippets if (text := cleaned(one.text))])


def numbered_passages(shown: Sequence[Passage], only: Collection[int] | None = None) -> str:
    """``[1] Title › Heading (site, date): text`` lines; one line a passage, so that it cannot pose as part of a prompt.

    A sentence that several passages have stands in the first of them; a passage without others says ``as [1]``. A
    passage that stands behind another one of its page, and does not go on from it, begins with ``[…]``.

    Args:
        only: positions of those to show, under the same numbers; by default all.
    """
    told = Told()
    lines = []
    before: Passage | None = None
    for number, passage in enumerate(shown, 1):
        if only is None or number - 1 in only:
            text, holder = told.rest_of(tidy(passage.text), passage.site, number)
            has_gap = before and before.source_id == passage.source_id and not passage.goes_on(before)
            gap = f"{_GAP} " if text and has_gap else ""
            lines.append(f"[{number}] {_about(passage)}: {gap}{text or f'as [{holder}]'}")
            before = passage
    return "\n".join(lines)


def within_budget(ranked: Iterable[Passage], words: int) -> tuple[Passage, ...]:
    """The best-ranked passages that fit into ``words``, at least one; passages that are too long are skipped."""
    kept: list[Passage] = []
    left = words
    for passage in ranked:
        if passage.words <= left or not kept:
            kept.append(passage)
            left -= passage.words
    return tuple(kept)


def _about(passage: Passage) -> str:
    """Title, heading, site and date, without colons, since a colon ends them."""
    title = " › ".join(filter(None, (passage.title or passage.site or "untitled", passage.heading)))
    about = ", ".join(filter(None, (passage.site if passage.title else "", passage.published or "")))
    return tidy(f"{title} ({about})" if about else title).replace(":", " –")


def _merged(found: Sequence[Passage]) -> tuple[Passage, ...]:
    """Merge copies into the longest text; each passage is at the position of its first text."""
    grams = [_shingles(passage.text) for passage in found]
    holders: dict[str, tuple[int, ...]] = {}
    merged, place = dict[int, Passage](), dict[int, int]()
    for i in sorted(range(len(found)), key=lambda i: (-len(grams[i]), i)):
        held = {gram: holders[gram] for gram in grams[i] if gram in holders}
        rivals = Counter(chain.from_iterable(held.values()))
        same = [
            j
            for j, shared in rivals.items()
            if len(grams[i]) - shared <= min(_OWN, (1 - _SAME) * len(grams[i]))
            and _has_numbers(found[j].text, found[i].text)
        ]
        if same:
            best = min(same, key=lambda j: (-rivals[j], j))
            merged[best], place[best] = _with_copy(merged[best], found[i]), min(place[best], i)
            continue
        merged[i], place[i] = found[i], i
        holders |= dict.fromkeys(grams[i], (i,))
        holders |= {gram: (*others, i) for gram, others in held.items()}
    return tuple(merged[i] for i in sorted(merged, key=place.__getitem__))


def _has_numbers(text: str, other: str) -> bool:
    """Whether a text has the digits of another one, and its dates."""
    dates = missing(other, [text], language=detect(other), source_languages=[detect(text)])
    return numbers(other) <= numbers(text) and not dates


def _with_copy(passage: Passage, copy: Passage) -> Passage:
    """The passage with another one merged: snippets of the same page join its own, others become copies."""
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
