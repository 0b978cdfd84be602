"""Read-only links to articles: random keys, kept as hashes in the states of their runs."""

import secrets
from dataclasses import dataclass, field

from storm_pipeline.interfaces.server.callers import digest
from storm_pipeline.interfaces.server.errors import UnknownRunError
from storm_pipeline.interfaces.server.places import Places
from storm_pipeline.interfaces.server.run_folders import RunFolders

_STATE = "shared"  # field of run.json


@dataclass(frozen=True)
class Share:
    """A read-only link to an article."""

    key: str  # 256 random bits, shown this once
    path: str  # of the page
    article: str  # path of the article in a format, as ``/runs/RUN/article``


@dataclass(frozen=True)
class Shares:
    """The links to the articles of a server's runs. A run has one at most."""

    folders: RunFolders
    _places: Places = field(default_factory=lambda: Places("shared articles", 8, 8))

    def add(self, name: str) -> str:
        """Return the key of a new link to a run's article, which replaces an earlier one.

        Raises UnknownRunError, ConflictError, RunError: no such run, no article yet, or another process holds the run.
        """
        self.folders.article(name)
        key = secrets.token_urlsafe(32)
        self.folders.update(name, **{_STATE: digest(key)})
        return key

    def remove(self, name: str) -> None:
        """Make a run's link invalid. Raises UnknownRunError, RunError: as :meth:`add`."""
        self.folders.update(name, **{_STATE: ""})

    def find(self, key: str) -> str:
        """Return the name of the run with a link of this key. Raises UnknownRunError: there is none; BusyError."""
        shared = digest(key)
        with self._places.hold("everybody"):  # each reads the states of all runs
            name = next((name for name, state in self.folders.states() if state.get(_STATE) == shared), None)
        if name is None:
            raise UnknownRunError("there is no article at this address: it was not shared, or is not any more")
        return name
