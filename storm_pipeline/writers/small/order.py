"""Puts statements in order: the general before the particular, time in order, one page's matter together."""

from collections.abc import Sequence
from itertools import groupby

from storm_pipeline.references.facts import Fact
from storm_pipeline.types import Paragraph, Sentence
from storm_pipeline.writers.small.statements import Statement, year_of

_PARAGRAPH, _LONGEST_PARAGRAPH = 3, 6  # sentences of a paragraph: at least, and at most where the page does not change


def in_reading_order(statements: Sequence[Statement], *, by_time: bool = False) -> tuple[Statement, ...]:
    """Grouped by page, each passage's statements as they stand there, a page's dated passages by time after the others.

    Pages about the subject come first, then those about a part of it, then those that have a statement which opens with
    it; among these, those whose first statement has no year, by relevance, then the others by that year. Where time
    orders them, histories come first, then passages by their first year, then those without one.
    """
    pages: dict[str, list[Statement]] = {}
    for one in statements:
        pages.setdefault(one.order[0] if by_time else one.fact.citation.source_id, []).append(one)

    def place(group: list[Statement]) -> tuple[int, bool, float, float]:
        year = _year(group)
        relevance = max(one.relevance for one in group)
        if by_time:
            is_overview = "history" in group[0].fact.title.casefold()
            year = group[0].year if year is None else year
            return (0 if is_overview else 1, year is None, year or 0.0, -relevance)
        return (rank_of(group), year is not None, year or 0.0, -relevance)

    return tuple(one for group in sorted(map(_by_time, pages.values()), key=place) for one in group)


def rank_of(page: Sequence[Statement]) -> int:
    """0 for a page about the subject, 1 about a part of it, 2 if a statement opens with the subject, else 3."""
    return min((one.own, one.of_a_part, one.opens, True).index(True) for one in page)


def _by_time(page: Sequence[Statement]) -> list[Statement]:
    passages: dict[str, list[Statement]] = {}
    for one in page:
        passages.setdefault(one.order[0], []).append(one)
    return [one for passage in sorted(passages.values(), key=lambda own: _year(own) or 0.0) for one in passage]


def _year(statements: Sequence[Statement]) -> float | None:
    return next((year for one in statements if (year := year_of(one.fact.text)) is not None), None)


def in_paragraphs(facts: Sequence[Fact]) -> tuple[Paragraph, ...]:
    """The facts as cited sentences, in paragraphs that end where the page changes."""
    paragraphs: list[list[Sentence]] = []
    for _, group in groupby(facts, key=lambda fact: fact.citation.source_id):
        sentences = [Sentence(fact.text, (fact.citation,)) for fact in group]
        if (
            paragraphs
            and len(paragraphs[-1]) < _PARAGRAPH
            and len(paragraphs[-1]) + len(sentences) <= _LONGEST_PARAGRAPH
        ):
            paragraphs[-1] += sentences
        else:
            paragraphs.append(sentences)
    if len(paragraphs) > 1 and len(paragraphs[-1]) < _PARAGRAPH:
        last = paragraphs.pop()
        paragraphs[-1] += last
    return tuple(Paragraph(tuple(group)) for group in paragraphs)
