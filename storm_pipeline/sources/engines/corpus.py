"""Search in the user's documents: no key; only DOIs are sent to Crossref, if allowed."""

from collections.abc import Callable, Sequence
from pathlib import Path

from storm_pipeline.errors import CorpusError
from storm_pipeline.sources.documents.document import UNKNOWN, Document
from storm_pipeline.sources.documents.reader import KeptDocuments, read_documents
from storm_pipeline.sources.search.engine_info import EngineConfig, EngineInfo, require_argument
from storm_pipeline.sources.search.own_records import with_crossref
from storm_pipeline.sources.search.paging import best_windows
from storm_pipeline.text.chunks import chunks, overlapping, punctuated_blocks
from storm_pipeline.text.lexical import LexicalIndex
from storm_pipeline.text.plain import plain_text
from storm_pipeline.types import Snippet

INFO = EngineInfo(
    "corpus:PATH",
    needs="a folder or a JSON lines file of your own",
    free=True,
    returns="passages of your documents (.txt .md .html .pdf .docx .epub, or JSON lines of url, title and text)",
    open_web=False,
    remote=False,
    is_private=True,
)


def open_engine(argument: str, config: EngineConfig) -> "CorpusSearch":
    """Open the engine of ``corpus:PATH``."""
    path = Path(require_argument("corpus", argument, "a path", "corpus:PATH"))
    return CorpusSearch(path, dois=config.dois, cache=config.cache, check=config.check)


class CorpusSearch:
    """Search in a file or folder of documents, split into passages of about 100 to 150 words.

    A path is JSON lines of ``{"url", "title", "text"}`` (and ``published``, ``page``), a single document, or a folder
    of ``.txt``, ``.md``, ``.html``, ``.htm``, ``.pdf``, ``.docx``, ``.epub`` and JSON lines files, including
    subfolders. Links to files outside the folder are reported, not followed. Everything is read and indexed at
    construction.

    ``dois``: whether Crossref is asked for the records of documents with only a DOI. ``cache``: folder of the cache;
    None to read everything. ``check``: called between documents and before requests; may raise to end the construction.
    Raises CorpusError: the path does not exist, or nothing in it could be read.
    """

    name = "corpus"

    def __init__(
        self,
        path: Path,
        *,
        passages: int = 3,
        limit: int = 150,
        dois: bool = False,
        cache: Path | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        path = Path(path).expanduser()
        if not path.exists():
            raise CorpusError(f"the corpus {path} does not exist; check the path")
        kept = KeptDocuments(cache) if cache else None
        items = []
        for item in read_documents(path, kept=kept):
            check()
            items.append(item)
        self.problems = tuple(item.reason for item in items if not isinstance(item, Document))
        """Skipped files and lines, and why: one sentence each, naming the file and, for JSON lines, the line."""
        documents = [item for item in items if isinstance(item, Document)]
        if not documents:
            why = self.problems[0] if self.problems else "it is empty"
            raise CorpusError(f"the corpus {path} contains no searchable text: {why}")
        if dois:
            documents, unasked = with_crossref(documents, kept, check=check)
            self.problems += (unasked,) if unasked else ()
        self._passages = passages
        self._documents = len({document.url for document in documents})
        self._snippets = list(dict.fromkeys(s for document in documents for s in _snippets(document, limit)))
        self._index = LexicalIndex(([(s.title, 1), (s.text, 1)] for s in self._snippets), floor=0.2, base=1.0)

    def search(self, query: str, k: int) -> Sequence[Snippet]:
        """Return passages of up to ``k`` documents, best of each first; more than ``passages`` of few documents."""
        ranked = (match.position for match in self._index.search(query))
        return best_windows(ranked, self._snippets, k, max(self._passages, k // self._documents))


def _snippets(document: Document, limit: int) -> list[Snippet]:
    record = document.record
    return [
        Snippet(
            document.url,
            document.title,
            plain,
            document.published,
            page,
            CorpusSearch.name,
            author=record.authors or None,
            site=record.container or None,
            language=record.language or None,
            publisher=record.publisher or None,
            doi=record.doi or None,
            accessed=record.accessed or None,
            page_label=document.labels.get(page) if page else None,
            work=record.work if record != UNKNOWN else None,
        )
        for page, text in document.pages
        for passage in overlapping(chunks(punctuated_blocks(text), limit))
        if (plain := plain_text(passage))
    ]
