"""Read-only links to articles: random keys, kept as hashes in the records of their runs."""

import secrets
from dataclasses import dataclass

from storm_pipeline.interfaces.server.callers import digest
from storm_pipeline.interfaces.server.errors import UnknownRunError
from storm_pipeline.interfaces.server.places import Places
from storm_pipeline.interfaces.server.run_folders import RunFolders

_PLACES = Places("look-ups of shared articles", 8, 8)  # each reads the records of all runs


@dataclass(frozen=True)
class Shares:
    """The links to the articles of a server's runs, at most one a run."""

    folders: RunFolders

    def add(self, name: str) -> str:
        """Return the key of a new link to a run's article, which replaces an earlier one.

        Raises UnknownRunError, ConflictError, RunError: no such run, no article yet, or it cannot be recorded.
        """
        self.folders.article(name)
        key = secrets.token_urlsafe(32)
        self.folders.records.update(name, shared=digest(key))
        return key

    def remove(self, name: str) -> None:
        """Make a run's link invalid. Raises UnknownRunError, RunError: as :meth:`add`."""
        self.folders.path(name)
        self.folders.records.update(name, shared="")

    def find(self, key: str) -> str:
        """Return the name of the run with a link of this key. Raises UnknownRunError: there is none; BusyError."""
        kept = digest(key)
        with _PLACES.hold("everybody"):
            for name in self.folders.names():
                if self.folders.records.get(name).shared == kept:
                    return name
        raise UnknownRunError("there is no article at this address: it was not shared, or is not any more")
