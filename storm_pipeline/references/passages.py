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
from urllib.parse import urlsplit

from storm_pipeline.journal import fingerprint
from storm_pipeline.references.boilerplate import without_boilerplate
from storm_pipeline.text import word_count
from storm_pipeline.types import Citation, Snippet

_SHORTEST_OVERLAP = 4
"""Words that the end of a snippet and the beginning of its neighbour must share to be joined."""
_SHINGLE = 5
_SAME = 0.8
"""Share of the shorter text's word 5-grams that the longer one has, from which on the two are copies."""
_NUMBER = re.compile(r"\d+")
_PUNCTUATION = re.compile(r"\W+")


@dataclass(frozen=True)
class Passage:
    """A contiguous text of one page, possibly found in several overlapping snippets, and possibly on other pages too.

    Attributes:
        text: on one line.
        snippets: of this page, in the order of the text; the first one tells its address, title and date.
        copies: snippets of other pages that say the same.
    """

    text: str
    snippets: tuple[Snippet, ...]
    copies: tuple[Snippet, ...] = ()

    @cached_property
    def id(self) -> str:
        """Follows from the snippets that the passage is joined from."""
        return fingerprint(*sorted(snippet.id for snippet in self.snippets))

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
        return first.site or _host(first.url)

    @property
    def citation(self) -> Citation:
        """Its page, cited by the first of its snippets."""
        return _cite(self.snippets[0])

    @cached_property
    def words(self) -> int:
        """Length of the text in words."""
        return word_count(self.text)

    def citations(self) -> tuple[Citation, ...]:
        """Every snippet that it holds, of its own page and of copies."""
        return tuple(map(_cite, (*self.snippets, *self.copies)))


def passages(snippets: Iterable[Snippet]) -> tuple[Passage, ...]:
    """Join, clean and merge snippets; passages stand in the order in which their first snippet came.

    Snippets of one page are joined where one ends in the words with which another begins (four words or more), or
    where they are known to be neighbours; a snippet within another one is taken into it. Texts that share most of
    their words in the same order, and all numbers, are one passage: the longer one, with the other's page as a copy.
    """
    by_page: dict[str, list[Snippet]] = {}
    for snippet in snippets:
        by_page.setdefault(snippet.source_id, []).append(snippet)
    joined = [passage for page in by_page.values() for passage in _joined(page)]
    cleaned = [replace(passage, text=text) for passage in joined if (text := without_boilerplate(passage.text))]
    return _merged(cleaned)


def with_neighbours(snippets: Sequence[Snippet], page: Sequence[Snippet]) -> tuple[Snippet, ...]:
    """Snippets of a page, and those others of it that go on where one of them ends, or end where one begins.

    Args:
        snippets: some of the page's.
        page: all that is known of it.
    """
    chosen = dict.fromkeys(snippets)
    pieces = {snippet: _piece(snippet) for snippet in dict.fromkeys((*snippets, *page))}
    for snippet in snippets:
        for other in page:
            beside = pieces[snippet].joined(pieces[other]) or pieces[other].joined(pieces[snippet])
            if other not in chosen and beside:
                chosen[other] = None
    return tuple(chosen)


def numbered_passages(shown: Sequence[Passage]) -> str:
    """``[1] Title (site, date): text`` lines: a passage is one line, so that it cannot pose as part of a prompt."""
    return "\n".join(f"[{number}] {_heading(one)}: {_one_line(one.text)}" for number, one in enumerate(shown, 1))


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
    about = ", ".join(part for part in (passage.site, passage.published or "") if part)
    title = passage.title or passage.snippets[0].url
    return _one_line(f"{title} ({about})" if about else title).replace(": ", " – ")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def _cite(snippet: Snippet) -> Citation:
    return Citation(snippet.source_id, snippet.id)


def _joined(page: Sequence[Snippet]) -> list[Passage]:
    """The snippets of one page as few contiguous texts as they allow."""
    pieces = [_piece(snippet) for snippet in dict.fromkeys(page)]
    joining = True
    while joining:
        joining = False
        for i, first in enumerate(pieces):
            for j, second in enumerate(pieces):
                if i != j and (both := first.joined(second)) is not None:
                    pieces = [p for k, p in enumerate(pieces) if k not in (i, j)]
                    pieces.insert(min(i, j), both)
                    joining = True
                    break
            if joining:
                break
    return [Passage(" ".join(piece.words), piece.snippets) for piece in pieces if piece.words]


@dataclass(frozen=True)
class _Piece:
    """Words of a page with the snippets that they come from."""

    words: tuple[str, ...]
    snippets: tuple[Snippet, ...]

    @cached_property
    def plain(self) -> tuple[str, ...]:
        return tuple(map(_plain, self.words))

    def joined(self, other: "_Piece") -> "_Piece | None":
        """Both as one, if the other lies within this one or goes on where it ends; None if it does neither."""
        if _contains(self.plain, other.plain):
            return _Piece(self.words, (*self.snippets, *other.snippets))
        shared = _overlap(self.plain, other.plain)
        if shared >= _SHORTEST_OVERLAP:
            return _Piece(self.words + other.words[shared:], (*self.snippets, *other.snippets))
        return None


def _piece(snippet: Snippet) -> _Piece:
    return _Piece(tuple(_trimmed(snippet.text).split()), (snippet,))


@lru_cache(maxsize=1 << 16)
def _plain(word: str) -> str:
    return _PUNCTUATION.sub("", word.casefold())


def _trimmed(text: str) -> str:
    """Without the dots by which an engine shows that its snippet is cut."""
    return text.strip().strip("…").removeprefix("...").removesuffix("...").strip()


def _contains(outer: tuple[str, ...], inner: tuple[str, ...]) -> bool:
    return len(inner) <= len(outer) and f" {' '.join(inner)} " in f" {' '.join(outer)} "


def _overlap(first: tuple[str, ...], second: tuple[str, ...]) -> int:
    """Most words that end the first and begin the second: one pass over both (the failure function of KMP)."""
    longest = min(len(first), len(second))
    sequence: list[str | None] = [*second[:longest], None, *first[len(first) - longest :]]
    borders = [0] * len(sequence)
    for i in range(1, len(sequence)):
        border = borders[i - 1]
        while border and sequence[i] != sequence[border]:
            border = borders[border - 1]
        borders[i] = border + 1 if sequence[i] == sequence[border] else 0
    return borders[-1] if longest else 0


def _merged(found: Sequence[Passage]) -> tuple[Passage, ...]:
    """Copies merged, longer texts before shorter ones; the order of the passages stays."""
    grams = [_shingles(passage.text) for passage in found]
    numbers = [frozenset(_NUMBER.findall(passage.text)) for passage in found]
    holders: defaultdict[str, list[int]] = defaultdict(list)
    merged: dict[int, Passage] = {}
    for i in sorted(range(len(found)), key=lambda i: (-len(grams[i]), i)):
        rivals = Counter(chain.from_iterable(holders[gram] for gram in grams[i] if gram in holders))
        same = [j for j, shared in rivals.items() if shared >= _SAME * len(grams[i]) and numbers[i] <= numbers[j]]
        if same:
            best = min(same, key=lambda j: (-rivals[j], j))
            merged[best] = _with_copy(merged[best], found[i])
            continue
        merged[i] = found[i]
        for gram in grams[i]:
            holders[gram].append(i)
    return tuple(merged[i] for i in sorted(merged))


def _with_copy(passage: Passage, copy: Passage) -> Passage:
    """The passage with another page's snippets as copies; those of its own page are its own."""
    own = tuple(s for s in copy.snippets if s.source_id == passage.source_id and s not in passage.snippets)
    others = tuple(s for s in copy.snippets if s.source_id != passage.source_id)
    more = dict.fromkeys((*passage.copies, *others, *copy.copies))
    return replace(passage, snippets=(*passage.snippets, *own), copies=tuple(more))


@lru_cache(maxsize=2048)
def _shingles(text: str) -> frozenset[str]:
    words = [word for word in _PUNCTUATION.sub(" ", text.casefold()).split() if word]
    if len(words) < _SHINGLE:
        return frozenset((" ".join(words),))
    return frozenset(" ".join(words[i : i + _SHINGLE]) for i in range(len(words) - _SHINGLE + 1))
