"""What turns texts into vectors: the seam, sentence-transformers behind it, a double for tests, and a cache."""

import re
import threading
import zlib
from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol, runtime_checkable
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from storm_pipeline.assets import EMBEDDER, Progress, fetch
from storm_pipeline.concurrency import torch_threads
from storm_pipeline.errors import SettingsError

Vectors = npt.NDArray[np.float32]
"""Shape (texts, dimension); every row has length 1."""

Vector = npt.NDArray[np.float32]
"""Shape (dimension,), of length 1."""

PINNED = EMBEDDER
"""The sentence encoder that the paper retrieves with (section 3.4), fetched hash-checked by the package."""

_PIECE = re.compile(r"\w+|[^\w\s]")


class Embedder(Protocol):
    """Turns texts into unit vectors, so that an inner product is a cosine. Called from several threads at once.

    ``name`` identifies the vectors: two embedders of one name give interchangeable vectors. ``dimension`` is
    their length. ``embed`` returns a float32 array of shape (texts, dimension) with rows of length 1. Where a row
    depends on its text alone to the last bit, as with the pinned model, a run can be repeated to the letter.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def dimension(self) -> int: ...  # noqa: D102

    def embed(self, texts: Sequence[str]) -> Vectors: ...  # noqa: D102


@runtime_checkable
class CountsTokens(Protocol):
    """An embedder that tells how much of a text it takes, so that passages can be cut to fit."""

    @property
    def longest(self) -> int: ...  # noqa: D102

    def count_tokens(self, text: str) -> int: ...  # noqa: D102


class HashingEmbedder:
    """A double for tests: hashed words and their letter triples, no model, the same vectors on every machine.

    Texts that share words come out close, so retrieval behaves; meaning is not in it.

    Args:
        dimension: length of the vectors, >= 1.
    """

    def __init__(self, dimension: int = 128) -> None:
        self.name = f"hashing-{dimension}"
        self.dimension = dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (texts, dimension); a text without a word or mark gets the first axis."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            if places := [_places(piece, self.dimension) for piece in _PIECE.findall(text.casefold())]:
                counts = np.bincount(np.concatenate(places), minlength=2 * self.dimension)
                row[:] = counts[self.dimension :] - counts[: self.dimension]
            if not row.any():
                row[0] = 1.0
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors


@lru_cache(maxsize=1 << 16)
def _places(piece: str, dimension: int) -> npt.NDArray[np.intp]:
    """Where a piece and its letter triples count: the axes they take from, then, behind these, those they add to."""
    parts = (piece, *(piece[i : i + 3] for i in range(len(piece) - 2)))
    codes = [zlib.crc32(part.encode("utf-8", "surrogatepass")) for part in parts]
    return np.array([(code >> 1) % dimension + (code & 1) * dimension for code in codes], dtype=np.intp)


class SentenceTransformerEmbedder:
    """Any model that sentence-transformers loads, in float32 on the CPU. Loaded when it is first needed.

    Args:
        model: a folder, which is never looked for on the network, or a name on the model hub.
        threads: processor threads, >= 1. torch is held to so many while texts are embedded.
        batch_size: texts a forward pass, >= 1; the library sorts by length, so padding stays small.
        cache: where a model from the hub is kept; default: the library's own place.
    """

    def __init__(self, model: str | Path, *, threads: int = 2, batch_size: int = 32, cache: Path | None = None) -> None:
        self.name = Path(model).name if Path(model).is_dir() else str(model)
        self._source = model
        self._threads = threads
        self._batch_size = batch_size
        self._cache = cache
        self._model: Any = None
        self._dimension = 0
        # Fast tokenizers cannot change their padding while another thread uses them: one call at a time.
        self._lock = threading.Lock()

    @property
    def dimension(self) -> int:
        """Length of the vectors; loads the model."""
        with self._lock:
            self._loaded()
            return self._dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (texts, dimension).

        Raises:
            SettingsError: the model cannot be loaded.
        """
        with self._lock:
            model = self._loaded()
            if not texts:
                return np.zeros((0, self._dimension), dtype=np.float32)
            with torch_threads.limited_to(self._threads):
                vectors = model.encode(
                    [encodable(text) for text in texts],
                    batch_size=self._batch_size,
                    normalize_embeddings=True,
                    show_progress_bar=False,
                )
        return np.asarray(vectors, dtype=np.float32)

    @property
    def longest(self) -> int:
        """Tokens of a text that count, those that mark its ends included; loads the model."""
        with self._lock:
            return int(self._loaded().max_seq_length or 512)

    def count_tokens(self, text: str) -> int:
        """Tokens of a text, without those that mark its ends."""
        with self._lock:
            return len(self._loaded().tokenizer.encode(encodable(text), add_special_tokens=False, verbose=False))

    def _loaded(self) -> Any:
        if self._model is None:
            from sentence_transformers import SentenceTransformer

            is_folder = Path(self._source).is_dir()
            try:
                self._model = SentenceTransformer(
                    str(self._source),
                    device="cpu",
                    cache_folder=None if self._cache is None else str(self._cache),
                    local_files_only=is_folder,
                )
            except (OSError, ValueError) as error:
                raise SettingsError(
                    f"the embedder {str(self._source)!r} cannot be loaded ({str(error).splitlines()[0]}): "
                    f"give a folder with a sentence-transformers model, the name of one on the hub, or {PINNED!r}"
                ) from error
            # Tried out, because the method that tells it has another name in each release.
            self._dimension = int(self._model.encode([""], show_progress_bar=False).shape[1])
        return self._model


class CachingEmbedder:
    """Remembers the vectors of recent texts of another embedder, so that headings and sentences are embedded once.

    Args:
        embedder: what does the work.
        size: texts to remember, >= 1; the least recently used is forgotten first.
    """

    def __init__(self, embedder: Embedder, size: int = 4096) -> None:
        self.name = embedder.name
        self._embedder = embedder
        self._size = size
        self._known: OrderedDict[str, npt.NDArray[np.float32]] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def dimension(self) -> int:
        """Length of the vectors."""
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (texts, dimension), in the order of the texts; equal texts are embedded once."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        with self._lock:
            found = {text: self._known[text] for text in texts if text in self._known}
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        if missing:
            # Copies: a row of a large batch would keep the whole batch alive.
            rows = (row.copy() for row in self._embedder.embed(missing))
            found.update(zip(missing, rows, strict=True))
        with self._lock:
            for text in texts:
                self._known[text] = found[text]
                self._known.move_to_end(text)
            while len(self._known) > self._size:
                self._known.popitem(last=False)
        return np.stack([found[text] for text in texts])


def open_embedder(name: str, cache: Path, progress: Progress | None = None) -> Embedder:
    """The embedder of a name.

    Args:
        name: ``all-MiniLM-L6-v2`` for the pinned model, else the folder or hub name of a sentence-transformers model.
        cache: the cache folder; the pinned model is fetched into it.
        progress: told ``(name, bytes done, bytes in all)`` while it is.

    Raises:
        AssetError: the pinned model is absent and cannot be fetched.
    """
    from storm_pipeline.retrieval.int8_bert import Int8BertEmbedder

    folder = fetch(PINNED, cache, progress) if name == PINNED else Path(name)
    if Int8BertEmbedder.fits(folder):
        return Int8BertEmbedder(folder)
    return SentenceTransformerEmbedder(folder if folder.is_dir() else name, cache=cache / "models" / "hub")


_shared: WeakValueDictionary[tuple[str, Path], Embedder] = WeakValueDictionary()
_sharing = threading.Lock()


def shared_embedder(name: str, cache: Path, progress: Progress | None = None) -> Embedder:
    """As :func:`open_embedder`, but one object for all of this process that use it at the same time."""
    key = (name, cache.resolve())
    with _sharing:
        embedder = _shared.get(key)
        if embedder is None:
            _shared[key] = embedder = open_embedder(name, cache, progress)
        return embedder


def encodable(text: str) -> str:
    """The text with lone surrogates, which no tokenizer takes, replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")
