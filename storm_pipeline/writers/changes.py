"""A section's revision as changes to it: sentences put in, put in another's place, or taken out, and new subsections.

A reply changes the sentences that it names; all others stay as they are, with the citations that support them.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from storm_pipeline.identity import normalised_text
from storm_pipeline.references.screen import Claim
from storm_pipeline.types import Paragraph, Section, Sentence
from storm_pipeline.writers.drafts import Block, Draft, is_deletion, read_draft

_CHANGE = re.compile(r"[ \t>*_•-]{0,6}(after\s+)?(?:sentence\s+)?[(\[]?#?(\d{1,3})[)\]]?[*_]{0,2}\s?[:：][*_\s]*", re.I)
_HEADING = re.compile(r" ?#{1,6} ")


@dataclass(frozen=True)
class Change:
    """What stands behind a sentence, or in its place."""

    at: int  # number of the sentence in reading order, from 1; 0: before the first
    is_replacement: bool = False
    claims: tuple[Claim, ...] = ()  # a replacement without any takes the sentence out


def read_changes(
    text: str, shown: int, section: Section, language: str = "en", names: Sequence[str] = ()
) -> tuple[tuple[Change, ...], Draft]:
    """The changes of a reply, and a draft with a block for each of them and then those under headings.

    A change is a line that begins with ``after 3:`` or ``3:``. Text without either is put in behind the sentence of the
    section that it follows in the reply, as when a writer repeats the section; what stands there already changes
    nothing. ``shown`` and ``names`` as in :func:`storm_pipeline.writers.drafts.read_draft`.
    """
    stands = {normalised_text(sentence.text): number for number, sentence in enumerate(section.sentences(), 1)}
    at = len(stands)
    changes: list[Change] = []
    below: list[Block] = []
    read: list[Draft] = []
    for piece in _pieces(text):
        found = _CHANGE.match(piece)
        bare = piece[found.end() :] if found else piece
        if found and not found[1] and is_deletion(bare):
            changes.append(Change(int(found[2]), is_replacement=True))
            continue
        draft = read_draft(bare, shown, language, names)
        read.append(draft)
        below += draft.blocks[1:]
        first = tuple(claim for paragraph in draft.blocks[0].paragraphs for claim in paragraph)
        if found and first:
            changes.append(Change(int(found[2]), is_replacement=not found[1], claims=first))
        elif not found:
            for claim in first:
                if number := stands.get(normalised_text(claim.text)):
                    at = number
                else:
                    changes.append(Change(at, claims=(claim,)))
    blocks = (*(Block("", (change.claims,)) for change in changes), *below)
    broken_off = next((one.broken_off for one in reversed(read) if one.broken_off), "")
    unmarked = all(one.is_unmarked for one in read)
    return tuple(changes), Draft(blocks, sum(one.invented for one in read), broken_off, tuple(names), unmarked)


def _pieces(text: str) -> Iterator[str]:
    """The reply, divided before each change and each heading."""
    lines: list[str] = []
    for line in text.splitlines():
        if lines and (_CHANGE.match(line) or _HEADING.match(line)):
            yield "\n".join(lines)
            lines = []
        lines.append(line)
    yield "\n".join(lines)


def changed(section: Section, changes: Sequence[Change], kept: Iterable[Section]) -> Section:
    """The section with its changes made.

    Args:
        kept: what of each change the check keeps. A replacement of which nothing is kept leaves the sentence as it is.
    """
    instead: dict[int, tuple[Sentence, ...]] = {}
    behind: dict[int, tuple[Sentence, ...]] = {}
    last = sum(1 for _ in section.sentences())
    for change, own in zip(changes, kept, strict=True):
        sentences, at = tuple(own.sentences()), min(change.at, last)
        if not change.is_replacement:
            behind[at] = (*behind.get(at, ()), *sentences)
        elif sentences or not change.claims:
            instead[at] = sentences
    numbers = count(1)

    def paragraph(own: Paragraph) -> Paragraph:
        sentences: tuple[Sentence, ...] = ()
        for sentence in own.sentences:
            number = next(numbers)
            first = behind.get(0, ()) if number == 1 else ()
            sentences = (*sentences, *first, *instead.get(number, (sentence,)), *behind.get(number, ()))
        return Paragraph(sentences)

    def edited(own: Section) -> Section:
        paragraphs = tuple(made for one in own.paragraphs if (made := paragraph(one)).sentences)
        return Section(own.heading, paragraphs, tuple(map(edited, own.subsections)))

    return edited(section)
