"""Single cited sentences joined to paragraphs."""

from collections.abc import Sequence
from itertools import groupby

from storm_pipeline.types import Paragraph, Sentence

_PARAGRAPH = 3
"""Sentences from which on a paragraph made of single ones is one."""


def in_paragraphs(sentences: Sequence[Sentence]) -> tuple[Paragraph, ...]:
    """Cited sentences in paragraphs of three or more, as far as there are so many; one source's stay together."""
    paragraphs: list[list[Sentence]] = []
    for _, own in groupby(sentences, key=lambda sentence: sentence.citations[0].source_id):
        if paragraphs and len(paragraphs[-1]) < _PARAGRAPH:
            paragraphs[-1] += own
        else:
            paragraphs.append(list(own))
    if len(paragraphs) > 1 and len(paragraphs[-1]) < _PARAGRAPH:
        last = paragraphs.pop()
        paragraphs[-1] += last
    return tuple(Paragraph(tuple(own)) for own in paragraphs)
