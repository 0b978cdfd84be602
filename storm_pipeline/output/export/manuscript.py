"""The format-independent form of an article for export: blocks in order, numbered references, and provenance."""

import datetime
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from storm_pipeline.evidence.citations import number_references, page_names
from storm_pipeline.evidence.editions import with_sentences
from storm_pipeline.output.export.reference import Reference, read_references
from storm_pipeline.text.formatting import day, with_noun
from storm_pipeline.text.words import tidy
from storm_pipeline.types import Article, Paragraph, Section, Sentence, Snippet

_DEEPEST = 6  # deepest heading level; 1 is a section of the article
_UNTITLED = "Untitled"


@dataclass(frozen=True)
class Cite:
    """A citation: the number of its reference, and the pages that it cites, by name."""

    number: int
    pages: tuple[str, ...] = ()


@dataclass(frozen=True)
class CitedSentence:
    """A sentence on one line, never empty, and its citations in ascending order of the references."""

    text: str
    cites: tuple[Cite, ...]


@dataclass(frozen=True)
class HeadingBlock:
    """A heading on one line; ``level`` is 1 for a section."""

    level: int
    text: str


@dataclass(frozen=True)
class ParagraphBlock:
    """Sentences that belong together; never empty."""

    sentences: tuple[CitedSentence, ...]


Block = HeadingBlock | ParagraphBlock


@dataclass(frozen=True)
class Manuscript:
    """The content common to all formats. All texts are :func:`storm_pipeline.text.words.tidy`."""

    title: str  # never empty
    blocks: tuple[Block, ...]  # headings and paragraphs in reading order, the lead first
    references: tuple[Reference, ...]  # the cited sources by number
    models: tuple[str, ...]  # names of the models that wrote it; may be empty
    written: str  # ISO date, or empty
    language: str  # BCP 47 code of its language, ``und`` if unknown
    note: str = ""  # of the article for its readers, such as a licence

    def sentences(self) -> Iterator[CitedSentence]:
        """Return all sentences in reading order."""
        return _sentences(self.blocks)

    @property
    def provenance(self) -> str:
        """A sentence that states which models wrote the text, when, and from how many sources."""
        sentences = list(self.sentences())
        cited = sum(bool(sentence.cites) for sentence in sentences)
        models = f" ({', '.join(self.models)})" if self.models else ""
        when = f" on {day(self.written)}" if self.written else ""
        rest = f"{cited} of its {with_noun(len(sentences), 'sentence')} {'rests' if cited == 1 else 'rest'}"
        return (
            f"Written by a program{models}{when} from the sources below: "
            f"{rest} on {with_noun(len(self.references), 'source')}."
        )


def manuscript(article: Article) -> Manuscript:
    """Return the manuscript of an article."""
    article = with_sentences(article, _tidy)
    numbers = number_references(article)
    snippets = {(source.id, snippet.id): snippet for source in article.references for snippet in source.snippets}

    def read(sentence: Sentence) -> CitedSentence:
        cited: dict[int, list[Snippet]] = {}
        for citation in sentence.citations:
            snippet = snippets.get((citation.source_id, citation.snippet_id))
            cited.setdefault(numbers[citation.source_id], []).extend([snippet] if snippet else [])
        return CitedSentence(sentence.text, tuple(Cite(number, page_names(cited[number])) for number in sorted(cited)))

    blocks = tuple(_blocks(article.lead, article.sections, 1, read))
    citing: dict[int, list[str]] = {}
    for sentence in _sentences(blocks):
        for cite in sentence.cites:
            citing.setdefault(cite.number, []).append(sentence.text)
    return Manuscript(
        title=tidy(article.title) or _UNTITLED,
        blocks=blocks,
        references=read_references(article, citing),
        models=tuple(filter(None, dict.fromkeys(tidy(row.model) for row in article.usage.rows))),
        written=_iso_day(article.written),
        language=article.language if _is_language(article.language) else "und",
        note=tidy(article.note),
    )


def _sentences(blocks: Sequence[Block]) -> Iterator[CitedSentence]:
    return (sentence for block in blocks if isinstance(block, ParagraphBlock) for sentence in block.sentences)


def _tidy(sentence: Sentence) -> Sentence:
    """Return the sentence on one line; an empty one loses its citations, so that they number no source."""
    text = tidy(sentence.text)
    return Sentence(text, sentence.citations if text else ())


def _iso_day(text: str | None) -> str:
    try:
        return datetime.date.fromisoformat(text or "").isoformat()
    except ValueError:
        return ""


def _is_language(tag: str) -> bool:
    code, *more = tag.split("-")
    is_code = len(code) in {2, 3} and code.isalpha() and code.islower()
    return tag.isascii() and is_code and all(part.isalnum() and 2 <= len(part) <= 8 for part in more)


def _blocks(
    paragraphs: Sequence[Paragraph], sections: Sequence[Section], level: int, read: Callable[[Sentence], CitedSentence]
) -> Iterator[Block]:
    """Yield the paragraphs and the sections below them, whose headings are of ``level``."""
    for paragraph in paragraphs:
        if sentences := tuple(read(sentence) for sentence in paragraph.sentences if sentence.text):
            yield ParagraphBlock(sentences)
    for section in sections:
        yield HeadingBlock(min(level, _DEEPEST), tidy(section.heading) or _UNTITLED)
        yield from _blocks(section.paragraphs, section.subsections, level + 1, read)
