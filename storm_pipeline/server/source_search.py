"""Search for sources as a run does, for assistants."""

import threading

from storm_pipeline.run.search import RunSearch, open_engine
from storm_pipeline.search.base import Search
from storm_pipeline.server.errors import place_in
from storm_pipeline.settings import Settings
from storm_pipeline.types import Snippet


class SourceSearch:
    """The owner's search engine with its cache, page reader and filter of sources; opened at first use."""

    def __init__(self, settings: Settings, engine: Search | None = None) -> None:
        self._settings, self._engine = settings, engine
        self._search: RunSearch | None = None
        self._opening = threading.Lock()
        self._places = threading.BoundedSemaphore(4)  # each search holds one of the server's threads

    def find(self, query: str, most: int) -> tuple[Snippet, ...]:
        """Return passages for a query, best first, from at most ``most`` pages.

        Raises SettingsError, SearchError: the engine cannot be opened, or the search failed. Raises BusyError: as many
        searches are under way as may be.
        """
        with place_in(self._places, "searches"):
            with self._opening:
                if self._search is None:
                    self._search = RunSearch(open_engine(self._settings, self._engine), self._settings)
            return self._search.search(query, most).snippets

    def close(self) -> None:
        """Stop fetching pages."""
        if self._search is not None:
            self._search.close()
