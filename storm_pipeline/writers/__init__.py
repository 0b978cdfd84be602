"""How text is written from what was found: whole, as in the paper, or sentence by sentence. Chosen once a run."""

from typing import Any

from storm_pipeline.run.context import Writer
from storm_pipeline.settings import Settings


def writer_for(settings: Settings) -> Writer[Any]:
    """The writer that the settings ask for (``writing``), or that suits the model that writes."""
    if settings.writes_by_sentence:
        from storm_pipeline.writers.by_sentence import SentenceWriter

        return SentenceWriter()
    from storm_pipeline.writers.whole import WholeWriter

    return WholeWriter()
