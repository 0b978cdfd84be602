"""An article as every format writes it: blocks in reading order, numbered references, and how it came to be."""

import datetime
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from storm_pipeline.export.characters import clean
from storm_pipeline.export.entries import Run, plain_entry
from storm_pipeline.export.reference import Reference, read_references
from storm_pipeline.languages import references_heading
from storm_pipeline.references.citations import number_references
from storm_pipeline.text.display import day
from storm_pipeline.types import Article, Paragraph, Section

_LANGUAGE = re.compile("[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
DEEPEST = 6
"""Heading levels go from 1, the sections of an article, to this."""
UNTITLED = "Untitled"
Formatter = Callable[[Sequence[Reference], str], Sequence[tuple[Run, ...]]]
"""References and the article's language code to an entry of the reference list for each."""


@dataclass(frozen=True)
class Cited:
    """A sentence on one line, never empty, and the numbers of the references it cites, ascending."""

    text: str
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class HeadingBlock:
    """A heading on one line; ``level`` is 1 for a section."""

    level: int
    text: str


@dataclass(frozen=True)
class ParagraphBlock:
    """Sentences that belong together; never empty."""

    sentences: tuple[Cited, ...]


Block = HeadingBlock | ParagraphBlock


@dataclass(frozen=True)
class Manuscript:
    """What the formats write. All texts are cleaned, see :func:`storm_pipeline.export.characters.clean`.

    Attributes:
        title: never empty.
        blocks: headings and paragraphs in reading order, the lead first.
        references: the cited sources by number.
        entries: for each reference its line in a reference list, without its number.
        models: names of the models that wrote it; may be empty.
        written: ISO date, or empty.
        language: code of its language (BCP 47), ``und`` if that is unknown.
    """

    title: str
    blocks: tuple[Block, ...]
    references: tuple[Reference, ...]
    entries: tuple[tuple[Run, ...], ...]
    models: tuple[str, ...]
    written: str
    language: str

    def sentences(self) -> Iterator[Cited]:
        """All sentences in reading order."""
        for block in self.blocks:
            if isinstance(block, ParagraphBlock):
                yield from block.sentences

    @property
    def references_heading(self) -> str:
        """Heading of the reference list, in the article's language where that is known."""
        return references_heading(self.language)

    @property
    def provenance(self) -> str:
        """One sentence that says what wrote the text, when, and on what it stands."""
        sentences = list(self.sentences())
        cited = sum(bool(sentence.numbers) for sentence in sentences)
        models = f" ({', '.join(self.models)})" if self.models else ""
        when = f" on {day(self.written)}" if self.written else ""
        stand = f"{cited} of its {_counted(len(sentences), 'sentence')} {'stands' if cited == 1 else 'stand'}"
        return (
            f"Written by a program{models}{when} from the sources below: "
            f"{stand} on {_counted(len(self.references), 'source')}."
        )


def manuscript(article: Article, formatter: Formatter | None = None) -> Manuscript:
    """The manuscript of an article.

    Args:
        article: what to export.
        formatter: makes the entries of the reference list; by default :func:`plain_entry`.
    """
    article = _told(article)
    numbers = number_references(article)
    blocks = (*_paragraphs(article.lead, numbers), *_sections(article.sections, 1, numbers))
    sentences = [s for block in blocks if isinstance(block, ParagraphBlock) for s in block.sentences]
    references = read_references(article, ((s.text, s.numbers) for s in sentences))
    language = article.language if _LANGUAGE.fullmatch(article.language) else "und"
    entries = formatter(references, language) if formatter else map(plain_entry, references)
    models = dict.fromkeys(clean(row.model) for row in article.usage.rows)
    return Manuscript(
        title=clean(article.title) or UNTITLED,
        blocks=blocks,
        references=references,
        entries=tuple(entries),
        models=tuple(filter(None, models)),
        written=_iso_day(article.written),
        language=language,
    )


def _iso_day(text: str | None) -> str:
    try:
        return datetime.date.fromisoformat(text or "").isoformat()
    except ValueError:
        return ""


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _told(article: Article) -> Article:
    """The article without sentences that have no text, which would number references that nothing shown cites."""

    def told(paragraphs: tuple[Paragraph, ...]) -> tuple[Paragraph, ...]:
        return tuple(Paragraph(tuple(s for s in one.sentences if clean(s.text))) for one in paragraphs)

    def section(one: Section) -> Section:
        return Section(one.heading, told(one.paragraphs), tuple(map(section, one.subsections)))

    return replace(article, lead=told(article.lead), sections=tuple(map(section, article.sections)))


def _sections(sections: Sequence[Section], level: int, numbers: dict[str, int]) -> Iterator[Block]:
    for section in sections:
        yield HeadingBlock(min(level, DEEPEST), clean(section.heading) or UNTITLED)
        yield from _paragraphs(section.paragraphs, numbers)
        yield from _sections(section.subsections, level + 1, numbers)


def _paragraphs(paragraphs: Sequence[Paragraph], numbers: dict[str, int]) -> Iterator[Block]:
    for paragraph in paragraphs:
        sentences = tuple(
            Cited(clean(sentence.text), tuple(sorted({numbers[one.source_id] for one in sentence.citations})))
            for sentence in paragraph.sentences
        )
        if sentences:
            yield ParagraphBlock(sentences)
