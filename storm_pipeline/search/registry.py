"""From what a user writes (``wiki-leads``, ``corpus:papers/`` …) to a search engine."""

from importlib import import_module
from types import ModuleType

from storm_pipeline.errors import SettingsError
from storm_pipeline.search.domains import DomainSearch
from storm_pipeline.search.edge import checked
from storm_pipeline.search.opening import EngineInfo, Opened, Opening

_MODULES = (
    "wiki_leads",
    "corpus",
    "kiwix",
    "qdrant",
    "wikipedia",
    "arxiv",
    "semantic_scholar",
    "pubmed",
    "crossref",
    "duckduckgo",
    "searxng",
    "google",
    "you",
    "tavily",
    "brave",
    "serper",
    "exa",
    "fused",
    "first",
)
"""The modules of ``engines`` in the order of the table: those that need nothing first, those over others last."""


def engines() -> tuple[EngineInfo, ...]:
    """All engines that :func:`open_search` knows, those without needs first, those that ask others last."""
    return tuple(_module(name).INFO for name in _MODULES)


def open_search(spec: str, opening: Opening | None = None) -> Opened:
    """The engine that a specification names, ready to search.

    Args:
        spec: a name of :func:`engines`, such as ``wiki-leads``, ``corpus:PATH``, ``searxng:URL`` or several of them:
            ``fused:wikipedia:de+corpus:PATH``.
        opening: options, rate and folder; by default an engine's own.

    Raises:
        SettingsError: no engine has this name, it lacks a key or an address, or cannot apply an option.
        AssetError: the embedded corpus could not be fetched.
        CorpusError: one's own documents could not be read.
    """
    opening = opening or Opening()
    name, _, argument = spec.strip().partition(":")
    for module in map(_module, _MODULES):
        if module.INFO.spoken == name:
            return _opened(module, argument.strip(), opening)
    known = ", ".join(engine.name for engine in engines())
    raise SettingsError(
        f"no search engine is called {spec!r}; choose one of: {known} (`storm search engines` tells what each needs)"
    )


def _module(name: str) -> ModuleType:
    return import_module(f"storm_pipeline.search.engines.{name}")


def _opened(module: ModuleType, argument: str, opening: Opening) -> Opened:
    info: EngineInfo = module.INFO
    if info.of_engines:  # each of which looks after memory and options itself
        together: Opened = module.open_engine(argument, opening)
        return together
    _refuse_unknown(info, opening)
    raw = module.open_engine(argument, opening)
    engine, options = checked(raw), opening.options
    if info.remote and opening.remember:
        engine = opening.remember(engine, f"{info.spoken}:{argument} {options}")
    if options.domains or options.without_domains:
        engine = DomainSearch(engine, options)
    return Opened(engine, getattr(raw, "problems", ()), getattr(raw, "contents", None))


def _refuse_unknown(info: EngineInfo, opening: Opening) -> None:
    options = opening.options
    asked = {name for name in ("language", "region", "since", "until") if getattr(options, name) is not None}
    if lacking := sorted(asked - info.honours):
        raise SettingsError(
            f"the search engine `{info.spoken}` cannot choose by {' or '.join(lacking)}: "
            "leave that out, or choose another engine (`storm search engines` tells what each can)"
        )
