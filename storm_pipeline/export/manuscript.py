"""The format-independent form of an article for export: blocks in order, numbered references, and provenance."""

import datetime
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from storm_pipeline.export.reference import Reference, read_references
from storm_pipeline.export.tex_text import clean
from storm_pipeline.languages import references_heading
from storm_pipeline.references.changing import with_sentences
from storm_pipeline.references.citations import number_references, page_names
from storm_pipeline.text.formatting import counted, day
from storm_pipeline.types import Article, Paragraph, Section, Sentence, Snippet

DEEPEST = 6
"""Deepest heading level; 1 is a section of the article."""
UNTITLED = "Untitled"


@dataclass(frozen=True)
class Cite:
    """A citation: the number of its reference, and the pages that it cites, by name."""

    number: int
    pages: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cited:
    """A sentence on one line, never empty, and what it cites, by ascending numbers of the references."""

    text: str
    cites: tuple[Cite, ...]

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the references that it cites."""
        return tuple(cite.number for cite in self.cites)


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
    """The content that all formats write. All texts are cleaned, see :func:`storm_pipeline.export.tex_text.clean`."""

    title: str  # never empty
    blocks: tuple[Block, ...]  # headings and paragraphs in reading order, the lead first
    references: tuple[Reference, ...]  # the cited sources by number
    models: tuple[str, ...]  # names of the models that wrote it; may be empty
    written: str  # ISO date, or empty
    language: str  # BCP 47 code of its language, ``und`` if unknown

    def sentences(self) -> Iterator[Cited]:
        """All sentences in reading order."""
        for block in self.blocks:
            if isinstance(block, ParagraphBlock):
                yield from block.sentences

    @property
    def references_heading(self) -> str:
        """Heading of the reference list, in the article's language if known."""
        return references_heading(self.language)

    @property
    def provenance(self) -> str:
        """A sentence that states which models wrote the text, when, and from how many sources."""
        sentences = list(self.sentences())
        cited = sum(bool(sentence.numbers) for sentence in sentences)
        models = f" ({', '.join(self.models)})" if self.models else ""
        when = f" on {day(self.written)}" if self.written else ""
        stand = f"{cited} of its {counted(len(sentences), 'sentence')} {'stands' if cited == 1 else 'stand'}"
        return (
            f"Written by a program{models}{when} from the sources below: "
            f"{stand} on {counted(len(self.references), 'source')}."
        )


def _is_language(tag: str) -> bool:
    code, *more = tag.split("-")
    is_code = len(code) in {2, 3} and code.isalpha() and code.islower()
    return tag.isascii() and is_code and all(part.isalnum() and 2 <= len(part) <= 8 for part in more)


def manuscript(article: Article) -> Manuscript:
    """The manuscript of an article."""
    article = with_sentences(article, _cleaned)
    blocks = tuple(_blocks(article.lead, article.sections, 1, _reader(article)))
    sentences = [s for block in blocks if isinstance(block, ParagraphBlock) for s in block.sentences]
    models = dict.fromkeys(clean(row.model) for row in article.usage.rows)
    return Manuscript(
        title=clean(article.title) or UNTITLED,
        blocks=blocks,
        references=read_references(article, ((s.text, s.numbers) for s in sentences)),
        models=tuple(filter(None, models)),
        written=_iso_day(article.written),
        language=article.language if _is_language(article.language) else "und",
    )


def _cleaned(sentence: Sentence) -> Sentence:
    """The sentence on one line; one without text cites nothing, else a source would be numbered and cited nowhere."""
    text = clean(sentence.text)
    return Sentence(text, sentence.citations if text else ())


def _iso_day(text: str | None) -> str:
    try:
        return datetime.date.fromisoformat(text or "").isoformat()
    except ValueError:
        return ""


def _reader(article: Article) -> Callable[[Sentence], Cited]:
    """What reads sentences."""
    numbers = number_references(article)
    snippets = {(source.id, one.id): one for source in article.references for one in source.snippets}

    def read(sentence: Sentence) -> Cited:
        cited: dict[int, list[Snippet]] = {}
        for one in sentence.citations:
            snippet = snippets.get((one.source_id, one.snippet_id))
            cited.setdefault(numbers[one.source_id], []).extend([snippet] if snippet else [])
        return Cited(sentence.text, tuple(Cite(number, page_names(cited[number])) for number in sorted(cited)))

    return read


def _blocks(
    paragraphs: Sequence[Paragraph],
    sections: Sequence[Section],
    level: int,
    read: Callable[[Sentence], Cited],
) -> Iterator[Block]:
    """The paragraphs and the sections below them, whose headings are of ``level``."""
    for paragraph in paragraphs:
        if sentences := tuple(read(own) for own in paragraph.sentences if own.text):
            yield ParagraphBlock(sentences)
    for section in sections:
        yield HeadingBlock(min(level, DEEPEST), clean(section.heading) or UNTITLED)
        yield from _blocks(section.paragraphs, section.subsections, level + 1, read)
