"""Passages, the source text shown to capable models: snippets of one page joined, copies on other pages left out.

No snippet is dropped for being cut off, a fragment, or in another language: a passage is the text as it is on the page.
A text that occurs on two pages is shown once, of the page that comes first, which alone is cited for it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from storm_pipeline.identity import host_of
from storm_pipeline.languages import count_words, detect
from storm_pipeline.references.cleaning import cleaned
from storm_pipeline.references.copies import without_copies
from storm_pipeline.references.joining import Piece, apart, are_neighbours, joined, piece_of
from storm_pipeline.text.words import tidy
from storm_pipeline.types import Citation, Snippet

_NO_EXCERPTS: Mapping[str, str] = {}


@dataclass(frozen=True)
class Passage:
    """A contiguous text of one page, perhaps in several overlapping snippets, and in place of copies elsewhere."""

    text: str  # on one line
    snippets: tuple[Snippet, ...]  # of this page, in text order; the first one provides address and title
    copies: tuple[Snippet, ...] = ()  # snippets of other pages that say the same, and are not cited with it

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

    @cached_property
    def words(self) -> int:
        """Length of the text in words."""
        return count_words(self.text)

    def citations(self) -> tuple[Citation, ...]:
        """Citations of its own snippets: a copy is not a second support."""
        return tuple(Citation(snippet.source_id, snippet.id) for snippet in self.snippets)

    @cached_property
    def snippet_ids(self) -> frozenset[str]:
        """Ids of all its snippets, copies included."""
        return frozenset(snippet.id for snippet in (*self.snippets, *self.copies))


def passages(snippets: Iterable[Snippet], *, language: str = "") -> tuple[Passage, ...]:
    """Join and clean snippets, and leave copies out; passages are ordered by their first snippet's position.

    Snippets of one page that overlap by four words or more are joined, the longest overlaps first; a snippet contained
    in another one is merged into it. A text that repeats one of another page becomes one passage with it: that which
    comes first, or says all that the other says and more, at the position of the first of them.

    Args:
        language: of what is written from them, if known. Snippets in another one stay apart: which of them a statement
            rests on its writer alone can tell, no comparison of words.
    """
    by_page: dict[str, dict[str, Snippet]] = {}
    for snippet in snippets:
        by_page.setdefault(snippet.source_id, {}).setdefault(snippet.id, snippet)
    whole = (piece for page in by_page.values() for piece in joined(tuple(page.values())))
    pieces = [part for piece in whole for part in (apart(piece) if _has_foreign(piece, language) else [piece])]
    found = [Passage(text, own.snippets) for own in pieces if (text := cleaned(own.text))]
    return tuple(_with_copies(*(found[i] for i in group)) for group in without_copies([own.text for own in found]))


def _has_foreign(own: Piece, language: str) -> bool:
    return bool(language) and len(own.snippets) > 1 and any(detect(s.text) not in {"", language} for s in own.snippets)


def with_neighbours(snippets: Sequence[Snippet], page: Sequence[Snippet]) -> tuple[Snippet, ...]:
    """Snippets of a page, and the page's other snippets that overlap them."""
    chosen = {snippet.id: snippet for snippet in snippets}
    others = {snippet.id: piece_of(snippet) for snippet in page if snippet.id not in chosen}
    for own in map(piece_of, snippets):
        for other in page:
            if other.id not in chosen and are_neighbours(own, others[other.id]):
                chosen[other.id] = other
    return tuple(chosen.values())


def numbered_passages(
    shown: Sequence[Passage], only: Collection[int] | None = None, excerpts: Mapping[str, str] = _NO_EXCERPTS
) -> str:
    """``[1] Title (site, date): text`` lines; one line per passage, so that it cannot pose as part of a prompt.

    Args:
        only: positions of those to show, under the same numbers; by default all.
        excerpts: id of a passage's first snippet → what is shown of its text, behind a heading that says so.
    """
    lines = []
    for number, passage in enumerate(shown, 1):
        if only is None or number - 1 in only:
            part = excerpts.get(passage.snippets[0].id, "")
            lines.append(f"[{number}] {_heading(passage, part)}: {tidy(part or passage.text)}")
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


def _heading(passage: Passage, part: str) -> str:
    """Title, site and date of a page, without colons, since a colon ends the heading; says what is shown in part."""
    title = passage.title or passage.site or "untitled"
    known = (passage.site if passage.title else "", passage.published or "", "in part" if part else "")
    about = ", ".join(filter(None, known))
    return tidy(f"{title} ({about})" if about else title).replace(":", " –")


def _with_copies(passage: Passage, *copies: Passage) -> Passage:
    """The passage with what it is shown in place of: snippets of its page join its own, others become copies."""
    every = dict.fromkeys(snippet for copy in copies for snippet in copy.snippets)
    own = tuple(one for one in every if one.source_id == passage.source_id and one not in passage.snippets)
    others = tuple(one for one in every if one.source_id != passage.source_id)
    return replace(passage, snippets=(*passage.snippets, *own), copies=others)
