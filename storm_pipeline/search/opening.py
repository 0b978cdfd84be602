"""What an engine tells of itself, and what it is opened with: the common form of the modules in ``engines``.

Each of them has ``INFO``, an :class:`EngineInfo`, and ``open_engine(argument, opening)``.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from storm_pipeline.assets import Progress
from storm_pipeline.errors import SettingsError
from storm_pipeline.search.base import Search

if TYPE_CHECKING:
    from storm_pipeline.search.contents import ContentsSource


@dataclass(frozen=True)
class SearchOptions:
    """Which results are wanted.

    Attributes:
        language: two-letter code (ISO 639-1) of the language of the pages.
        region: two-letter code (ISO 3166-1) of the country to search from.
        since: earliest day of publication.
        until: latest day of publication.
        domains: only pages on these hosts or below them; empty for any.
        without_domains: no pages on these hosts or below them.
    """

    language: str | None = None
    region: str | None = None
    since: date | None = None
    until: date | None = None
    domains: tuple[str, ...] = ()
    without_domains: tuple[str, ...] = ()

    def period(self) -> tuple[date, date] | None:
        """First and last day of publication, an open end filled; None where any day will do."""
        if self.since is None and self.until is None:
            return None
        return self.since or date(1970, 1, 1), self.until or datetime.now(UTC).date()


@dataclass(frozen=True)
class EngineInfo:
    """A search engine as a table shows it.

    Attributes:
        name: how it is chosen, arguments included (``corpus:PATH``).
        needs: what it needs, in a few words; empty for nothing.
        free: whether searching costs nothing.
        returns: what it finds.
        variables: environment variables that hold its key or address; all must be set.
        optional_variables: environment variables that it does better with, such as a key that raises its rate.
        honours: options that it applies itself: ``language``, ``region``, ``since``, ``until``. Domains are looked
            after for every engine.
        of_the_web: whether it finds pages of unknown quality, which the reliable-source filter is for.
        remote: whether it asks a service, whose answers are worth remembering.
        of_engines: whether it asks other engines, each of which looks after the options itself.
    """

    name: str
    needs: str
    free: bool
    returns: str
    variables: tuple[str, ...] = ()
    optional_variables: tuple[str, ...] = ()
    honours: frozenset[str] = frozenset()
    of_the_web: bool = True
    remote: bool = True
    of_engines: bool = False

    @property
    def spoken(self) -> str:
        """The part of the name that is always written."""
        return self.name.partition("[")[0].partition(":")[0]

    @property
    def key_set(self) -> bool | None:
        """Whether the variables are set; None where there are none."""
        return all(map(variable, self.variables)) if self.variables else None


@dataclass(frozen=True)
class Opening:
    """What engines are opened with.

    Attributes:
        cache: folder of the downloads.
        options: which results are wanted.
        rate: requests a second; None for the engine's own rate.
        on_progress: told about a download, should one be needed.
        remember: gives a remote engine a memory; the text tells its results from those of others.
    """

    cache: Path = Path("cache")
    options: SearchOptions = field(default_factory=SearchOptions)
    rate: float | None = None
    on_progress: Progress | None = None
    remember: Callable[[Search, str], Search] | None = None


@dataclass(frozen=True)
class Opened:
    """An engine that was opened.

    Attributes:
        engine: ready to search.
        problems: what of it could not be read, such as files of one's own documents: one sentence each.
        contents: its tables of contents, where it has such.
    """

    engine: Search
    problems: tuple[str, ...] = ()
    contents: "ContentsSource | None" = None


def variable(name: str) -> str:
    """An environment variable, stripped; empty where it is not set."""
    return os.environ.get(name, "").strip()


def needed_key(engine: str, name: str, source: str, given: str | None = None) -> str:
    """The key of an engine: as given, else from the environment.

    Raises:
        SettingsError: there is none; names the variable and where keys come from.
    """
    key = (given or variable(name)).strip()
    if not key:
        raise SettingsError(f"the search engine `{engine}` needs a key: set {name} to one from {source}")
    return key


def needed_argument(engine: str, argument: str, what: str, form: str) -> str:
    """What stands behind the colon, for an engine that cannot do without.

    Args:
        engine: its name.
        argument: what the user wrote there.
        what: what is needed, such as ``a path``.
        form: how a whole specification is written.

    Raises:
        SettingsError: nothing stands there.
    """
    if not argument:
        raise SettingsError(f"the search engine `{engine}` needs {what}: write {form}")
    return argument


def no_argument(engine: str, argument: str) -> None:
    """Refuse what stands behind the colon where an engine takes nothing there."""
    if argument:
        raise SettingsError(f"the search engine `{engine}` takes nothing after its name: {argument!r} was given")
