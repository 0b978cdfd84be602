"""Joins overlapping snippets of one page into the contiguous texts that they were cut from. Pure functions."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import zip_longest

from storm_pipeline.types import Snippet

_SHORTEST_OVERLAP = 4  # minimum overlap, in words, at which two snippets are joined
_A_WORD = 3  # Han or kana characters that count as one word
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_TOKEN = re.compile(rf"\s*(?:[{_UNSPACED}]|[^\s{_UNSPACED}]+)")
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")
_ENDS = re.compile(r"[.!?…。！？][\"'”’»)\]]*$")
_REST = 45  # maximum tokens that complete a truncated sentence
_PUNCTUATION = re.compile(r"(?<!\d)\W+|\W+(?!\d)")  # punctuation and spaces, except between two digits: 3.5 is not 35


@dataclass(frozen=True)
class Piece:
    """A text of a page with the snippets that it comes from."""

    tokens: tuple[str, ...]  # its words, or Han and kana characters, each with the white space before it
    snippets: tuple[Snippet, ...]  # in text order; a snippet contained in another one follows it

    @property
    def text(self) -> str:
        """The text, with the line breaks of the page."""
        return "".join(self.tokens)

    @property
    def is_placed(self) -> bool:
        """Whether its place on the page is known."""
        return self.snippets[0].place is not None

    @cached_property
    def plain(self) -> tuple[str, ...]:
        """The tokens without case and punctuation."""
        bare = (token.strip().casefold() for token in self.tokens)
        return tuple(token if token.isalnum() else _PUNCTUATION.sub("", token) for token in bare)

    @cached_property
    def line(self) -> str:
        """The plain tokens in one string, so that containment of pieces is a single substring search."""
        return f" {' '.join(self.plain)} "

    @cached_property
    def head(self) -> str:
        """The shortest possible overlap at the beginning."""
        return f" {' '.join(self.plain[:_SHORTEST_OVERLAP])} "

    @cached_property
    def tail(self) -> str:
        """The shortest possible overlap at the end."""
        return f" {' '.join(self.plain[-_SHORTEST_OVERLAP:])} "


@lru_cache(maxsize=2048)
def piece_of(snippet: Snippet) -> Piece:
    """Return a snippet as a piece, without the ellipses of search engines.

    Cached with its plain tokens, since the snippets of a page are compared for every section that shows one.
    """
    text = snippet.text.strip().strip("…").removeprefix("...").removesuffix("...").strip()
    return Piece(tuple(_TOKEN.findall(text)), (snippet,))


def join_snippets(page: Sequence[Snippet]) -> list[Piece]:
    """Join the distinct snippets of one page into as few texts as their overlaps allow.

    Snippets with known places do not overlap and are not joined, so that each can be cited alone. Among the
    others, the longest overlaps are joined first; a snippet contained in another one is merged into it. Snippets
    without text are dropped. Those with places come first, in the order of the page, then the others by their first
    snippet's position. Time is quadratic in the number of snippets without a place.
    """
    position = {snippet.id: i for i, snippet in enumerate(page)}
    pieces = [piece for snippet in page if snippet.place is None and (piece := piece_of(snippet)).tokens]
    texts = _without_contained([*_placed_pieces(page), *_chain(_without_contained(pieces))])
    return sorted(texts, key=lambda p: -1 if p.is_placed else min(position[snippet.id] for snippet in p.snippets))


def _placed_pieces(page: Sequence[Snippet]) -> list[Piece]:
    """Return a piece for each snippet with a known place, in the order of the page."""
    ordered = sorted((s for s in page if s.place is not None), key=lambda s: (s.place or 0, s.id))
    return [piece for snippet in ordered if (piece := piece_of(snippet)).tokens]


def split_by_snippet(piece: Piece) -> list[Piece]:
    """Split a joined text into one piece for each of its snippets, without what they share.

    A truncated snippet is extended to the end of its sentence, if that is near; its piece then includes the following
    snippet too. A snippet within another one stays with it.
    """
    spans = {snippet: _span_in(piece, snippet) for snippet in piece.snippets}
    outer = sorted(
        (snippet for snippet, span in spans.items() if not any(_is_within(span, other) for other in spans.values())),
        key=lambda snippet: spans[snippet],
    )
    parts: list[Piece] = []
    begin, of_part = 0, tuple[Snippet, ...]()
    for snippet, after in zip_longest(outer, outer[1:]):
        end, last = spans[snippet][1], spans[after][1] if after else len(piece.tokens)
        cut = _sentence_end(piece.tokens, end, last) if after else last
        of_part += (snippet,)
        if cut > begin and (after is None or cut < last):
            held = (inner for inner in spans if inner not in outer and begin < spans[inner][1] <= cut)
            both = (*of_part, after) if after and cut > end else of_part
            parts.append(Piece(piece.tokens[begin:cut], (*both, *held)))
            begin, of_part = cut, ()
    return parts


def _span_in(piece: Piece, snippet: Snippet) -> tuple[int, int]:
    """Return the start and end of a snippet's tokens within a piece that contains it."""
    inner = piece_of(snippet)
    start = piece.line.count(" ", 0, max(0, piece.line.find(inner.line)))
    return start, start + len(inner.tokens)


def _is_within(inner: tuple[int, int], other: tuple[int, int]) -> bool:
    return inner != other and other[0] <= inner[0] and inner[1] <= other[1]


def _sentence_end(tokens: Sequence[str], at: int, last: int) -> int:
    """Return the end of the sentence truncated at token ``at``, or ``at`` if no end is near."""
    near = range(at, min(at + _REST, last) + 1)
    return next((end for end in near if _ENDS.search(tokens[end - 1])), at)


def are_neighbours(snippet: Snippet, other: Snippet) -> bool:
    """Return whether two snippets of a page touch by their places or, if these are unknown, overlap."""
    if snippet.place is not None and other.place is not None:
        return abs(snippet.place - other.place) == 1
    first, second = piece_of(snippet), piece_of(other)
    if first.line in second.line or second.line in first.line:
        return True
    return bool(_overlap(first, second) or _overlap(second, first))


def _without_contained(pieces: Sequence[Piece]) -> list[Piece]:
    """Merge pieces contained in others into them; the order is kept."""
    holders: dict[int, list[Snippet]] = {}
    for i in sorted(range(len(pieces)), key=lambda i: (-len(pieces[i].tokens), i)):
        holder = next((j for j in holders if pieces[i].line in pieces[j].line), i)
        holders.setdefault(holder, []).extend(pieces[i].snippets)
    held = ((pieces[i], tuple(inner)) for i, inner in sorted(holders.items()))  # plain tokens are cached in the piece
    return [piece if len(inner) == len(piece.snippets) else Piece(piece.tokens, inner) for piece, inner in held]


def _chain(pieces: Sequence[Piece]) -> list[Piece]:
    """Join pieces at their overlaps, the longest overlap first."""
    first_of = {i: i for i in range(len(pieces))}  # last piece of a chain → its first one
    last_of = dict(first_of)
    next_of: dict[int, tuple[int, int]] = {}
    for shared, i, j in sorted(_overlaps(pieces), key=lambda overlap: (-overlap[0], overlap[1:])):
        if i in first_of and j in last_of and first_of[i] != j:
            first, last = first_of.pop(i), last_of.pop(j)
            first_of[last], last_of[first] = first, last
            next_of[i] = (j, shared)
    chains = []
    for first in last_of:
        if first not in next_of:
            chains.append(pieces[first])
            continue
        at, tokens, snippets = first, list(pieces[first].tokens), list(pieces[first].snippets)
        while at in next_of:
            at, shared = next_of[at]
            tokens += pieces[at].tokens[shared:]
            snippets += pieces[at].snippets
        chains.append(Piece(tuple(tokens), tuple(snippets)))
    return chains


def _overlaps(pieces: Sequence[Piece]) -> Iterator[tuple[int, int, int]]:
    """Yield the length of each overlap in tokens, and the positions of the piece before and the piece after it."""
    for i, first in enumerate(pieces):
        for j, second in enumerate(pieces):
            if i != j and (shared := _overlap(first, second)):
                yield shared, i, j


def _overlap(first: Piece, second: Piece) -> int:
    """Return the length in tokens of the longest suffix of the first that is a prefix of the second (as in KMP).

    0 if it is shorter than the minimum overlap.
    """
    if second.head not in first.line or first.tail not in second.line:
        return 0
    longest = min(len(first.plain), len(second.plain))
    sequence: list[str | None] = [*second.plain[:longest], None, *first.plain[len(first.plain) - longest :]]
    borders = [0] * len(sequence)
    for i in range(1, len(sequence)):
        border = borders[i - 1]
        while border and sequence[i] != sequence[border]:
            border = borders[border - 1]
        borders[i] = border + 1 if sequence[i] == sequence[border] else 0
    shared = borders[-1]
    weight = sum(1 if _IS_UNSPACED.match(token) else _A_WORD for token in second.plain[:shared] if token)
    return shared if weight >= _SHORTEST_OVERLAP * _A_WORD else 0
