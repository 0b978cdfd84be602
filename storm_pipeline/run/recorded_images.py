"""Images of cited articles, journalled and served from the journal when the run is resumed."""

from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from typing import TYPE_CHECKING

from storm_pipeline.run.events import Events, Reused
from storm_pipeline.run.journal import Journal, fingerprint
from storm_pipeline.search.wikimedia_images import ImageSource, LeadImages

if TYPE_CHECKING:
    from pydantic import TypeAdapter


class RecordedImages:
    """An image source that repeats no look-up of a run."""

    def __init__(self, images: ImageSource, journal: Journal, events: Events) -> None:
        self._images = images
        self._journal = journal
        self._events = events

    def lead_images(self, language: str, titles: Mapping[str, str]) -> LeadImages:
        """The recorded images, or those from the source; records that cannot be read are skipped.

        Raises SearchError: as the source's; it is not journalled.
        """
        key = fingerprint(language, dict(titles))
        while (recorded := self._journal.take("images", key)) is not None:
            try:
                found = _adapter().validate_python(recorded)
            except ValueError:
                continue
            self._events.emit(Reused(self._events.stage, "images"))
            return found
        found = self._images.lead_images(language, titles)
        self._journal.add("images", key, asdict(found))
        return found


@cache
def _adapter() -> "TypeAdapter[LeadImages]":
    from pydantic import TypeAdapter

    return TypeAdapter(LeadImages)
