"""Replaces planned headings that do not fit their sections, in articles written sentence by sentence.

The outline may plan a section that the sources do not cover. It then holds the nearest facts under a wrong heading.
"""

from collections.abc import Sequence

from storm_pipeline.errors import ModelError
from storm_pipeline.references.facts import without_topic
from storm_pipeline.run.context import RunContext
from storm_pipeline.text.index_terms import STOP_WORDS
from storm_pipeline.text.outlines import outline_from_headings
from storm_pipeline.types import Heading, Outline, Sentence

_FAR_BETTER = 2.0
"""Factor by which a new heading must fit better than the planned one to replace it."""
_LONGEST = 5
"""Maximum length of a new heading in words."""


def fitting_heading(ctx: RunContext, outline: Outline, heading: Heading, sentences: Sequence[Sentence]) -> str:
    """The planned heading, or the model's heading for the sentences if that fits them far better.

    The fit is the mean cosine of the sentences to the heading; subheadings are not considered. If the model fails, the
    planned heading is kept and that is recorded.

    Raises:
        ModelAuthError: the endpoint refuses the key.
    """
    texts = [sentence.text for sentence in sentences]
    try:
        reply = ctx.ask("writer", ctx.programs.heading, topic=outline.topic, sentences="\n".join(texts)).heading
    except ModelError as error:
        ctx.events.failed(f"new heading for section {heading.title!r}", error)
        return heading.title
    new = _usable(outline, reply)
    if not new:
        return heading.title
    vectors = ctx.store.embed([new, without_topic(outline.topic, heading.title), *texts])
    better, planned = (vectors[2:] @ vectors[:2].T).mean(axis=0)
    return new if better > 0 and better >= _FAR_BETTER * planned else heading.title


def _usable(outline: Outline, reply: str) -> str:
    """The reply as a heading without the topic; empty if it is unusable or already in the outline."""
    found = outline_from_headings([(1, reply.strip(' .#*"“”'))], outline.topic).sections
    words = without_topic(outline.topic, found[0].title).split() if found else []
    content = [i for i, word in enumerate(words) if word.casefold() not in STOP_WORDS]
    words = words[content[0] : content[-1] + 1] if content else []  # not "Spread of the", nor "of Norway"
    new = " ".join(words)
    taken = {section.title.casefold() for section in outline.sections} | {outline.topic.casefold()}
    return new[:1].upper() + new[1:] if len(words) <= _LONGEST and new.casefold() not in taken else ""
