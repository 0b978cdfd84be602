"""Opening the passages of documents on disk, after changes by one process at a time.

A change writes all files anew beside the old ones, from what they hold and from the passages of changed files, and then
replaces the index file, which names them. Vectors that a killed process had written are used by the next one.
"""

import json
import secrets
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from storm_pipeline.sources.documents.passage_store import (
    INDEX,
    ROW,
    DamagedStoreError,
    PassageStore,
    Source,
    digest,
    mapped,
    tried,
)
from storm_pipeline.sources.documents.reader import Part
from storm_pipeline.text import stored_words
from storm_pipeline.text.files import locked_file, write_atomically
from storm_pipeline.types import Snippet

if TYPE_CHECKING:
    from filelock import BaseFileLock
    from numpy.typing import NDArray

    from storm_pipeline.evidence.retrieval.embedder import Embedder

    Array = NDArray[Any]

Contents = tuple[list[Snippet], list[str], bool]
"""The passages of a file, what cannot be read of it, and whether that is final."""
Read = Callable[[Sequence[Part]], Iterable[Contents]]
"""Returns the contents of files in their order."""
Check = Callable[[], None]
"""Called now and then; may raise to end the change."""
_BLOCK = 64  # passages encoded at once
_EXACT = 20_000  # vectors up to which all are compared with a query, without codes of a byte a number
_DEFAULTS = {field.name: field.default for field in fields(Snippet)}


def open_store(
    folder: Path, parts: Sequence[Part], read: Read, embedder: "Embedder | None", check: Check
) -> PassageStore:
    """Open the store of the passages of files, which is changed first if files were.

    Raises OSError: the folder cannot be written.
    """
    with suppress(DamagedStoreError):
        store = PassageStore(folder, embedder)
        if store.is_current(parts):
            return store
    folder.mkdir(0o700, parents=True, exist_ok=True)
    with _lock(folder / "lock", check):
        old = None
        with suppress(DamagedStoreError):
            old = PassageStore(folder, embedder)
            if old.is_current(parts):
                return old
        _Change(folder, old, embedder, check).write(parts, read)
        return PassageStore(folder, embedder)


class _Change:
    """A change of a store by the only process that may make one."""

    def __init__(self, folder: Path, old: PassageStore | None, embedder: "Embedder | None", check: Check) -> None:
        self._folder, self._old, self._embedder, self._check = folder, old, embedder, check
        self._token, self._files = secrets.token_hex(4), dict[str, tuple[str, int, int]]()

    def write(self, parts: Sequence[Part], read: Read) -> None:
        """Write all files, then the index file, and remove the old ones."""
        old, at = self._old, 0
        known = old.sources if old else {}
        stops = np.cumsum([source.passages for source in known.values()]).tolist()
        slices = dict(zip(known, map(slice, [0, *stops[:-1]], stops), strict=True))
        contents = iter(read([part for part in parts if not (old and old.has(part))]))
        blocks, sources, new = [np.zeros(0, ROW)], dict[str, Source](), dict[int, tuple[str, str]]()
        places = np.full(len(old) if old else 0, -1)
        with self._path("lines").open("wb") as file:
            for part in parts:
                if old and old.has(part):
                    where, sources[part.name] = slices[part.name], known[part.name]
                    block, start = old.rows[where].copy(), old.start(where.start)
                    block["end"] += file.tell() - start
                    file.write(old.lines[start : old.start(where.stop)].data)
                    places[where] = at + np.arange(len(block))
                else:
                    snippets, problems, is_final = next(contents)
                    state = (part.state if snippets else tried(part)) if is_final else ""
                    urls = {snippet.url for snippet in snippets}
                    sources[part.name] = Source(state, len(snippets), len(urls), problems)
                    lines = list(map(_line, snippets))
                    block = np.zeros(len(snippets), ROW)
                    block["end"] = file.tell() + np.cumsum([len(line) for line in lines])
                    block["page"] = [int.from_bytes(digest(snippet.url)[:8], "little") for snippet in snippets]
                    block["line"] = [digest(line) for line in lines]
                    block["text"] = [digest(snippet.text) for snippet in snippets]
                    file.writelines(lines)
                    new |= enumerate(((snippet.title, snippet.text) for snippet in snippets), start=at)
                blocks.append(block)
                at += len(block)
            self._files["lines"] = (self._path("lines").name, file.tell(), 0)
        rows = np.concatenate(blocks)
        texts = ((place, "\n".join(pair)) for place, pair in new.items())
        for name, data in (old.words if old else stored_words.NONE).moved(places, len(rows), texts).items():
            self._keep(name, data)
        if self._embedder:
            self._write_vectors(self._embedder, rows, new)
        self._keep("rows", rows)
        about = {"width": self._embedder.dimension if self._embedder else 0, "files": self._files}
        about["sources"] = {name: asdict(source) for name, source in sources.items()}
        write_atomically(self._folder / INDEX, json.dumps(about))
        names = {INDEX, "lock", *(file for file, *_ in self._files.values())}
        for path in self._folder.iterdir():
            if path.name not in names:
                path.unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}-{self._token}"

    def _keep(self, name: str, data: "Array") -> None:
        self._check()
        data.tofile(self._path(name))
        self._files[name] = (self._path(name).name, data.nbytes, zlib.crc32(data.data))

    def _write_vectors(self, embedder: "Embedder", rows: "Array", new: dict[int, tuple[str, str]]) -> None:
        """Write the vectors in the order of passages, and codes for a first selection if they are many."""
        known = self._encode(embedder, {rows["text"][place].tobytes(): text for place, (_, text) in new.items()})
        path = self._path("vectors")
        with path.open("wb") as file:
            for place, text in enumerate(rows["text"].tolist()):
                rows["vector"][place] = zlib.crc32(known[text].data)
                file.write(known[text].data)
            self._files["vectors"] = (path.name, file.tell(), 0)
        if len(rows) > _EXACT:
            import faiss

            vectors = mapped(path, ("<f4", embedder.dimension))
            codes = faiss.IndexScalarQuantizer(
                embedder.dimension, faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT
            )
            codes.train(vectors[:: len(rows) // _EXACT])
            codes.add(vectors)
            self._keep("codes", faiss.serialize_index(codes))

    def _encode(self, embedder: "Embedder", texts: dict[bytes, str]) -> "dict[bytes, Array]":
        """Return vectors by the digests of texts: those of the old store, of a killed process, and of new texts."""
        record = np.dtype([("text", "V16"), ("sum", "<u4"), ("vector", "<f4", embedder.dimension)])
        vectors = dict[bytes, "Array"]()
        if self._old:
            vectors |= zip(self._old.rows["text"].tolist(), self._old.vectors, strict=True)
        with (self._folder / "encoded").open("ab") as file:
            file.truncate(file.tell() // record.itemsize * record.itemsize)
            for entry in mapped(self._folder / "encoded", record):
                if zlib.crc32(entry["vector"].data) == entry["sum"]:
                    vectors[entry["text"].tobytes()] = entry["vector"]
            wanted = [text for text in texts if text not in vectors]
            for first in range(0, len(wanted), _BLOCK):
                self._check()
                names = wanted[first : first + _BLOCK]
                block = np.zeros(len(names), record)
                block["text"] = names
                block["vector"] = embedder.embed([texts[name] for name in names])
                block["sum"] = [zlib.crc32(vector.data) for vector in block["vector"]]
                vectors |= zip(names, block["vector"], strict=True)
                file.write(block.data)
                file.flush()
        return vectors


def _line(snippet: Snippet) -> bytes:
    known = {name: value for name, value in vars(snippet).items() if name in _DEFAULTS and value != _DEFAULTS[name]}
    return json.dumps(known, default=lambda work: {name: text for name, text in vars(work).items() if text}).encode()


def _lock(path: Path, check: Check) -> "BaseFileLock":
    from filelock import Timeout

    while True:
        check()
        with suppress(Timeout):
            return locked_file(path, timeout=1)
