"""An article as one self-contained HTML page, which works offline and without JavaScript.

Images alone are not in the page: browsers load them from Wikimedia, which the page's policy allows if there are any.

Every text is autoescaped by jinja2, addresses become links only if
:func:`storm_pipeline.render.links.is_shared_link` allows, and a Content-Security-Policy names the page's style and
script by hash, so that no injected script could run.
"""

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from storm_pipeline.identity import PREPRINT, is_preprint
from storm_pipeline.languages import references_heading
from storm_pipeline.references.citations import cited_pages, number_references
from storm_pipeline.render.costs import cost_rows, cost_total
from storm_pipeline.render.links import COMMONS, IMAGE_POLICY, LEAD, label, placed_images
from storm_pipeline.render.marks import Link, Mark, Remark, Use, cited_words, link_of
from storm_pipeline.render.page import page_environment
from storm_pipeline.text.formatting import day, dollars
from storm_pipeline.text.words import tidy
from storm_pipeline.types import Article, Conversation, Paragraph, Section, Sentence, Side, Source, Spans, Turn, Usage

if TYPE_CHECKING:
    from jinja2 import Template


@dataclass(frozen=True)
class _Sentence:
    text: str
    marks: tuple[Mark, ...]
    remark: Remark | None = None


@dataclass(frozen=True)
class _Section:
    id: str
    heading: str
    level: int
    paragraphs: tuple[tuple[_Sentence, ...], ...]
    subsections: tuple["_Section", ...]


@dataclass(frozen=True)
class _Reference:
    number: int
    source: Link
    about: tuple[str, ...]
    uses: tuple[Use, ...]


@dataclass(frozen=True)
class _Turn:
    question: str
    answer: str
    sources: tuple[Link, ...]


def to_html(article: Article, checked: str = "", remarks: Mapping[int, Remark] | None = None) -> str:
    """Render an article as a page.

    Table of contents, text with a card per citation (the cited passage, its source; of more than three in a sentence,
    all but two share one mark), the cited sources with the sentences that rest on each, and how the article was made.
    In a passage the words are marked that carry the sentence (``citation.spans``).

    Args:
        checked: how the article was checked; said in place of how it was made, if given.
        remarks: place of a sentence among all sentences in reading order, from 0 → what stands behind it.
    """
    page = _Page(article, remarks or {})
    lead = page.paragraphs(article.lead)
    sections = tuple(page.section(s, 2, f"s{n}") for n, s in enumerate(article.sections, 1))
    images = placed_images(article)
    sentences = [sentence for sentence in article.sentences() if tidy(sentence.text)]
    return _template().render(
        language=article.language,
        references_heading=references_heading(article.language),
        title=tidy(article.title) or "Untitled",
        lead=lead,
        sections=sections,
        images={f"s{place}" if place != LEAD else "lead": image for place, image in images.items()},
        commons=COMMONS,
        image_policy=IMAGE_POLICY,
        references=page.references(),
        sentences=len(sentences),
        uncited=sum(not sentence.citations for sentence in sentences),
        models=", ".join(_models(article.usage)),
        note=tidy(article.note),
        differing=page.differing(),
        checked=tidy(checked),
        written=tidy(article.written or ""),
        usage=article.usage,
        facts=_facts(article.usage),
        costs=cost_rows(article.usage),
        total=cost_total(article.usage),
        counts=_counts(article),
        problems=article.report.problems,
        research=[(c.perspective, [page.turn(turn) for turn in c.turns]) for c in _with_turns(article)],
    )


class _Page:
    """Converts an article to the template's values, and records where each source is used."""

    def __init__(self, article: Article, remarks: Mapping[int, Remark]) -> None:
        self._remarks = map(remarks.get, count())
        self._article = article
        self._numbers = number_references(article)
        self._sources = {source.id: source for source in article.sources}
        self._uses: dict[int, list[Use]] = {number: [] for number in self._numbers.values()}

    def section(self, section: Section, level: int, anchor: str) -> _Section:
        """A section and its subsections; heading levels end at 6."""
        paragraphs = self.paragraphs(section.paragraphs)
        below = (self.section(s, level + 1, f"{anchor}-{n}") for n, s in enumerate(section.subsections, 1))
        return _Section(anchor, tidy(section.heading) or "Untitled", min(level, 6), paragraphs, tuple(below))

    def paragraphs(self, paragraphs: Sequence[Paragraph]) -> tuple[tuple[_Sentence, ...], ...]:
        """Paragraphs as tuples of sentences; sentences and paragraphs without text are left out."""
        rows = (tuple(self._sentences(paragraph)) for paragraph in paragraphs)
        return tuple(row for row in rows if row)

    def _sentences(self, paragraph: Paragraph) -> Iterator[_Sentence]:
        for sentence, remark in zip(paragraph.sentences, self._remarks, strict=False):
            if text := tidy(sentence.text):
                marks = tuple(self._marks(sentence))
                for mark in marks:
                    self._uses[mark.number].append(Use(text, mark))
                yield _Sentence(text, marks, remark)

    def _marks(self, sentence: Sentence) -> Iterator[Mark]:
        cited: dict[str, dict[str, Spans]] = {}
        for citation in sentence.citations:
            cited.setdefault(citation.source_id, {})[citation.snippet_id] = citation.spans
        for source_id in sorted(cited, key=self._numbers.__getitem__):
            number, source, spans = self._numbers[source_id], self._sources[source_id], cited[source_id]
            anchor = f"cite-{number}-{len(self._uses[number]) + 1}"
            yield Mark(number, anchor, *cited_words(source, spans))

    def references(self) -> tuple[_Reference, ...]:
        """The cited sources; call it after all sections, when every use is known."""
        pages = cited_pages(self._article)
        return tuple(
            _Reference(n, link_of(source), _about(source, pages.get(source.id, "")), tuple(self._uses[n]))
            for n, source in enumerate(self._article.references, 1)
        )

    def differing(self) -> tuple[tuple[list[tuple[str, str, int]], bool], ...]:
        """Each thing on which sources differ: what the sides say, numbers of their references, independent sources."""

        def numbers(side: Side) -> str:
            return "".join(f"[{self._numbers[own]}]" for own in side.source_ids if own in self._numbers)

        return tuple(
            ([(tidy(side.says), numbers(side), side.independent) for side in one.sides], one.told)
            for one in self._article.disagreements
        )

    def turn(self, turn: Turn) -> _Turn:
        """A question, its answer, and the sources that the answer cites."""
        ids = dict.fromkeys(c.source_id for sentence in turn.answer for c in sentence.citations)
        links = tuple(link_of(self._sources[i]) for i in ids if i in self._sources)
        return _Turn(tidy(turn.question), tidy(turn.answer_text), links)


def _about(source: Source, pages: str) -> tuple[str, ...]:
    """Who wrote and published a source, where and when, as far as its snippets say."""

    def first(name: str) -> str:
        return next((text for snippet in source.snippets if (text := tidy(getattr(snippet, name) or ""))), "")

    accessed = f"accessed {first('accessed')}" if first("accessed") else ""
    kind = PREPRINT if is_preprint(source.url) else ""
    parts = (first("author"), first("site"), kind, first("publisher"), pages, first("published"), accessed)
    return tuple(part for part in dict.fromkeys(parts) if part not in {"", label(source)})


def _models(usage: Usage) -> tuple[str, ...]:
    return tuple(filter(None, dict.fromkeys(tidy(row.model) for row in usage.rows)))


def _with_turns(article: Article) -> list[Conversation]:
    return [conversation for conversation in article.conversations if conversation.turns]


def _facts(usage: Usage) -> list[tuple[str, str]]:
    """Usage of the run as (name, value) rows; an unknown cost is shown as such."""
    if not usage.rows:
        return []
    return [
        ("Written by", ", ".join(_models(usage))),
        ("Model calls", f"{usage.calls:,}"),
        ("Tokens read", f"{usage.tokens_in:,}"),
        ("Tokens written", f"{usage.tokens_out:,}"),
        ("Time", duration(usage.seconds)),
        ("Cost", dollars(usage.cost)),
    ]


def _counts(article: Article) -> list[tuple[str, int]]:
    """The report's counts above zero, with labels."""
    report = article.report
    rows = [
        ("Sources found", len(article.sources)),
        ("Sources cited", len(article.references)),
        ("Citations found afterwards", report.attributed),
        ("Sentences left uncited", report.uncited),
        ("Unsupported sentences removed", report.dropped_unsupported),
        ("Faulty sentences removed", report.dropped_faulty),
        ("Sentences reworded", report.reworded),
        ("Repeated sentences removed", report.repeated),
        ("Search results off the topic", report.off_topic),
        ("Invented citations dropped", report.invented_citations),
        ("Citations of unavailable pages dropped", report.unavailable_citations),
    ]
    return [(name, count) for name, count in rows if count]


def duration(seconds: float) -> str:
    """A duration as text: ``48 s``, ``4 min 12 s``, ``1 h 03 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600:,} h {whole % 3600 // 60:02} min"


@functools.cache
def _template() -> "Template":
    environment = page_environment("storm_pipeline.render")
    environment.filters["day"] = day
    return environment.get_template("article.html")
