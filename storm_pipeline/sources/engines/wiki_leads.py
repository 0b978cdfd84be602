"""The embedded corpus: opening paragraphs of some 10,000 vital Wikipedia articles. No key, no network."""

import json
import re
import threading
from collections.abc import Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from storm_pipeline.run.assets import LEADS, fetch
from storm_pipeline.sources.search.engine_info import EngineConfig, EngineInfo, reject_argument
from storm_pipeline.text.identity import page_address
from storm_pipeline.text.lexical import LexicalIndex
from storm_pipeline.text.plain import plain_text
from storm_pipeline.types import Snippet

INFO = EngineInfo(
    "wiki-leads",
    needs="a download of 5 MB, once",
    free=True,
    returns="opening paragraphs of 10,000 vital Wikipedia articles: a small corpus for trials",
    open_web=False,
    remote=False,
)
_TITLE_WEIGHT = 2
_LOST_EXPONENT = re.compile(r"(?<=×10)−?\d{1,2}\b|(?<=\b10)\d{1,2}(?= [kMGT]?eV\b)")
_RAISED = str.maketrans("−0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_lock = threading.Lock()
_Leads = tuple[tuple[Snippet, ...], LexicalIndex]


def open_engine(argument: str, config: EngineConfig) -> "WikiLeads":
    """Open the engine of the specification ``wiki-leads``; download the corpus if it is missing."""
    reject_argument("wiki-leads", argument)
    return WikiLeads(fetch(LEADS, config.cache, config.on_progress))


class WikiLeads:
    """Lexical search in the opening paragraphs of Wikipedia's vital articles.

    The index is built at the first search (about 2 s) and shared within the process.

    ``path``: the asset ``wikipedia-vital-article-leads-en``: JSON, title → title, extract, description and topic.
    """

    name = "wiki-leads"

    def __init__(self, path: Path) -> None:
        self._path = Path(path)

    def search(self, query: str, k: int) -> Sequence[Snippet]:
        """Return up to ``k`` articles, best first, one snippet each: the whole opening paragraph.

        Articles that share only function words or one common word with the query do not match.
        """
        if k < 1:
            return ()
        snippets, index = _leads(self._path)
        return tuple(snippets[match.position] for match in islice(index.search(query), k))


def _leads(path: Path) -> _Leads:
    path = path.resolve()
    state = path.stat()
    with _lock:
        return _read(path, state.st_mtime_ns, state.st_size)


@cache
def _read(path: Path, *_state: int) -> _Leads:
    records = json.loads(path.read_bytes())
    snippets = tuple(_snippet(title, record) for title, record in records.items() if record["extract"].strip())
    return snippets, LexicalIndex([(snippet.title, _TITLE_WEIGHT), (snippet.text, 1)] for snippet in snippets)


def _snippet(title: str, record: dict[str, Any]) -> Snippet:
    # restores exponents that the corpus lost: ``104 eV`` for ``10⁴ eV``, ``×1023`` for ``×10²³``
    text = _LOST_EXPONENT.sub(lambda match: match[0].translate(_RAISED), plain_text(record["extract"]))
    return Snippet(page_address(title), title, text, engine=WikiLeads.name)
