"""The interface of the modules in ``engines``: metadata of an engine, and what it is opened with.

Each of them has ``INFO``, an :class:`EngineInfo`, and ``open_engine(argument, config)``.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from storm_pipeline.assets import Progress
from storm_pipeline.configuration.addresses import redacted
from storm_pipeline.configuration.home import default_cache
from storm_pipeline.configuration.variables import variable
from storm_pipeline.errors import SettingsError
from storm_pipeline.search.base import Search

if TYPE_CHECKING:
    from storm_pipeline.search.tables_of_contents import ContentsSource


@dataclass(frozen=True)
class SearchOptions:
    """Which results are wanted.

    Attributes:
        language: two-letter code (ISO 639-1) of the language of the pages.
        region: two-letter code (ISO 3166-1) of the country to search from.
        since: earliest day of publication.
        until: latest day of publication.
        domains: only pages on these domains or their subdomains; empty for any.
        without_domains: no pages on these domains or their subdomains.
    """

    language: str | None = None
    region: str | None = None
    since: date | None = None
    until: date | None = None
    domains: tuple[str, ...] = ()
    without_domains: tuple[str, ...] = ()

    def period(self) -> tuple[date, date] | None:
        """First and last day of publication, with defaults for an open end; None if unrestricted."""
        if self.since is None and self.until is None:
            return None
        return self.since or date(1970, 1, 1), self.until or datetime.now(UTC).date()


@dataclass(frozen=True)
class EngineInfo:
    """Metadata of a search engine.

    Attributes:
        name: how to select it, arguments included (``corpus:PATH``).
        needs: its requirements, in a few words; empty for none.
        free: whether searching costs nothing.
        returns: what it finds.
        variables: environment variables that hold its key or address; all must be set.
        optional_variables: environment variables that improve it, such as a key that raises its rate.
        supports: options that it applies itself: ``language``, ``region``, ``since``, ``until``. Domains are filtered
            for every engine.
        open_web: whether it finds pages of unknown quality, which need the reliable-source filter.
        remote: whether it queries a service, whose responses are worth caching.
        separator: the character between the specifications of the engines that a composite engine queries, each of
            which applies the options itself; empty for all other engines.
        own: whether it searches texts of the user's own, of which no other service need hear.
    """

    name: str
    needs: str
    free: bool
    returns: str
    variables: tuple[str, ...] = ()
    optional_variables: tuple[str, ...] = ()
    supports: frozenset[str] = frozenset()
    open_web: bool = True
    remote: bool = True
    separator: str = ""
    own: bool = False

    @property
    def base_name(self) -> str:
        """The name without its arguments."""
        return self.name.partition("[")[0].partition(":")[0]

    @property
    def key_set(self) -> bool | None:
        """Whether all variables are set; None if there are none."""
        return all(map(variable, self.variables)) if self.variables else None


@dataclass(frozen=True)
class EngineConfig:
    """What an engine is opened with.

    Attributes:
        cache: folder for downloads.
        options: which results are wanted.
        rate: requests a second; None for the engine's own rate.
        on_progress: called with the progress of a download.
        remember: wraps a remote engine in a cache, given its cache key.
        dois: whether Crossref may be asked about the DOIs of own documents.
    """

    cache: Path = field(default_factory=default_cache)
    options: SearchOptions = field(default_factory=SearchOptions)
    rate: float | None = None
    on_progress: Progress | None = None
    remember: Callable[[Search, str], Search] | None = None
    dois: bool = False


@dataclass(frozen=True)
class OpenedEngine:
    """An opened engine.

    Attributes:
        engine: ready to search.
        problems: what could not be read, such as files of a corpus: one sentence each.
        contents: its tables of contents, if it has any.
        own: whether it searches texts of the user's own alone.
    """

    engine: Search
    problems: tuple[str, ...] = ()
    contents: "ContentsSource | None" = None
    own: bool = False


def require_key(engine: str, name: str, source: str, given: str | None = None) -> str:
    """The key of an engine: as given, else from the environment.

    Raises:
        SettingsError: there is none; names the variable and where to get a key.
    """
    key = (given or variable(name)).strip()
    if not key:
        raise SettingsError(f"no key set for the search engine `{engine}`: set {name} to one from {source}")
    return key


def require_argument(engine: str, argument: str, what: str, form: str) -> str:
    """The argument after the colon of a specification, for an engine that requires one.

    Args:
        engine: its name.
        argument: as the user wrote it; may be empty.
        what: what is required, such as ``a path``.
        form: syntax of the whole specification.

    Raises:
        SettingsError: it is empty.
    """
    if not argument:
        raise SettingsError(f"the search engine `{engine}` needs {what}: write {form}")
    return argument


def reject_argument(engine: str, argument: str) -> None:
    """Raise SettingsError if an argument is given to an engine that takes none."""
    if argument:
        raise SettingsError(f"the search engine `{engine}` takes no argument: {redacted(repr(argument))} was given")
