"""Headings of articles that are written sentence by sentence without an outline."""

from collections.abc import Sequence
from itertools import pairwise

from storm_pipeline.concurrency import parallel_map
from storm_pipeline.errors import ModelError
from storm_pipeline.run.context import RunContext
from storm_pipeline.text.outlines import outline_from_headings
from storm_pipeline.types import Body, Paragraph, Section


def with_headings(ctx: RunContext, topic: str, groups: Sequence[Sequence[Paragraph]]) -> Body:
    """The groups as sections, each under the model's heading for its sentences.

    A group joins the one before it, or the lead, if the model has no usable heading for it, and the section of the same
    heading if there is one. Failures of the model are recorded. Raises ModelAuthError: the endpoint refuses the key.
    """

    def suggested(group: Sequence[Paragraph]) -> str:
        texts = [sentence.text for paragraph in group for sentence in paragraph.sentences]
        return _suggested(ctx, topic, texts, f"heading for {texts[0]!r}")

    sections: dict[str, list[Paragraph]] = {"": []}
    last = ""
    for group, heading in zip(groups, parallel_map(suggested, groups, workers=len(groups)), strict=True):
        last = next((known for known in sections if known.casefold() == heading.casefold()), heading) or last
        sections.setdefault(last, []).extend(group)
    lead = tuple(sections.pop(""))
    return Body(lead, tuple(Section(title, tuple(own)) for title, own in sections.items()))


def even_groups(paragraphs: Sequence[Paragraph], most: int) -> list[Sequence[Paragraph]]:
    """The paragraphs in order, in ``most`` groups of almost equal number, or one group each if there are fewer."""
    number = min(most, len(paragraphs))
    cuts = [i * len(paragraphs) // number for i in range(number + 1)] if number else []
    return [paragraphs[start:end] for start, end in pairwise(cuts)]


def _suggested(ctx: RunContext, topic: str, texts: Sequence[str], what: str) -> str:
    """Return the model's heading for the sentences; empty if it fails or the heading is unusable."""
    try:
        reply = ctx.ask("writer", ctx.programs.heading, topic=topic, sentences="\n".join(texts)).heading
    except ModelError as error:
        ctx.events.failed(what, error)
        return ""
    found = outline_from_headings([(1, reply.strip(' .,;:*"“”'))], topic).sections
    return found[0].title if found else ""
