"""Search in the user's documents: no key; only DOIs are sent to Crossref, if allowed."""

from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from storm_pipeline.errors import CorpusError, SettingsError
from storm_pipeline.run.assets import EMBEDDER
from storm_pipeline.sources.documents.document import UNKNOWN, Document, Unreadable
from storm_pipeline.sources.documents.passage_change import Contents, open_store
from storm_pipeline.sources.documents.passage_store import PassageStore
from storm_pipeline.sources.documents.reader import KeptDocuments, Part, parts_of
from storm_pipeline.sources.search.edge import shortened
from storm_pipeline.sources.search.engine_info import EngineConfig, EngineInfo, require_argument
from storm_pipeline.sources.search.own_records import with_crossref
from storm_pipeline.sources.search.paging import best_windows
from storm_pipeline.text.chunks import chunks, overlapping, punctuated_blocks
from storm_pipeline.text.configuration.variables import server_data
from storm_pipeline.text.files import cannot_write
from storm_pipeline.text.plain import plain_text
from storm_pipeline.types import Snippet

if TYPE_CHECKING:
    from storm_pipeline.evidence.retrieval.embedder import Embedder

INFO = EngineInfo(
    "corpus:PATH",
    needs="a folder or a JSON lines file of your own",
    free=True,
    returns="passages of your documents (.txt .md .html .pdf .docx .epub, or JSON lines of url, title and text)",
    open_web=False,
    remote=False,
    is_private=True,
)
_OPTION = "?embedder"
_RANKED = 1000  # passages that are considered


def open_engine(argument: str, config: EngineConfig) -> "CorpusSearch":
    """Open the engine of ``corpus:PATH``, or of ``corpus:PATH?embedder=NAME``, which also searches by meaning."""
    path, name = path_and_embedder(require_argument("corpus", argument, "a path", "corpus:PATH"))
    if name and config.open_embedder is None:
        raise SettingsError("the search engine `corpus` needs an embedder: give EngineConfig(open_embedder=…)")
    embedder = config.open_embedder(name) if name and config.open_embedder else None
    return CorpusSearch(path, dois=config.dois, cache=config.cache, embedder=embedder, check=config.check)


def path_and_embedder(argument: str) -> tuple[Path, str]:
    """Return the path and the embedder in an engine's argument; ``?embedder`` alone names the pinned one."""
    path, option, name = argument.rpartition(_OPTION)
    if not option or (name and name[0] != "=") or Path(argument).expanduser().exists():
        return Path(argument), ""
    return Path(path), name[1:] or EMBEDDER


class CorpusSearch:
    """Search in a file or folder of documents, split into passages of about 100 to 150 words.

    A path is JSON lines of ``{"url", "title", "text"}`` (and ``published``, ``page``), a single document, or a folder
    of ``.txt``, ``.md``, ``.html``, ``.htm``, ``.pdf``, ``.docx``, ``.epub`` and JSON lines files, including
    subfolders. Links to files outside the folder are reported, not followed. Files that are new or have changed are
    read and indexed at construction; the index is kept in the cache, but that of the documents of a server's caller.

    ``dois``: whether Crossref is asked for the records of documents with only a DOI. ``cache``: folder of the cache;
    None to read everything. ``embedder``: its vectors are kept too, and results are ranked by words and by cosine;
    None for words alone. ``check``: called between documents and before requests; may raise to end the construction.
    Raises CorpusError: the path does not exist, nothing in it could be read, or no index of it could be written.
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
        embedder: "Embedder | None" = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        path = Path(path).expanduser()
        if not path.exists():
            raise CorpusError(f"the corpus {path} does not exist; check the path")
        # what is kept of a caller's documents would outlive their deletion
        self._scratch = path if path.resolve().is_relative_to(server_data().resolve()) else None
        cache = None if self._scratch else cache
        self._passages, self._limit, self._dois, self._check = passages, limit, dois, check
        self._kept = KeptDocuments(cache) if cache else None
        self._unasked = ""
        parts = list(parts_of(path, kept=self._kept))
        others = (item for part in parts if not part.name for item in part.read())
        reports = [item.reason for item in others if isinstance(item, Unreadable)]
        self._store, problem = self._open([part for part in parts if part.name], path, cache, embedder)
        problems = [problem for source in self._store.sources.values() for problem in source.problems]
        self.problems = tuple(filter(None, [*problems, *reports, self._unasked, problem]))
        """Skipped files and lines, and why: one sentence each, naming the file and, for JSON lines, the line."""
        if not self._store:
            why = self.problems[0] if self.problems else "it is empty"
            raise CorpusError(f"the corpus {path} contains no searchable text: {why}")
        self._documents = sum(source.documents for source in self._store.sources.values())

    def _open(
        self, parts: Sequence[Part], path: Path, cache: Path | None, embedder: "Embedder | None"
    ) -> tuple[PassageStore, str]:
        """Return the store in the cache, else a temporary one, with the reason if the cache cannot be written."""
        problem = ""
        try:
            if cache:
                model = getattr(embedder, "identity", embedder.name) if embedder else ""
                about = repr((str(path.resolve()), self._limit, self._dois, model))
                folder = cache / "corpora" / blake2b(about.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
                try:
                    return open_store(folder, parts, self._read, embedder, self._check), ""
                except OSError as error:
                    problem = f"{cannot_write(folder, error)}; the index of {path} was built for this run alone."
            with TemporaryDirectory(prefix=".", dir=self._scratch) as scratch:  # what is open stays so
                return open_store(Path(scratch, "index"), parts, self._read, embedder, self._check), problem
        except OSError as error:
            raise CorpusError(cannot_write(path, error)) from error

    def _read(self, parts: Sequence[Part]) -> Iterator[Contents]:
        """Yield the contents of files, completed by Crossref if that is allowed."""
        groups = (list(part.read()) for part in parts)
        if not self._dois:
            for items in groups:
                yield self._contents([item for item in items if isinstance(item, Document)], items)
            return
        read = list(groups)
        documents = [item for items in read for item in items if isinstance(item, Document)]
        completed, self._unasked = with_crossref(documents, self._kept, check=self._check)
        in_order = iter(completed)
        for items in read:
            yield self._contents([next(in_order) for item in items if isinstance(item, Document)], items)

    def _contents(self, documents: list[Document], items: Sequence[object]) -> Contents:
        self._check()
        problems = [item.reason for item in items if isinstance(item, Unreadable)]
        is_final = not (self._unasked and any(document.record.doi for document in documents))
        snippets = dict.fromkeys(s for document in documents for s in _snippets(document, self._limit))
        return list(snippets), problems, is_final

    def search(self, query: str, k: int) -> Sequence[Snippet]:
        """Return passages of up to ``k`` documents, best of each first; more than ``passages`` of few documents."""
        ranked, most = islice(self._store.search(query), _RANKED), max(self._passages, k // self._documents)
        # Several files may have the same document.
        return tuple(dict.fromkeys(best_windows(ranked, self._store, k, most, self._store.page)))


def _snippets(document: Document, limit: int) -> list[Snippet]:
    record = document.record
    about: dict[str, Any] = {name: getattr(document, name) for name in ("url", "title", "published")}
    about |= {"engine": CorpusSearch.name, "author": record.authors or None, "site": record.container or None}
    about |= {name: getattr(record, name) or None for name in ("language", "publisher", "doi", "accessed")}
    about["work"] = record.work if record != UNKNOWN else None
    return [  # each passage repeats what is known of its document
        shortened(Snippet(text=plain, page=page, page_label=document.labels.get(page or 0), **about))
        for page, text in document.pages
        for passage in overlapping(chunks(punctuated_blocks(text), limit))
        if (plain := plain_text(passage))
    ]
