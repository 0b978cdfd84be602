"""Validation of engines: return values become results, errors become SearchErrors."""

import inspect
import logging
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any, TypeVar
from urllib.parse import urlsplit

from pydantic import ValidationError

from storm_pipeline.errors import SearchError, SettingsError, StormError
from storm_pipeline.run.concurrency import result_of
from storm_pipeline.run.events import adapter_of
from storm_pipeline.sources.search.base import AsyncSearchEngine, Search, SearchEngine
from storm_pipeline.sources.search.engine_info import SearchOptions
from storm_pipeline.sources.search.result import SearchResult
from storm_pipeline.sources.search.search_cache import SearchCache
from storm_pipeline.text.identity import LONGEST_ADDRESS, host_of, split_address
from storm_pipeline.text.plain import one_line, readable_title
from storm_pipeline.text.words import encodable, encodable_values
from storm_pipeline.types import Snippet, Work

Record = TypeVar("Record", Snippet, Work)
_EXPECTED = "expected a list of Snippet objects, or of dicts with url, title and text"
_MOST_KEYS, _MOST_SHOWN = 8, 300
_FIELDS = tuple(field.name for field in fields(Snippet))
_log = logging.getLogger(__name__)
LONGEST_TEXT, LONGEST_TITLE = 50_000, 500  # characters of a text (about 8,000 words), and of a title
_ANY_DOMAIN = SearchOptions()
_BREAKS = 200  # characters before a limit in which to cut at white space


def with_checks(
    engine: SearchEngine | AsyncSearchEngine | Search,
    *,
    is_remote: bool = False,
    cache: SearchCache | None = None,
    identity: str = "",
    options: SearchOptions = _ANY_DOMAIN,
) -> Search:
    """Return a validated engine, with results as return values and SearchErrors as errors.

    An item may be a Snippet, or a dict with ``url``, ``text`` and optionally the other fields of a Snippet; unknown
    keys are ignored. Any other item is dropped and reported in :attr:`SearchResult.lost`. An exception of the engine
    becomes a SearchError that names it; the package's errors are passed on.

    Args:
        engine: any object with a ``name`` and a method ``search(query, k)``, which may be asynchronous; a validated one
            is returned unchanged.
        is_remote: set missing ``accessed`` of snippets to today (UTC).
        cache: keeps the results under ``identity``, by default the engine's name.
        options: pages on other domains are left out; the engine is asked for twice as many, to replace them.

    Raises SettingsError: ``name`` is not a string, or there is no such method.
    """
    if isinstance(engine, Search):
        return engine
    name = _name(engine)
    is_restricted = bool(options.domains or options.without_domains)

    def search(query: str, k: int) -> SearchResult:
        most = 2 * k if is_restricted else k
        result = cache.result(query, most, name, ask, identity=identity) if cache else ask(query, most)
        return _keep_domains(result, options, k) if is_restricted else result

    def ask(query: str, k: int) -> SearchResult:
        try:
            answer: object = engine.search(query, k)
            today = datetime.now(UTC).date().isoformat() if is_remote else None
            return _result(result_of(answer) if inspect.isawaitable(answer) else answer, name, today)
        except StormError:
            raise
        except Exception as error:
            _log.debug("the search engine %s failed", name, exc_info=error)
            message = one_line(str(error))
            raise SearchError(
                f"the engine `{name}` raised {type(error).__name__}{': ' if message else ''}{message}"
            ) from error

    return Search(name, search)


def _keep_domains(result: SearchResult, options: SearchOptions, k: int) -> SearchResult:
    """Return the snippets on the domains of the options, of up to ``k`` pages."""
    allowed = [snippet for snippet in result.snippets if options.allow(host_of(snippet.url))]
    pages = list(dict.fromkeys(snippet.source_id for snippet in allowed))[:k]
    return replace(result, snippets=tuple(snippet for snippet in allowed if snippet.source_id in pages))


def _result(answer: object, name: str, accessed: str | None) -> SearchResult:
    if not isinstance(answer, Iterable) or isinstance(answer, str | bytes | Mapping):
        lost = f"the search engine `{name}` returned {_type_name(answer)} instead of results: {_EXPECTED}"
        return SearchResult(lost=(lost,))
    snippets: list[Snippet] = []
    problems: list[str] = []
    for position, item in enumerate(answer, 1):
        try:
            snippet = _snippet(item, name)
        except TypeError as error:
            problems.append(f"number {position}, which has {error}")
        else:
            snippets.append(replace(snippet, accessed=snippet.accessed or accessed))
    number = "1 result" if len(problems) == 1 else f"{len(problems)} results"
    unusable = f"the search engine `{name}` returned {number} that cannot be used, such as "
    return SearchResult(tuple(snippets), lost=tuple(f"{unusable}{problem}: {_EXPECTED}" for problem in problems[:1]))


def _snippet(item: object, engine: str) -> Snippet:
    """Return the snippet of an item; raise TypeError with a message that completes "it has …"."""
    if isinstance(item, Snippet):
        values = {name: getattr(item, name) for name in _FIELDS}
    elif isinstance(item, Mapping):
        if absent := [name for name in ("url", "text") if name not in item]:
            missing = " and ".join(f"no `{name}`" for name in absent)
            keys = ", ".join(f"`{key}`" for key in list(item)[:_MOST_KEYS])
            raise TypeError(one_line(f"{missing}{' but ' if keys else ''}{keys}")[:_MOST_SHOWN])
        values = {"engine": engine} | {name: item[name] for name in _FIELDS if name in item}
        values["title"] = values.get("title") or ""
    else:
        raise TypeError(f"no fields, being {_type_name(item)}")
    for name in ("url", "text"):
        if values.get(name) is None or (isinstance(values[name], str) and not values[name].strip()):
            raise TypeError(f"no `{name}`")
    if isinstance(url := values["url"], str):
        if len(url) > LONGEST_ADDRESS:
            raise TypeError(f"an address of {len(url):,} characters")
        with suppress(ValueError):
            parts = split_address(url)
            if (netloc := parts.netloc.rpartition("@")[2]) != urlsplit(url).netloc:  # a user's name looks like a host
                values["url"] = parts._replace(netloc=netloc).geturl()
    values = encodable_values(values)
    if isinstance(values.get("title"), str):
        values["title"] = readable_title(values["title"][:LONGEST_TEXT])
    try:
        return adapter_of(Snippet).validate_python(values)  # type: ignore[no-any-return]
    except ValidationError as error:
        first = error.errors()[0]
        raise TypeError(f"`{first['loc'][0]}` of type {type(first['input']).__name__}") from error


def _name(engine: object) -> str:
    """Return the name of an engine; raise SettingsError if the engine is invalid."""
    form = "give `search` the name of an engine, or an object with a `name` and a method `search(query, k)`, not "
    if isinstance(engine, type):
        raise SettingsError(f"{form}the class {engine.__name__}: create an instance of it")
    form += _type_name(engine)
    if not callable(getattr(engine, "search", None)):
        raise SettingsError(f"{form}, which has no method `search`")
    name = getattr(engine, "name", None)
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise SettingsError(f"{form}, whose `name` is {name!r}: it must be a non-empty single-line string")
    return name


def _type_name(value: object) -> str:
    return "None" if value is None else f"an object of type {type(value).__name__}"


def cut_long_texts(result: SearchResult, engine: str) -> SearchResult:
    """Shorten the snippets of a result; ``lost`` reports the number of cut texts."""
    snippets = tuple(map(shortened, result.snippets))
    cut = sum(len(snippet.text) > LONGEST_TEXT for snippet in result.snippets)
    lost = (f"{engine} returned {cut} texts of more than {LONGEST_TEXT:,} characters, which were cut",)
    return replace(result, snippets=snippets, lost=result.lost + (lost if cut else ()))


def shortened(record: Record) -> Record:
    """Cut the text to :data:`LONGEST_TEXT`, and other fields except the address to :data:`LONGEST_TITLE`.

    Authors and editors may be ten times as long: about 300 people.
    """
    longest = {"text": LONGEST_TEXT, "author": 10 * LONGEST_TITLE, "editors": 10 * LONGEST_TITLE}
    texts: dict[str, Any] = {
        name: _cut(value, longest.get(name, LONGEST_TITLE))
        for name, value in vars(record).items()
        if isinstance(value, str) and name not in {"url", "id", "source_id"}
    }
    work = getattr(record, "work", None)
    return replace(record, **texts, **({"work": shortened(work)} if work else {}))


def _cut(text: str, most: int) -> str:
    if len(text) > most:
        end = max(text.rfind(" ", most - _BREAKS, most), text.rfind("\n", most - _BREAKS, most))
        text = text[: end if end > 0 else most].rstrip()
    return encodable(text)
