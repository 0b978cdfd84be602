"""Passages, the source text shown to capable models: snippets of one page joined, copies on other pages left out.

No snippet is dropped for being cut off, a fragment, or in another language: a passage is the text as it is on the page.
A text that occurs on two pages is shown once, from the page that comes first, and only that page is cited for it.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from storm_pipeline.evidence.cleaning import clean
from storm_pipeline.evidence.editions import without_duplicates
from storm_pipeline.evidence.joining import Piece, are_neighbours, join_snippets, split_by_snippet
from storm_pipeline.text.identity import host_of
from storm_pipeline.text.languages import count_words, detect
from storm_pipeline.text.markers import numbered_lines
from storm_pipeline.text.person_names import tidy_names
from storm_pipeline.text.words import tidy
from storm_pipeline.types import Citation, Snippet

_GAP, _SAME_PAGE = "[…]", "the same page"


@dataclass(frozen=True)
class Passage:
    """A contiguous text of a page, of one or several overlapping snippets, and its copies on other pages."""

    text: str  # on one line
    snippets: tuple[Snippet, ...]  # of this page, in text order; the first one provides address and title
    copies: tuple[Snippet, ...] = ()  # snippets of other pages all of whose sentences are in it

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
    def author(self) -> str:
        """Names of its page's authors, if any of the snippets has them."""
        return tidy_names(next((snippet.author for snippet in self.snippets if snippet.author), ""))

    @property
    def site(self) -> str:
        """Name of the site, or else the host of the page; may be empty."""
        first = self.snippets[0]
        return first.site or host_of(first.url).removeprefix("www.")

    @property
    def heading(self) -> str:
        """The headings above it on its page; empty if unknown."""
        return self.snippets[0].heading

    def continues(self, before: "Passage") -> bool:
        """Return whether it follows another passage of its page without a gap; False if their places are unknown."""
        ends = [[snippet.place for snippet in p.snippets if snippet.place is not None] for p in (before, self)]
        return self.source_id == before.source_id and all(ends) and max(ends[0]) + 1 == min(ends[1])

    @cached_property
    def words(self) -> int:
        """Length of the text in words."""
        return count_words(self.text)

    def citations(self) -> tuple[Citation, ...]:
        """Return citations of its own snippets, not of copies."""
        return tuple(Citation(snippet.source_id, snippet.id) for snippet in self.snippets)

    def pieces(self) -> tuple["Passage", ...]:
        """Return a passage for each of its own snippets; itself if it has only one, or if their texts are not in it."""
        texts = [clean(snippet.text) for snippet in self.snippets]
        if len(texts) == 1 or not all(text and text in self.text for text in texts):
            return (self,)
        return tuple(Passage(text, (snippet,)) for text, snippet in zip(texts, self.snippets, strict=True))

    @cached_property
    def snippet_ids(self) -> frozenset[str]:
        """Ids of all its snippets, copies included."""
        return frozenset(snippet.id for snippet in (*self.snippets, *self.copies))


def passages(snippets: Iterable[Snippet], *, language: str = "") -> tuple[Passage, ...]:
    """Join and clean snippets, and merge copies; passages are ordered by their first snippet's position.

    Snippets of one page that overlap by four words or more are joined, unless their places are known. A text whose
    sentences are all in an earlier one of another page becomes one passage with it.

    ``language``: of the text written from them, if known. Snippets in another language are not joined: only the writer,
    and no comparison of words, can say which of them supports a statement.
    """
    by_page: dict[str, dict[str, Snippet]] = {}
    for snippet in snippets:
        by_page.setdefault(snippet.source_id, {}).setdefault(snippet.id, snippet)
    whole = (piece for page in by_page.values() for piece in join_snippets(tuple(page.values())))
    parts = (split_by_snippet(piece) if _is_multilingual(piece, language) else [piece] for piece in whole)
    texts = ((clean(piece.text), piece.snippets) for of_page in parts for piece in of_page)
    return _without_duplicates([Passage(text, snippets) for text, snippets in texts if text])


def _is_multilingual(piece: Piece, language: str) -> bool:
    known = {"", language}
    return bool(language) and len(piece.snippets) > 1 and any(detect(s.text) not in known for s in piece.snippets)


def with_source(passage: Passage) -> str:
    """Return a passage's text with its title, heading, author, site and date in brackets."""
    known = ", ".join(filter(None, (passage.title, passage.heading, passage.author, passage.site, passage.published)))
    return f"{passage.text} ({known})" if known else passage.text


def with_neighbours(snippets: Sequence[Snippet], page: Sequence[Snippet]) -> tuple[Snippet, ...]:
    """Return snippets of a page and their neighbours under the same heading, those of the first snippet first."""
    chosen = {snippet.id: snippet for snippet in snippets}
    for snippet in snippets:
        for other in page:
            if other.id not in chosen and other.heading == snippet.heading and are_neighbours(snippet, other):
                chosen[other.id] = other
    return tuple(chosen.values())


def distinct(snippets: Iterable[Snippet]) -> tuple[Passage, ...]:
    """Return a passage for each distinct text; snippets are not joined, and copies are merged into the first one."""
    return _without_duplicates([Passage(text, (snippet,)) for snippet in snippets if (text := clean(snippet.text))])


def numbered_passages(shown: Sequence[Passage], only: Collection[int] | None = None, *, first: int = 1) -> str:
    """Return ``[1] Title › Heading (authors, site, date): text`` lines, one per passage.

    A passage after another one of its page has ``the same page`` in place of the title, and begins with ``[…]`` if it
    does not continue it.

    Args:
        only: positions of those to show, under the same numbers; by default all.
        first: the number of the first one.
    """
    lines: dict[int, str] = {}
    before: Passage | None = None
    for number, passage in enumerate(shown, first):
        if only is None or number - first in only:
            lines[number] = f"{_describe_after(passage, before)}{passage.text}"
            before = passage
    return numbered_lines(lines, first + len(shown) - 1)


def _describe_after(passage: Passage, before: Passage | None) -> str:
    """Return a passage's prefix in a prompt: its page and heading, unless the passage before has the same."""
    if before is None or before.source_id != passage.source_id:
        return f"{describe(passage)}: "
    heading = "" if before.heading == passage.heading else f" › {tidy(passage.heading).replace(':', ' –')}"
    return f"{_SAME_PAGE}{heading.removesuffix(' › ')}: {'' if passage.continues(before) else f'{_GAP} '}"


def describe(passage: Passage) -> str:
    """Return title, heading, authors, site and date, without colons, since a colon ends them."""
    title = " › ".join(filter(None, (passage.title or passage.site or "untitled", passage.heading)))
    about = ", ".join(filter(None, (passage.author, passage.site if passage.title else "", passage.published)))
    return tidy(f"{title} ({about})" if about else title).replace(":", " –")


def _without_duplicates(every: Sequence[Passage]) -> tuple[Passage, ...]:
    groups = without_duplicates([passage.text for passage in every], [passage.source_id for passage in every])
    return tuple(_with_copies(*(every[i] for i in group)) for group in groups)


def _with_copies(passage: Passage, *copies: Passage) -> Passage:
    """Merge copies into the passage: snippets of its page are added to its own, others become its copies."""
    every = dict.fromkeys(snippet for copy in copies for snippet in copy.snippets)
    same = tuple(s for s in every if s.source_id == passage.source_id and s not in passage.snippets)
    others = tuple(s for s in every if s.source_id != passage.source_id)
    return replace(passage, snippets=(*passage.snippets, *same), copies=others)
