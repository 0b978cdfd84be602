"""Related topics, and perspectives on the topic from what they cover (paper section 3.1; Algorithm 1, to line 12)."""

from storm_pipeline.errors import ModelError, SearchError
from storm_pipeline.method.context import RunContext
from storm_pipeline.run.concurrency import parallel_map
from storm_pipeline.signatures.shapes import Editor
from storm_pipeline.types import Perspective

_HEADINGS_SHOWN = 14


def related_contents(ctx: RunContext, topic: str) -> str:
    """Find related articles and list their headings, one line per article: ``Title: heading; heading; …``.

    An article without a known table of contents is left out: the model itself named its title, which is nothing new. If
    contents cannot be fetched, that is recorded once.
    """
    if ctx.settings.related_topics == 0:
        return ""
    with ctx.events.in_stage("related topics"):
        try:
            titles = ctx.ask("asker", ctx.programs.related, topic=ctx.introduced(topic)).related_topics
        except ModelError as error:
            ctx.events.failed("no related topics", error)
            return ""
        titles = [t for t in dict.fromkeys(t.strip() for t in titles) if t and t.casefold() != topic.casefold()]
        titles = [title for title in titles if not ctx.search.run_search.excludes_title(title)]
        titles = titles[: ctx.settings.related_topics]
        found = parallel_map(lambda title: _covered(ctx, title), titles, workers=len(titles))
        errors = [str(item) for item in found if isinstance(item, SearchError)]
        if errors:
            ctx.events.degraded(f"{len(errors)} of {len(titles)} tables of contents could not be fetched: {errors[0]}")
        lines = [item for item in found if item and isinstance(item, str)]
        ctx.run.save_json("contents.json", lines)
        return "\n".join(lines)


def _covered(ctx: RunContext, title: str) -> str | SearchError:
    """Return an article's first headings on one line; empty if unknown or excluded; an error is returned."""
    try:
        found = ctx.contents.table_of_contents(title)
    except SearchError as error:
        return error
    if not found or not found.headings or ctx.search.run_search.excludes_title(found.title):
        return ""
    return f"{title}: " + "; ".join(text for _, text in found.headings[:_HEADINGS_SHOWN])


BASIC_FACT_WRITER = Perspective("Basic fact writer", "Broadly covers the basic facts about the topic.")
"""p0 of the paper: takes part in every run, whatever perspectives are found."""


def find_perspectives(ctx: RunContext, topic: str) -> tuple[Perspective, ...]:
    """Return the user's perspectives, or N distinct ones besides p0, found with related tables of contents."""
    perspectives = ctx.user_pieces.perspectives
    if perspectives is None:
        perspectives = _found(ctx, topic, related_contents(ctx, topic))
    ctx.run.save_json("perspectives.json", perspectives)
    return perspectives


def _found(ctx: RunContext, topic: str, contents: str) -> tuple[Perspective, ...]:
    """Return N perspectives; fewer (recorded) when the model names fewer."""
    wanted = ctx.settings.perspectives
    if wanted == 0:
        return ()
    with ctx.events.in_stage("perspectives"):
        try:
            reply = ctx.ask(
                "asker",
                ctx.programs.perspectives,
                topic=ctx.introduced(topic),
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
