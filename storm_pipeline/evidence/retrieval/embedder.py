"""Text embedders: the protocol, sentence-transformers, a test double, and a cache."""

import re
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol, runtime_checkable
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from storm_pipeline.errors import SettingsError, StoreError, StormError
from storm_pipeline.evidence.retrieval import Vector, Vectors
from storm_pipeline.run.assets import EMBEDDER, Progress, fetch
from storm_pipeline.run.concurrency import TurnLock, torch_threads
from storm_pipeline.text.words import encodable

PINNED = EMBEDDER
"""The paper's sentence encoder (section 3.4); the download is hash-checked."""

_PIECE = re.compile(r"\w+|[^\w\s]")
TINY = 1e-6  # minimum length of a vector that is normalised


class Embedder(Protocol):
    """A model that turns texts into unit vectors (inner product = cosine). Called from several threads at once.

    ``name``, or ``identity`` if it has that, identifies the vectors: two embedders of the same one give interchangeable
    vectors. ``dimension`` is their length. ``embed`` returns a float32 array of shape (texts, dimension) with rows of
    unit length. If a row depends only on its text, bit for bit, as with the pinned model, runs are reproducible.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def dimension(self) -> int: ...  # noqa: D102

    def embed(self, texts: Sequence[str]) -> Vectors: ...  # noqa: D102


@runtime_checkable
class CountsTokens(Protocol):
    """An embedder with a known maximum input length, so that passages can be split to fit."""

    @property
    def longest(self) -> int: ...  # noqa: D102

    def count_tokens(self, text: str) -> int: ...  # noqa: D102


class HashingEmbedder:
    """A test double without a model: hashed words and letter trigrams, so that texts with common words are similar."""

    def __init__(self, dimension: int = 128) -> None:
        self.name = f"hashing-{dimension}"
        self.dimension = dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return vectors of shape (texts, dimension); a text without words or punctuation gets the first axis."""
        vectors = [_hash(text, self.dimension) for text in texts]
        return np.stack(vectors) if vectors else np.zeros((0, self.dimension), dtype=np.float32)


@lru_cache(maxsize=4096)
def _hash(text: str, dimension: int) -> Vector:
    axes = [_hashed_axes(piece, dimension) for piece in _PIECE.findall(text.casefold())]
    counts = np.bincount(np.concatenate(axes) if axes else [], minlength=2 * dimension)
    vector = (counts[dimension:] - counts[:dimension]).astype(np.float32)
    vector[0] += not vector.any()
    return np.asarray(vector / np.linalg.norm(vector))


@lru_cache(maxsize=1 << 16)
def _hashed_axes(piece: str, dimension: int) -> npt.NDArray[np.intp]:
    """Return the positions of a piece and its trigrams: axis, or axis + dimension for a positive sign."""
    parts = (piece, *(piece[i : i + 3] for i in range(len(piece) - 2)))
    codes = [zlib.crc32(part.encode("utf-8", "surrogatepass")) for part in parts]
    return np.array([(code >> 1) % dimension + (code & 1) * dimension for code in codes], dtype=np.intp)


class SentenceTransformerEmbedder:
    """Any model that sentence-transformers loads, in float32 on the CPU. Loaded lazily.

    A vector depends on its text alone, bit for bit: texts are embedded one by one on one thread, or, where oneDNN
    multiplies (BERT's on x86, the pinned model included), with others of as many tokens, which need no padding.

    ``model``: a local folder (no network access) as a Path, or a text that begins with ``/``, ``./``, ``../`` or ``~``;
    or a name on the model hub. ``cache``: folder for models from the hub; default: the library's cache.
    """

    def __init__(self, model: str | Path, *, cache: Path | None = None) -> None:
        from storm_pipeline.evidence.retrieval.model_files import local_folder, state_of

        folder = local_folder(model)
        self.name = folder.name if folder else str(model)
        self.identity = state_of(folder) if folder else self.name
        self._source, self._cache = folder or model, cache
        self._model: Any = None
        self._dimension, self._is_packed = 0, False
        # Serialized: fast tokenizers cannot change their padding while another thread uses them.
        self._lock = TurnLock()

    @property
    def dimension(self) -> int:
        """Length of the vectors; loads the model."""
        with self._lock:
            self._load()
            return self._dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return vectors of shape (texts, dimension). Raises SettingsError: the model cannot be loaded."""
        given = [encodable(text) for text in texts]
        options = {"normalize_embeddings": True, "show_progress_bar": False}
        with self._lock:
            model = self._load()
            batches = self._batches(model, given)
        vectors = np.zeros((len(given), self._dimension), dtype=np.float32)
        for rows in batches:  # calls of others get theirs in between
            with self._lock, torch_threads.limited_to(1):
                vectors[rows] = model.encode([given[row] for row in rows], **options)
        return vectors

    def _batches(self, model: Any, texts: Sequence[str]) -> Iterable[list[int]]:
        """Return the positions of texts that may be embedded together: those of as many tokens, a few at a time."""
        if not self._is_packed or not texts:
            return ([row] for row in range(len(texts)))
        rows: dict[int, list[int]] = {}
        tokens = model.tokenizer(list(texts), truncation=True, max_length=model.max_seq_length)["input_ids"]
        for row, ids in enumerate(tokens):
            rows.setdefault(len(ids), []).append(row)
        return [some[at : at + 8] for some in rows.values() for at in range(0, len(some), 8)]  # as fast as more

    @property
    def longest(self) -> int:
        """Maximum input length in tokens, special tokens included; loads the model."""
        with self._lock:
            return int(self._load().max_seq_length or 512)

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text, without special tokens."""
        with self._lock:
            return len(self._load().tokenizer.encode(encodable(text), add_special_tokens=False, verbose=False))

    def _load(self) -> Any:
        if self._model is None:
            from sentence_transformers import SentenceTransformer

            from storm_pipeline.evidence.retrieval.model_files import loading, options_without_code
            from storm_pipeline.evidence.retrieval.packing import pack_linear_layers

            remedy = f"give a folder with a sentence-transformers model, the name of one on the hub, or {PINNED!r}"
            with loading(f"the embedder {str(self._source)!r} cannot be loaded", remedy):
                options = options_without_code(self._source, self._cache)
                options["cache_folder"] = options.pop("cache_dir")
                self._model = SentenceTransformer(str(self._source), device="cpu", **options)
            self._is_packed = pack_linear_layers(self._model)
            # Measured, because the method that returns it has a different name in each release.
            self._dimension = int(self._model.encode(["a"], show_progress_bar=False).shape[1])
        return self._model


class CachingEmbedder:
    """A cache of the last ``size`` (>= 1) texts around another embedder."""

    def __init__(self, embedder: Embedder, size: int = 4096) -> None:
        self.name, self.identity = embedder.name, getattr(embedder, "identity", embedder.name)
        self._embedder, self._size = embedder, size
        self._known: OrderedDict[str, npt.NDArray[np.float32]] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def dimension(self) -> int:
        """Length of the vectors."""
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return vectors of shape (texts, dimension), in the order of the texts; equal texts are embedded once.

        Raises StoreError: the embedder returned another shape.
        """
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        with self._lock:
            vectors = {text: self._known[text] for text in texts if text in self._known}
        missing = [text for text in dict.fromkeys(texts) if text not in vectors]
        if missing:
            # Rows are copied, because a view would keep the whole batch alive.
            new, expected = self._embedder.embed(missing), (len(missing), self.dimension)
            if new.shape != expected:
                raise StoreError(
                    f"the embedder {self.name!r} gave vectors of shape {new.shape} "
                    f"where {expected} was expected: fix the embedder"
                )
            vectors.update((text, row.copy()) for text, row in zip(missing, new, strict=True))
        with self._lock:
            for text in texts:
                self._known[text] = vectors[text]
                self._known.move_to_end(text)
            while len(self._known) > self._size:
                self._known.popitem(last=False)
        return np.stack([vectors[text] for text in texts])


def open_embedder(name: str, cache: Path, progress: Progress | None = None) -> "SentenceTransformerEmbedder":
    """Open an embedder by name.

    Args:
        name: ``all-MiniLM-L6-v2`` for the pinned model, else that of a sentence-transformers model, as for
            :class:`SentenceTransformerEmbedder`.
        progress: called with ``(name, bytes done, total bytes)`` during the download.

    Raises:
        AssetError: the pinned model is missing and cannot be downloaded.
        SettingsError: another one is not local, and the model hub cannot be reached.
    """
    from storm_pipeline.evidence.retrieval.model_files import local_folder, require_hub

    folder = fetch(PINNED, cache, progress) if name == PINNED else local_folder(name)
    if not folder and not is_here(name, cache):
        require_hub(name, f"give a folder with a sentence-transformers model, or {PINNED!r}, or go online")
    embedder = SentenceTransformerEmbedder(folder or name, cache=hub_folder(cache))
    if name == PINNED:
        embedder.identity = PINNED  # wherever it lies
    return embedder


def hub_folder(cache: Path) -> Path:
    """Return the folder for embedders from the model hub."""
    return cache / "models" / "hub"


def is_here(name: str, cache: Path) -> bool:
    """Return whether an embedder other than the pinned one is a folder, or was fetched from the model hub before."""
    from storm_pipeline.evidence.retrieval.model_files import local_folder

    if folder := local_folder(name):
        return folder.is_dir()
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    names = [name] if "/" in name else [f"sentence-transformers/{name}", name]
    try:
        return any(
            isinstance(try_to_load_from_cache(name, file, cache_dir=hub_folder(cache)), str)
            for name in names
            for file in ("modules.json", "config.json")
        )
    except HFValidationError:  # not the name of a model
        return False


_shared: WeakValueDictionary[tuple[str, Path], Embedder] = WeakValueDictionary()
_sharing = threading.Lock()
_open: Callable[[str, Path, Progress | None], Embedder] | None = None


def share_by(opener: Callable[[str, Path, Progress | None], Embedder]) -> None:
    """Let :func:`shared_embedder` open embedders by this function in the whole process."""
    global _open  # noqa: PLW0603 - of the process
    _open = opener


def shared_embedder(name: str, cache: Path, progress: Progress | None = None) -> Embedder:
    """Open an embedder as :func:`open_embedder` does, but share it: one live instance per model and process.

    Where the process has called :func:`share_by`, it is opened by that function.
    """
    key = (name, cache.resolve())
    with _sharing:
        if (embedder := _shared.get(key)) is None:
            _shared[key] = embedder = (_open or open_embedder)(name, cache, progress)
        return embedder


def project_out(shared: Vector, vectors: Vectors) -> Vectors:
    """Project ``shared`` out of unit vectors and normalise them; nearly zero vectors stay shorter."""
    rest = vectors - np.outer(vectors @ shared, shared)
    return np.asarray(rest / np.maximum(np.linalg.norm(rest, axis=1, keepdims=True), TINY), dtype=np.float32)


def require_working(embedder: Embedder) -> None:
    """Check an embedder by embedding one word; the pinned one is skipped.

    Raises SettingsError: it cannot be loaded, fails, or gives something other than one vector of its dimension.
    """
    if embedder.name == PINNED:
        return
    try:
        vectors, dimension = np.asarray(embedder.embed(["storm"])), embedder.dimension
    except StormError:
        raise
    except Exception as error:  # it may be any object
        raise SettingsError(
            f"the embedder {embedder.name!r} failed on its first text ({type(error).__name__}: {error}): "
            f"give another, such as {PINNED!r}"
        ) from error
    if vectors.shape != (1, dimension) or vectors.dtype.kind != "f" or not np.isfinite(vectors).all():
        raise SettingsError(
            f"the embedder {embedder.name!r} gave an array of shape {vectors.shape} and type {vectors.dtype} for one "
            f"text: float32 of shape (1, {dimension}) without NaN is needed"
        )
