"""An article whose sentences and headings have numbers, by which they are shown, moved and taken out."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from storm_pipeline.types import Paragraph, Section, Sentence

_GONE = "there is no such sentence or heading any more"


@dataclass(eq=False)
class _Part:
    """A section or subsection: the numbers of its heading and of the sentences of its paragraphs."""

    heading: int
    paragraphs: list[list[int]]
    below: list["_Part"] = field(default_factory=list)


class NumberedArticle:
    """Sections with numbers from 1, in reading order, for sentences and for headings; they stay as things move.

    Attributes:
        sentences: number → sentence; a sentence replaced here is replaced in :meth:`sections`.
        headings: number → heading, likewise.
    """

    def __init__(self, sections: Sequence[Section]) -> None:
        self.sentences: dict[int, Sentence] = {}
        self.headings: dict[int, str] = {}
        self._parts = [self._number(section) for section in sections]

    def _number(self, section: Section) -> _Part:
        part = _Part(len(self.headings) + 1, [])
        self.headings[part.heading] = section.heading
        for paragraph in section.paragraphs:
            numbered = dict(zip(count(len(self.sentences) + 1), paragraph.sentences, strict=False))
            self.sentences |= numbered
            part.paragraphs.append(list(numbered))
        part.below = [self._number(subsection) for subsection in section.subsections]
        return part

    def sections(self) -> tuple[Section, ...]:
        """Return the sections as they are now, without empty ones."""
        return tuple(section for part in self._parts if (section := self._section(part)))

    def _section(self, part: _Part) -> Section | None:
        filled = tuple(Paragraph(tuple(self.sentences[n] for n in numbers)) for numbers in part.paragraphs if numbers)
        below = tuple(section for subpart in part.below if (section := self._section(subpart)))
        return Section(self.headings[part.heading], filled, below) if filled or below else None

    def shown(self, around: Collection[int] | None = None) -> str:
        """Return headings as ``## [H2] Heading`` and paragraphs as ``[3] Sentence. [4] Sentence.``, a line each.

        ``around``: only the paragraphs that have one of these sentences; ``…`` stands for others.
        """
        lines: list[str] = []
        for _, part, level in self._walk():
            lines.append(f"{'#' * level} [H{part.heading}] {self.headings[part.heading]}")
            for numbers in filter(None, part.paragraphs):
                if around is None or not set(numbers).isdisjoint(around):
                    lines.append(" ".join(f"[{n}] {self.sentences[n].text}" for n in numbers))
                elif lines[-1] != "…":
                    lines.append("…")
        return "\n".join(lines)

    def numbers_shown(self, around: Collection[int] | None = None) -> list[int]:
        """Return the numbers of the sentences that :meth:`shown` shows, in reading order."""
        paragraphs = (paragraph for _, part, _ in self._walk() for paragraph in part.paragraphs)
        return [n for numbers in paragraphs if around is None or not set(numbers).isdisjoint(around) for n in numbers]

    def add(self, number: int, sentence: Sentence, *, behind: int) -> None:
        """Add a sentence under a new number behind another one; not if that is in no paragraph."""
        if (numbers := self._paragraph(behind)) is not None:
            numbers.insert(numbers.index(behind) + 1, number)
            self.sentences[number] = sentence

    def take_out(self, number: int) -> set[int]:
        """Take a sentence out of its paragraph; return the sentences before and after it."""
        numbers = self._paragraph(number)
        if numbers is None:
            return set()
        at = numbers.index(number)
        numbers.remove(number)
        return set(numbers[max(0, at - 1) : at + 1])

    def move(self, how: str, first: int, last: int, other: int) -> tuple[str, list[int]]:
        """Move sentences; return why that is not possible (or an empty string), and the sentences that were moved.

        ``how``: ``move`` behind the sentence ``other``, ``move_before`` it, or as a ``paragraph`` behind its paragraph.
        """
        moved = sorted(n for n in self.sentences if first <= n <= max(first, last))
        target = self._paragraph(other)
        if not moved or target is None:
            return _GONE, []
        if other in moved:
            return "a sentence cannot be moved behind or before itself", []
        for number in moved:
            self.take_out(number)
        if how == "paragraph":
            paragraphs = next(part.paragraphs for _, part, _ in self._walk() if target in part.paragraphs)
            paragraphs.insert(paragraphs.index(target) + 1, moved)
        else:
            at = target.index(other) + int(how == "move")
            target[at:at] = moved
        return "", moved

    def move_section(self, how: str, number: int, other: int) -> tuple[str, list[int]]:
        """Move a section or subsection by its heading; return why it is not possible, and its first sentence.

        ``how``: ``section`` behind that of the heading ``other``, at its level; ``section_before`` it; or
        ``section_into`` it, as its last subsection.
        """
        places = {part.heading: (siblings, part) for siblings, part, _ in self._walk()}
        if number not in places or other not in places:
            return _GONE, []
        (siblings, moved), (others, target) = places[number], places[other]
        if any(part is target for _, part, _ in self._walk([moved])):
            return "a section cannot be moved beside or into itself", []
        into = target.below if how == "section_into" else others
        if into is not self._parts and (moved.below or not any(into is part.below for part in self._parts)):
            return "a subsection has no subsections: name a section, or move these apart", []
        siblings.remove(moved)
        into.insert(len(into) if into is target.below else into.index(target) + int(how == "section"), moved)
        return "", [n for _, part, _ in self._walk([moved]) for paragraph in part.paragraphs for n in paragraph][:1]

    def _paragraph(self, number: int) -> list[int] | None:
        return next((numbers for _, part, _ in self._walk() for numbers in part.paragraphs if number in numbers), None)

    def _walk(self, parts: list[_Part] | None = None, level: int = 1) -> Iterator[tuple[list[_Part], _Part, int]]:
        """Yield every part with the list that contains it and its level, before the parts below it."""
        parts = self._parts if parts is None else parts
        for part in parts:
            yield parts, part, level
            yield from self._walk(part.below, level + 1)
