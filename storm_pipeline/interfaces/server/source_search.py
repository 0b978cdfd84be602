"""Search for sources, as in a run, for assistants."""

import threading
from contextlib import closing

from storm_pipeline.evidence.run_search import RunSearch, open_engine
from storm_pipeline.interfaces.server.places import caller_name, make_places
from storm_pipeline.settings import Settings
from storm_pipeline.sources.search.base import Search
from storm_pipeline.sources.search.engine_info import Engine
from storm_pipeline.types import Snippet


class SourceSearch:
    """The owner's search engine with its cache, opened at first use; pages are read anew for each search.

    So a caller's pages stay in memory until the answer, and take no other caller's readers.
    """

    def __init__(self, settings: Settings, engine: Search | None = None) -> None:
        self._settings, self._engine = settings, engine
        self._opened: Engine | None = None
        self._opening = threading.Lock()
        self._places = make_places("searches", 8)  # each holds a thread of the server

    def find(self, query: str, most: int) -> tuple[Snippet, ...]:
        """Return passages for a query, best first, from at most ``most`` pages.

        Raises SettingsError, SearchError: the engine cannot be opened, or the search failed; BusyError: too many
        concurrent searches.
        """
        with self._places.hold(caller_name()):
            with self._opening:
                self._opened = self._opened or open_engine(self._settings, self._engine)
            with closing(RunSearch(self._opened, self._settings)) as search:
                return search.search(query, most).snippets
