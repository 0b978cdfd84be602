"""Headings that say what their sections are about, where those are written sentence by sentence.

A plan may have a place for what the sources do not tell. What comes nearest to it then stands under its heading.
"""

from collections.abc import Sequence

from storm_pipeline.errors import ModelError
from storm_pipeline.references.facts import without_topic
from storm_pipeline.run.context import RunContext
from storm_pipeline.text.index_terms import STOP_WORDS
from storm_pipeline.text.outlines import outline_from_headings
from storm_pipeline.types import Heading, Outline, Sentence

_FAR_BETTER = 2.0
"""Times as well as the planned heading another must fit the sentences to replace it."""
_LONGEST = 5
"""Words of a heading that a model gives."""


def fitting_heading(ctx: RunContext, outline: Outline, heading: Heading, sentences: Sequence[Sentence]) -> str:
    """The planned heading, or the one that the model gives to the sentences if that fits them far better.

    A heading fits by the mean cosine of the sentences to it; those below it are not shown. Where the model fails the
    planned one stays, and that is recorded.

    Raises:
        ModelAuthError: the endpoint refuses the key.
    """
    texts = [sentence.text for sentence in sentences]
    try:
        told = ctx.ask("writer", ctx.programs.heading, topic=outline.topic, sentences="\n".join(texts)).heading
    except ModelError as error:
        ctx.events.failed(f"another heading for section {heading.title!r}", error)
        return heading.title
    new = _usable(outline, told)
    if not new:
        return heading.title
    vectors = ctx.store.embed([new, without_topic(outline.topic, heading.title), *texts])
    better, planned = (vectors[2:] @ vectors[:2].T).mean(axis=0)
    return new if better > 0 and better >= _FAR_BETTER * planned else heading.title


def _usable(outline: Outline, told: str) -> str:
    """A heading without the topic that no section of the outline has; empty if there is none."""
    found = outline_from_headings([(1, told.strip(' .#*"“”'))], outline.topic).sections
    words = without_topic(outline.topic, found[0].title).split() if found else []
    content = [i for i, word in enumerate(words) if word.casefold() not in STOP_WORDS]
    words = words[content[0] : content[-1] + 1] if content else []  # not "Spread of the", nor "of Norway"
    new = " ".join(words)
    taken = {section.title.casefold() for section in outline.sections} | {outline.topic.casefold()}
    return new[:1].upper() + new[1:] if len(words) <= _LONGEST and new.casefold() not in taken else ""
