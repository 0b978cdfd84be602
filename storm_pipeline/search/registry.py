"""From what a user writes (``wiki-leads``, ``corpus:papers/`` …) to a search engine."""

import os
from dataclasses import dataclass
from pathlib import Path

from storm_pipeline.assets import LEADS, Progress, fetch
from storm_pipeline.errors import SettingsError
from storm_pipeline.search.base import SearchEngine


@dataclass(frozen=True)
class EngineInfo:
    """A search engine as a table shows it.

    Attributes:
        name: how it is chosen.
        needs: what it needs, in a few words.
        free: whether searching costs nothing.
        key_set: whether the variable that it needs is set; None where it needs none.
        returns: what it finds.
    """

    name: str
    needs: str
    free: bool
    key_set: bool | None
    returns: str


def engines() -> tuple[EngineInfo, ...]:
    """All engines that :func:`open_search` knows, those without needs first."""
    from storm_pipeline.search.engines.searxng import URL_VARIABLE
    from storm_pipeline.search.engines.you import KEY_VARIABLE

    return (
        EngineInfo(
            "wiki-leads",
            "a download of 5 MB, once",
            free=True,
            key_set=None,
            returns="opening paragraphs of 10,000 vital Wikipedia articles: a small world, to try things",
        ),
        EngineInfo(
            "corpus:PATH",
            "a folder or a JSON lines file of your own",
            free=True,
            key_set=None,
            returns="passages of your documents (.txt .md .html .pdf, or url, title and text a line)",
        ),
        EngineInfo(
            "searxng[:URL]",
            f"an instance that answers in JSON, as URL or in {URL_VARIABLE}",
            free=True,
            key_set=_is_set(URL_VARIABLE),
            returns="pages of the web, one short passage each",
        ),
        EngineInfo(
            "you",
            f"a key in {KEY_VARIABLE}",
            free=False,
            key_set=_is_set(KEY_VARIABLE),
            returns="pages of the web, several passages each; the engine of the paper",
        ),
    )


def open_search(spec: str, *, cache: Path, on_progress: Progress | None = None) -> SearchEngine:
    """The engine that a specification names, ready to search.

    Args:
        spec: ``wiki-leads``, ``corpus:PATH``, ``you``, ``searxng`` or ``searxng:URL``.
        cache: folder of the downloads.
        on_progress: told about a download, should one be needed.

    Raises:
        SettingsError: no engine has this name, or it lacks a key or an address.
        AssetError: the embedded corpus could not be fetched.
        CorpusError: one's own documents could not be read.
    """
    name, _, rest = spec.strip().partition(":")
    if name == "wiki-leads" and not rest:
        from storm_pipeline.search.engines.wiki_leads import WikiLeads

        return WikiLeads(fetch(LEADS, cache, on_progress))
    if name == "corpus" and rest:
        from storm_pipeline.search.engines.corpus import CorpusSearch

        return CorpusSearch(Path(rest))
    if name == "you" and not rest:
        from storm_pipeline.search.engines.you import YouSearch

        return YouSearch()
    if name == "searxng":
        from storm_pipeline.search.engines.searxng import SearxngSearch

        return SearxngSearch(rest or None)
    known = "; ".join(f"{engine.name} (needs {engine.needs})" for engine in engines())
    raise SettingsError(f"no search engine is called {spec!r}; choose one of: {known}")


def _is_set(variable: str) -> bool:
    return bool(os.environ.get(variable, "").strip())
