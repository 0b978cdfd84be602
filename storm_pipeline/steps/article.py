"""Whole articles written at once: what the baselines do instead of section by section (paper section 4.3)."""

from collections.abc import Sequence

from storm_pipeline.context import RunContext
from storm_pipeline.references.citations import parse_cited
from storm_pipeline.references.facts import Fact
from storm_pipeline.sentences import is_complete
from storm_pipeline.steps.sections import write_sections
from storm_pipeline.types import Body, Outline, Sentence
from storm_pipeline.writers.replies import article_inputs, read_article


def write_article(ctx: RunContext, outline: Outline, facts: Sequence[Fact]) -> Body:
    """The article in one call, from the facts shown; divided into sections where the writer needs that.

    Raises:
        ModelError: the writer fails.
    """
    with ctx.events.in_stage("article"):
        if divided := ctx.writer.divide(ctx, outline, facts):
            return Body((), write_sections(ctx, outline, divided))
        return ctx.writer.article(ctx, outline, facts)


def write_from_memory(ctx: RunContext, outline: Outline) -> Body:
    """The article from what the model knows, in one call; no sentence of it has a citation.

    Raises:
        ModelError: the writer fails.
    """
    with ctx.events.in_stage("article"):
        text = ctx.ask("writer", ctx.programs.memory, **article_inputs(ctx, outline)).text
        return read_article(text, _uncited)


def _uncited(line: str) -> tuple[Sentence, ...]:
    return tuple(s for s in parse_cited(line, ()).sentences if is_complete(s.text))
