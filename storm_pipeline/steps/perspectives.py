"""Perspectives on the topic (paper section 3.1; Algorithm 1, lines 11 and 12)."""

from storm_pipeline.errors import ModelError
from storm_pipeline.run.context import RunContext
from storm_pipeline.signatures.shapes import Editor
from storm_pipeline.steps.related import related_contents
from storm_pipeline.types import Perspective

BASIC_FACT_WRITER = Perspective("Basic fact writer", "Broadly covers the basic facts about the topic.")
"""p0 of the paper: takes part in every run, whatever perspectives are found."""


def find_perspectives(ctx: RunContext, topic: str) -> tuple[Perspective, ...]:
    """The user's perspectives, or N distinct ones besides p0, found with tables of contents of related articles."""
    perspectives = ctx.user_pieces.perspectives
    if perspectives is None:
        perspectives = _found(ctx, topic, related_contents(ctx, topic))
    ctx.run.save_json("perspectives.json", perspectives)
    return perspectives


def _found(ctx: RunContext, topic: str, contents: str) -> tuple[Perspective, ...]:
    """N perspectives; fewer (recorded) when the model names fewer."""
    wanted = ctx.settings.perspectives
    if wanted == 0:
        return ()
    with ctx.events.in_stage("perspectives"):
        try:
            reply = ctx.ask(
                "asker",
                ctx.programs.perspectives,
                topic=ctx.about(topic),
                related_contents=contents,
                language=ctx.settings.language_name,
                number=wanted,
            )
        except ModelError as error:
            ctx.events.failed("no perspectives but the basic facts", error)
            return ()
        distinct: dict[str, Editor] = {}
        for editor in reply.editors:
            distinct.setdefault(editor.name.casefold().strip(), editor)
        chosen = list(distinct.values())[:wanted]
        if len(chosen) < wanted:
            ctx.events.degraded(f"the model named {len(chosen)} distinct perspectives of {wanted}")
        return tuple(Perspective(editor.name.strip(), editor.focus.strip()) for editor in chosen)
