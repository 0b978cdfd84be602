"""Groups single cited sentences into paragraphs."""

from collections.abc import Sequence
from itertools import groupby

from storm_pipeline.types import Paragraph, Sentence

_PARAGRAPH = 3
"""Minimum sentences per paragraph."""


def in_paragraphs(sentences: Sequence[Sentence]) -> tuple[Paragraph, ...]:
    """Group sentences into paragraphs of at least three where possible; runs from one source stay together."""
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
