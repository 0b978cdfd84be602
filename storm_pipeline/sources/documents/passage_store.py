"""Passages of documents on disk, with a BM25 index and, if wanted, vectors, opened by memory map.

All files are data, and what is read of them is checked.
"""

import json
import mmap
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from storm_pipeline.errors import CorpusError
from storm_pipeline.sources.documents.reader import Part
from storm_pipeline.text.lexical import rank_scores
from storm_pipeline.text.stored_words import KINDS, StoredWords
from storm_pipeline.types import Snippet, Work

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from storm_pipeline.evidence.retrieval.embedder import Embedder

    Array = NDArray[Any]

INDEX = "index-1.json"
"""Name of the file that names the others; its number changes with their format."""
ROW = np.dtype([("end", "<i8"), ("page", "<u8"), ("line", "V16"), ("text", "V16"), ("vector", "<u4")])
"""A passage: its end in the file of lines, digests of address, line and text, checksum of the vector."""
_DEPTH = 100  # length of the rankings by words and by cosine that are fused


class DamagedStoreError(Exception):
    """A store is not there, or not as it was written."""


@dataclass(frozen=True)
class Source:
    """The passages of a file in a store."""

    state: str
    passages: int
    documents: int
    problems: list[str]


class PassageStore(Sequence[Snippet]):
    """The passages of a corpus in the order of its files, found by BM25, and by cosine if they have vectors.

    Later changes on disk do not change what is open. Thread-safe. Raises DamagedStoreError; when a passage is read,
    CorpusError.
    """

    def __init__(self, folder: Path, embedder: "Embedder | None") -> None:
        self._folder, self._embedder = folder, embedder
        try:
            self._about = json.loads((folder / INDEX).read_bytes())
            self.sources = {name: Source(**source) for name, source in self._about["sources"].items()}
            self.rows, self.lines = self._file("rows", ROW), self._file("lines", "u1")
            self.words = StoredWords(*(self._file(name, kind) for name, kind in KINDS.items()))
            self.vectors = self._file("vectors", ("<f4", self._about["width"])) if embedder else self.rows
            self._codes = self._open_codes() if "codes" in self._about["files"] else None
            if sum(source.passages for source in self.sources.values()) != len(self.rows):
                raise DamagedStoreError("its files have other passages")
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RuntimeError) as error:
            raise DamagedStoreError(str(error)) from error
        self._snippet = lru_cache(4096)(self._read)

    def _file(self, name: str, kind: Any) -> "Array":
        file, size, checksum = self._about["files"][name]
        data = mapped(self._folder / file, kind)
        # Lines and vectors are checked one by one, when they are read.
        if data.nbytes != size or (checksum and zlib.crc32(data.data) != checksum):
            raise DamagedStoreError(file)
        return data

    def _open_codes(self) -> Any:
        import faiss

        self._file("codes", "u1")
        return faiss.read_index(str(self._folder / self._about["files"]["codes"][0]), faiss.IO_FLAG_MMAP_IFC)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: Any) -> Any:
        return self._snippet(int(place))

    def _read(self, place: int) -> Snippet:
        line = self.lines[self.start(place) : self.start(place + 1)].tobytes()
        self._require(digest(line) == self.rows["line"][place].tobytes())
        known = json.loads(line)
        return Snippet(**known | ({"work": Work(**known["work"])} if "work" in known else {}))

    def start(self, place: int) -> int:
        """Return where a passage begins in the file of lines."""
        return int(self.rows["end"][place - 1]) if place else 0

    def page(self, place: int) -> int:
        """Return a number that only passages with the same address have."""
        return int(self.rows["page"][place])

    def _require(self, is_whole: bool) -> None:  # noqa: FBT001
        if not is_whole:
            (self._folder / INDEX).unlink(missing_ok=True)
            raise CorpusError(f"the index of your documents in {self._folder} is damaged: run again to build it anew")

    def is_current(self, parts: Sequence[Part]) -> bool:
        """Return whether the store has these files, and no others, as they are."""
        return {part.name for part in parts} == self.sources.keys() and all(map(self.has, parts))

    def has(self, part: Part) -> bool:
        """Return whether the store has a file's current content; one without passages is read again the next day."""
        source = self.sources.get(part.name)
        return source is not None and source.state in {part.state or None, tried(part)}

    def search(self, query: str) -> Iterator[int]:
        """Yield the places of passages, best first: the fused rankings by words and by cosine, then those by words."""
        by_words = (match.position for match in self.words.search(query))
        if self._embedder:
            best = list(islice(by_words, _DEPTH))
            scores = rank_scores([best, self.near(self._embedder.embed([query])[0])])
            yield from sorted(scores, key=lambda place: (-scores[place], place))
            by_words = (place for place in by_words if place not in scores)
        yield from by_words

    def near(self, vector: "Array") -> list[int]:
        """Return the places with the highest cosines; ties in order."""
        places = np.arange(len(self))
        if self._codes is not None:
            places = np.sort(self._codes.search(vector[np.newaxis], min(2 * _DEPTH, len(self)))[1][0])
        cosines = (self.vectors if self._codes is None else self.vectors[places]) @ vector
        best: list[int] = places[np.lexsort((places, -cosines))[:_DEPTH]].tolist()
        self._require(all(zlib.crc32(self.vectors[place]) == self.rows["vector"][place] for place in best))
        return best


def mapped(path: Path, kind: Any) -> "Array":
    """Return a file as an array by memory map; an incomplete element at its end is left out."""
    item = np.dtype(kind)
    with path.open("rb") as file:
        size = file.seek(0, 2)
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else bytes(item.itemsize)
    whole = size // item.itemsize
    return np.frombuffer(data, item.base, whole * max(1, item.itemsize // item.base.itemsize)).reshape(-1, *item.shape)


def digest(data: bytes | str) -> bytes:
    """Return 16 bytes that differ if the data do."""
    known = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return blake2b(known, digest_size=16).digest()


def tried(part: Part) -> str:
    """Return the state of a file that was read today without success."""
    return f"{part.state} {datetime.now(UTC).date()}"
