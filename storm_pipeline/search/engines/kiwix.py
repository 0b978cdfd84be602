"""Search in a ZIM file, e.g. a whole Wikipedia from Kiwix: offline, no key. Needs the extra ``zim``.

It uses libzim, which is licensed under the GPL, version 3 or later; see :mod:`storm_pipeline.search.zim`.
"""

from collections.abc import Sequence
from pathlib import Path

from storm_pipeline.documents.chunks import chunks, overlapping, punctuated_blocks
from storm_pipeline.documents.plain import one_line, plain_text
from storm_pipeline.retrieval.lexical import LexicalIndex
from storm_pipeline.search.engine_info import EngineConfig, EngineInfo, require_argument
from storm_pipeline.search.paging import best_windows
from storm_pipeline.search.zim import ZimFile
from storm_pipeline.types import Snippet

INFO = EngineInfo(
    "kiwix:FILE.zim",
    needs="a ZIM file, e.g. of a Wikipedia, and the extra `zim` (libzim, GPL-3)",
    free=True,
    returns="passages of its articles, offline",
    open_web=False,
    remote=False,
)


def open_engine(argument: str, _config: EngineConfig) -> "KiwixSearch":
    """The engine of ``kiwix:FILE.zim``."""
    return KiwixSearch(ZimFile(Path(require_argument("kiwix", argument, "a file", "kiwix:FILE.zim"))))


class KiwixSearch:
    """Full-text search for articles of a ZIM file and their best-matching passages. Thread-safe.

    Args:
        passages: maximum number of passages per article, >= 1.
    """

    name = "kiwix"

    def __init__(self, file: ZimFile, *, passages: int = 3, limit: int = 150) -> None:
        self._file = file
        self._passages = passages
        self._limit = limit

    def search(self, query: str, k: int) -> Sequence[Snippet]:
        """Passages of up to ``k`` articles, best passage first. Raises CorpusError: the file is damaged."""
        query = one_line(query)
        snippets = [
            Snippet(article.url, article.title, plain, engine=self.name)
            for article in self._file.find(query, k)
            for passage in overlapping(chunks(punctuated_blocks(article.text()), self._limit))
            if (plain := plain_text(passage))
        ]
        # No floor: the articles were selected by these words, so the words are common among the passages.
        index = LexicalIndex(([(s.title, 1), (s.text, 1)] for s in snippets), floor=0.0)
        return best_windows((match.position for match in index.search(query)), snippets, k, self._passages)

    @property
    def contents(self) -> ZimFile:
        """The same file as a source of tables of contents."""
        return self._file
