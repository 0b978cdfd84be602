"""Opening a search engine by its specification (``wiki-leads``, ``corpus:papers/`` …), or choosing one."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import accumulate, pairwise
from types import ModuleType
from typing import cast

from storm_pipeline.errors import SettingsError
from storm_pipeline.run.retrying import run_within
from storm_pipeline.sources.search.edge import with_checks
from storm_pipeline.sources.search.engine_info import Engine, EngineConfig, EngineInfo
from storm_pipeline.text.configuration.addresses import fill_in, redact
from storm_pipeline.text.configuration.variables import variable
from storm_pipeline.text.formatting import did_you_mean

_MODULES = (
    "wiki_leads", "corpus", "kiwix", "qdrant", "wikipedia", "arxiv", "semantic_scholar", "pubmed", "crossref",
    "duckduckgo", "searxng", "you", "tavily", "brave", "serper", "exa", "fused",
)  # fmt: skip
"""The modules of ``engines`` in display order: no requirements first, the composite engine last."""
_MAX_ENGINES = 16
_KEYLESS, _PROBED = "wikipedia", "https://en.wikipedia.org/w/api.php"
_OFFLINE = "wiki-leads"
_log = logging.getLogger(__name__)


def engines() -> tuple[EngineInfo, ...]:
    """Return all engines that :func:`open_search` can open: no requirements first, the composite engine last."""
    return tuple(_module(name).INFO for name in _MODULES)


def is_local(name: str) -> bool:
    """Return whether an engine searches on this machine, where additional results cost nothing."""
    info = engine_info(name)
    return info is not None and not info.remote


def is_private_engine(name: str) -> bool:
    """Return whether an engine searches the user's documents."""
    info = engine_info(name)
    return info is not None and info.is_private


def open_search(spec: str, config: EngineConfig | None = None) -> Engine:
    """Open the engine that a specification names.

    ``spec``: a name of :func:`engines`, such as ``wiki-leads``, ``corpus:PATH``, ``searxng:URL`` or several of them:
    ``fused:wikipedia:de+corpus:PATH``. ``config``: options, rate and folder; by default an engine's own. Raises
    SettingsError: no engine has this name, it lacks a key or an address, or cannot apply an option; AssetError: the
    embedded corpus could not be fetched; CorpusError: the documents of a corpus could not be read.
    """
    config = config or EngineConfig()
    name, _, argument = spec.strip().partition(":")
    if module := _find_module(name):
        return replace(_open(module, argument.strip(), config), spec=spec, cache=config.searches)
    known = ", ".join(engine.name for engine in engines())
    otherwise = f"choose one of: {known} (`storm search engines` lists their requirements)"
    hint = did_you_mean(name, [engine.base_name for engine in engines()], otherwise)
    raise SettingsError(f"there is no search engine {redact(repr(spec))}; {hint}")


def engine_info(name: str) -> EngineInfo | None:
    """Return the metadata of an engine by its base name, or None, without loading other engines."""
    return getattr(_find_module(name), "INFO", None)


def is_collection(name: str) -> bool:
    """Return whether an engine searches a curated collection, not the web."""
    info = engine_info(name)
    return info is not None and not info.open_web


def _find_module(name: str) -> ModuleType | None:
    module = name.replace("-", "_")
    return _module(module) if module in _MODULES and name == module.replace("_", "-") else None


def _module(name: str) -> ModuleType:
    return import_module(f"storm_pipeline.sources.engines.{name}")


def _open(module: ModuleType, argument: str, config: EngineConfig) -> Engine:
    info: EngineInfo = module.INFO
    if info.composite:  # parts apply cache and options
        parts = [open_search(part, config) for part in split_specs(info.base_name, argument)]
        return cast("Engine", module.open_parts(parts))
    _reject_unsupported(info, config)
    raw = module.open_engine(fill_in(argument), config)
    place = argument or "".join(variable(name) for name in info.variables if name.endswith("_URL"))
    identity, cache = f"{info.base_name}:{place} {config.options}", config.searches if info.remote else None
    search = with_checks(raw, is_remote=info.remote, cache=cache, identity=identity, options=config.options)
    problems, contents = getattr(raw, "problems", ()), getattr(raw, "contents", None)
    return Engine(search, search.name, problems=problems, contents=contents, is_private=info.is_private)


def _reject_unsupported(info: EngineInfo, config: EngineConfig) -> None:
    options = config.options
    given = {name for name in ("language", "region", "since", "until") if getattr(options, name) is not None}
    if unsupported := sorted(given - info.supports):
        raise SettingsError(
            f"the search engine `{info.base_name}` does not support {' or '.join(unsupported)}: "
            "leave that out, or choose another engine (`storm search engines` lists what each supports)"
        )


def require_engine_keys(spec: str) -> None:
    """Raise SettingsError if an engine, or a part of it, does not exist or lacks a key."""
    name, _, argument = spec.strip().partition(":")
    info = engine_info(name)
    if info and info.composite:
        for part in split_specs(name, argument.strip()):
            require_engine_keys(part)
    elif info is None or info.key_set is False:
        open_search(spec, EngineConfig())  # cheap for these engines; raises an error for missing variables


def split_specs(name: str, argument: str) -> list[str]:
    """Split an argument into specifications, in order and stripped.

    A specification with a ``+`` needs square brackets: ``[corpus:c++ notes]+wikipedia``. Raises SettingsError: an empty
    part, too many parts, or an unbalanced bracket.
    """
    form = f"write {name}:A+B, where A and B are engines, in square brackets if they contain a +"
    given = redact(repr(argument))
    depths = _depths(argument)
    if depths and (min(depths) < 0 or depths[-1] > 0):
        raise SettingsError(f"the search engine `{name}` got an unbalanced bracket in {given}: {form}")
    cuts = [place for place, char in enumerate(argument) if char == "+" and depths[place] == 0]
    parts = [argument[start + 1 : end].strip() for start, end in pairwise([-1, *cuts, len(argument)])]
    # strip brackets around a whole part
    parts = [part[1:-1].strip() if part[:1] == "[" and 0 not in _depths(part)[:-1] else part for part in parts]
    if not all(parts):
        raise SettingsError(f"the search engine `{name}` got an empty engine name in {given}: {form}")
    if len(parts) > _MAX_ENGINES:
        raise SettingsError(f"the search engine `{name}` takes at most {_MAX_ENGINES} engines; {len(parts)} were given")
    return parts


def _depths(text: str) -> list[int]:
    return list(accumulate((char == "[") - (char == "]") for char in text))


@dataclass(frozen=True)
class Choice:
    """An automatically chosen engine."""

    spec: str  # its specification
    why: str  # the reason, as a clause that ends a sentence
    offline: bool = False  # whether the network is down


def choose(reachable: Callable[[str], bool] | None = None) -> Choice:
    """Choose the first engine with a key, else a reachable keyless one, else the embedded corpus.

    ``reachable``: whether a URL responds; by default :func:`responds`.
    """
    for info in engines():
        if info.variables and info.key_set and info.open_web:
            return Choice(info.base_name, f"since {' and '.join(info.variables)} is set")
    if (reachable or responds)(_PROBED):
        return Choice(_KEYLESS, "since no engine's key is set and it needs none")
    return Choice(_OFFLINE, "since no engine's key is set and the network cannot be reached", offline=True)


def responds(address: str) -> bool:
    """Return whether a URL responds within 2.5 seconds, including name resolution, with any status."""
    import requests

    from storm_pipeline.sources.transport.http import SOON, user_agent

    def ask() -> bool:
        requests.head(address, timeout=SOON, headers={"User-Agent": user_agent()})
        return True

    try:
        return run_within(SOON, ask) or False
    except (requests.RequestException, OSError) as error:
        _log.info("%s cannot be reached: %s", address, error)
        return False
