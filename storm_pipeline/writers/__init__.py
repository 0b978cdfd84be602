"""Writers turn evidence into text: whole sections, as in the paper, or single sentences. Chosen once per run.

What only small models need is in ``writers/small``, of which nothing but this file imports anything.
"""

from typing import Any

from storm_pipeline.run.writer import Writer
from storm_pipeline.settings import Settings


def writer_for(settings: Settings) -> Writer[Any]:
    """The writer named by the setting ``writing``, or by default the one that suits the writing model."""
    if settings.writes_by_sentence:
        from storm_pipeline.writers.small.writer import SmallWriter

        return SmallWriter()
    from storm_pipeline.writers.whole import WholeWriter

    return WholeWriter()
