"""The interface of the modules in ``engines``: metadata and configuration of an engine.

Each module has ``INFO``, an :class:`EngineInfo`, and ``open_engine(argument, config)``, or, for a composite engine,
``open_parts(parts)``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from storm_pipeline.errors import SettingsError
from storm_pipeline.run.assets import Progress
from storm_pipeline.sources.search.base import ContentsSource, Search
from storm_pipeline.sources.search.search_cache import SearchCache
from storm_pipeline.text.configuration.addresses import redact
from storm_pipeline.text.configuration.variables import default_cache, variable

if TYPE_CHECKING:
    from storm_pipeline.evidence.retrieval.embedder import Embedder


@dataclass(frozen=True)
class SearchOptions:
    """Restrictions on the results of a search."""

    language: str | None = None  # two-letter code (ISO 639-1) of the language of the pages
    region: str | None = None  # two-letter code (ISO 3166-1) of the country to search from
    since: date | None = None  # earliest day of publication
    until: date | None = None  # latest day of publication
    domains: tuple[str, ...] = ()  # only pages on these domains or their subdomains; empty for any
    without_domains: tuple[str, ...] = ()  # no pages on these domains or their subdomains

    def allow(self, host: str) -> bool:
        """Return whether pages of a host are wanted."""
        labels, (wanted, unwanted) = host.split("."), self._domains
        above = {".".join(labels[place:]) for place in range(len(labels))} - {""}  # the host, and the domains above it
        return (not self.domains or not wanted.isdisjoint(above)) and unwanted.isdisjoint(above)

    @cached_property
    def _domains(self) -> list[set[str]]:
        return [{name.casefold().strip(". ") for name in names} for names in (self.domains, self.without_domains)]

    def period(self) -> tuple[date, date] | None:
        """Return the first and last day of publication, with defaults for an open end; None if unrestricted."""
        if self.since is None and self.until is None:
            return None
        return self.since or date(1970, 1, 1), self.until or datetime.now(UTC).date()


@dataclass(frozen=True)
class EngineInfo:
    """Metadata of a search engine."""

    name: str  # specification with arguments (``corpus:PATH``)
    needs: str  # its requirements, in a few words; empty for none
    free: bool  # whether searching costs nothing
    returns: str  # kind of its results
    variables: tuple[str, ...] = ()  # environment variables of its key or address; all must be set
    # environment variables that improve it, such as a key that raises its rate
    optional_variables: tuple[str, ...] = ()
    # supported options: ``language``, ``region``, ``since``, ``until``; domains are always filtered
    supports: frozenset[str] = frozenset()
    open_web: bool = True  # whether its results need the reliable-source filter
    remote: bool = True  # whether it queries a service with cacheable responses
    composite: bool = False  # whether it queries other engines, which apply the options
    is_private: bool = False  # whether it searches the user's own texts, whose queries go to no other service

    @property
    def base_name(self) -> str:
        """The name without its arguments."""
        return self.name.partition("[")[0].partition(":")[0]

    @property
    def key_set(self) -> bool | None:
        """Whether all variables are set; None if there are none."""
        return all(map(variable, self.variables)) if self.variables else None


def paid_service(name: str, variable: str, returns: str, *supports: str) -> EngineInfo:
    """Return the metadata of a paid web service with a key in a variable."""
    needs, names = f"a key in {variable}", (variable,)
    return EngineInfo(name, needs, free=False, returns=returns, variables=names, supports=frozenset(supports))


@dataclass(frozen=True)
class EngineConfig:
    """Configuration with which an engine is opened."""

    cache: Path = field(default_factory=default_cache)  # folder for downloads
    options: SearchOptions = field(default_factory=SearchOptions)  # restrictions of the results
    rate: float | None = None  # requests per second; None for the engine's default
    on_progress: Progress | None = None  # receives the progress of a download
    searches: SearchCache | None = None  # keeps the results of remote engines
    open_embedder: "Callable[[str], Embedder] | None" = None  # opens an embedder by its name, as in the settings
    dois: bool = False  # whether Crossref may be asked about DOIs of the user's documents
    check: Callable[[], None] = lambda: None  # called between steps of opening; may raise to end it


@dataclass(frozen=True)
class Engine:
    """An open search engine, shared by all runs."""

    search: Search  # the engine, with its cache
    spec: str  # its name, as in the settings
    why: str = ""  # reason of the automatic choice, as the end of a sentence; else empty
    custom: bool = False  # whether the user passed it as an object
    problems: tuple[str, ...] = ()  # unreadable parts, such as files of a corpus: one sentence each
    contents: ContentsSource | None = None  # its tables of contents, if any
    is_private: bool = False  # whether it searches the user's own texts alone
    offline: bool = False  # whether the network was down when it was chosen
    cache: SearchCache | None = None  # the disk cache of its results, if it was opened by name


def code_of(engine: str, option: str, value: str, codes: Mapping[str, str]) -> str:
    """Return the code in ``codes`` of an option's value, ignoring case. Raises SettingsError: no such code."""
    if (code := codes.get(value.casefold())) is None:
        raise SettingsError(f"the search engine `{engine}` does not support the {option} {value!r}; leave it out")
    return code


def require_argument(engine: str, argument: str, what: str, form: str) -> str:
    """Return the argument of a specification; raise SettingsError if it is empty. ``what``: such as ``a path``."""
    if not argument:
        raise SettingsError(f"the search engine `{engine}` needs {what}: write {form}")
    return argument


def reject_argument(engine: str, argument: str) -> None:
    """Raise SettingsError if an argument is given to an engine that takes none."""
    if argument:
        raise SettingsError(f"the search engine `{engine}` takes no argument: {redact(repr(argument))} was given")
