"""Where engines meet the rest: whatever an engine returns or raises becomes a result or a SearchError here."""

import inspect
import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields

from storm_pipeline.documents.plain import one_line
from storm_pipeline.errors import SearchError, SettingsError, StormError
from storm_pipeline.search.base import Search, SearchEngine
from storm_pipeline.search.result import SearchResult, checked_value
from storm_pipeline.types import Snippet

_EXPECTED = "expected is a list of Snippet objects, or of dicts with url, title and text"
_FIELDS = tuple(field.name for field in fields(Snippet))
_SURROGATE = re.compile("[\ud800-\udfff]")
_log = logging.getLogger(__name__)


def checked(engine: SearchEngine | Search) -> Search:
    """An engine as the rest of the package knows it; one that is checked already stays as it is.

    Raises:
        SettingsError: it is no engine; says what it lacks.
    """
    return engine if isinstance(engine, Search) else CheckedSearch(engine)


class CheckedSearch(Search):
    """An engine, anybody's, whose every answer is a result and whose every error is a SearchError.

    An item may be a Snippet, or a dict with ``url``, ``text`` and perhaps ``title`` and the other fields of a Snippet,
    further keys being ignored. Any other is left out, and :attr:`SearchResult.lost` says so.

    Args:
        engine: any object with a ``name`` and a method ``search(query, k)``; see :class:`SearchEngine`.

    Raises:
        SettingsError: it has no name that is a text, or no such method.
    """

    def __init__(self, engine: SearchEngine) -> None:
        self._name = _name(engine)
        self._engine = engine

    @property
    def name(self) -> str:
        """Name that the engine had when it was given."""
        return self._name

    def search(self, query: str, k: int) -> SearchResult:
        """What the engine finds, as far as it can be used.

        Raises:
            SearchError: as the engine's; or the engine raised anything else, which is named.
            StormError: the package's own errors pass.
        """
        try:
            return self._result(self._engine.search(query, k))
        except StormError:
            raise
        except Exception as error:
            _log.debug("the search engine %s failed", self._name, exc_info=error)
            said = one_line(_said(error))
            raise SearchError(
                f"the engine `{self._name}` raised {type(error).__name__}{': ' if said else ''}{said}"
            ) from error

    def _result(self, answer: object) -> SearchResult:
        if not isinstance(answer, Iterable) or isinstance(answer, str | bytes | Mapping):
            lost = f"the search engine `{self._name}` gave {_kind(answer)} instead of results: {_EXPECTED}"
            return SearchResult(lost=(lost,))
        problems: list[str] = []
        snippets = tuple(self._usable(answer, problems))
        if not problems:
            return SearchResult(snippets)
        number = "1 result that" if len(problems) == 1 else f"{len(problems)} results that"
        lost = f"the search engine `{self._name}` gave {number} cannot be used, such as {problems[0]}: {_EXPECTED}"
        return SearchResult(snippets, lost=(lost,))

    def _usable(self, items: Iterable[object], problems: list[str]) -> Iterator[Snippet]:
        for number, item in enumerate(items, 1):
            try:
                yield _snippet(item, self._name)
            except TypeError as error:
                problems.append(f"number {number}, which has {error}")


def _snippet(item: object, engine: str) -> Snippet:
    """The snippet of an item; raises TypeError, what is wrong with it, to follow "it has"."""
    if isinstance(item, Snippet):
        values = {name: getattr(item, name) for name in _FIELDS}
    elif isinstance(item, Mapping):
        values = {"engine": engine} | {name: item[name] for name in _FIELDS if name in item}
        values["title"] = values.get("title") or ""
    else:
        raise TypeError(f"no fields, being {_kind(item)}")
    for name in ("url", "text"):
        if values.get(name) is None or (isinstance(values[name], str) and not values[name].strip()):
            raise TypeError(f"no `{name}`")
    return checked_value(Snippet, {name: _encodable(value) for name, value in values.items()})


def _encodable(value: object) -> object:
    """The value, halves of surrogate pairs in a text replaced: no model, file or service takes them."""
    return _SURROGATE.sub("\ufffd", value) if isinstance(value, str) else value


def _name(engine: object) -> str:
    """The name of an engine; raises SettingsError where it is none."""
    form = "give `search` the name of an engine, or an object with a `name` and a method `search(query, k)`, not "
    form += f"the class {engine.__name__}" if isinstance(engine, type) else _kind(engine)
    if isinstance(engine, type):
        raise SettingsError(f"{form}: make an object of it")
    search = getattr(engine, "search", None)
    if not callable(search):
        raise SettingsError(f"{form}, which has no method `search`")
    if inspect.iscoroutinefunction(search):
        raise SettingsError(f"{form}, whose `search` is asynchronous: let it return the results themselves")
    try:
        name = getattr(engine, "name", None)
    except Exception as error:
        raise SettingsError(f"{form}, whose `name` raised {type(error).__name__}: {_said(error)}") from error
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise SettingsError(f"{form}, whose `name` is {name!r}: it must be one line of text that is not empty")
    return name


def _kind(value: object) -> str:
    return "None" if value is None else f"an object of type {type(value).__name__}"


def _said(error: Exception) -> str:
    """The message of an error; empty where it cannot even tell."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001  (an error of anybody's)
        return ""
