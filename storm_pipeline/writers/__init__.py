"""Writers turn evidence into text: whole sections, as in the paper, or single sentences. Chosen once per run.

What only small models need is in ``writers/small``, of which nothing but this file imports anything.
"""

from collections.abc import Iterable
from typing import Any

from storm_pipeline.run.context import Subject
from storm_pipeline.run.writer import Writer
from storm_pipeline.settings import Settings
from storm_pipeline.types import Snippet


def writer_for(settings: Settings) -> Writer[Any]:
    """The writer named by the setting ``writing``, or by default the one that suits the writing model."""
    if settings.writes_by_sentence:
        from storm_pipeline.writers.small.writer import SmallWriter

        return SmallWriter()
    from storm_pipeline.writers.whole import WholeWriter

    return WholeWriter()


def subject_of(topic: str, found: Iterable[Snippet]) -> Subject:
    """What the snippets, the best first, say the topic is: for small models, which cannot tell its namesakes."""
    from storm_pipeline.writers.small import subject

    return subject.subject_of(topic, subject.sources_of(found))
