"""A reference store on disk: snippets as JSON lines, vectors as a plain FAISS index, a manifest that vouches for them.

The data files carry their hash in their names and the manifest is replaced last, in one step, so an interruption at any
moment leaves either the old store or the new one. Nothing is ever unpickled.
"""

import dataclasses
import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from storm_pipeline.errors import StoreError
from storm_pipeline.references.embedder import Embedder, Vectors
from storm_pipeline.types import Snippet

FORMAT = 2
MANIFEST = "manifest.json"
_HASH_IN_NAME = 16


class _Manifest(BaseModel):
    """What the store holds and the SHA-256 of each file."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    format: int
    embedder: str
    dimension: int
    snippets: int
    snippets_sha256: str
    vectors_sha256: str


@dataclass(frozen=True)
class Contents:
    """What is saved: snippets in the order of their ids, which of them are embedded, and their vectors, in order."""

    snippets: tuple[Snippet, ...]
    embedded: tuple[bool, ...]
    vectors: Vectors


def write_contents(folder: Path, contents: Contents, embedder: Embedder) -> None:
    """Save, replacing what the folder held before.

    Raises:
        StoreError: the folder cannot be written; what it held before is still there.
    """
    lines = [
        json.dumps({**dataclasses.asdict(snippet), "embedded": embedded}) + "\n"
        for snippet, embedded in zip(contents.snippets, contents.embedded, strict=True)
    ]
    snippets, vectors = "".join(lines).encode("ascii"), _serialised(contents.vectors)
    manifest = _Manifest(
        format=FORMAT,
        embedder=embedder.name,
        dimension=contents.vectors.shape[1],
        snippets=len(contents.snippets),
        snippets_sha256=hashlib.sha256(snippets).hexdigest(),
        vectors_sha256=hashlib.sha256(vectors).hexdigest(),
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _replace(_snippets_path(folder, manifest), snippets)
        _replace(_vectors_path(folder, manifest), vectors)
        _replace(folder / MANIFEST, manifest.model_dump_json(indent=1).encode())
        _remove_others(folder, manifest)
    except OSError as error:
        raise StoreError(
            f"the reference store cannot be saved in {folder} ({error}): make room or choose another folder"
        ) from error


def read_contents(folder: Path, embedder: Embedder) -> Contents:
    """Read a store back, every byte checked.

    Raises:
        StoreError: there is none, it is damaged, or another embedder made it; says what was found and expected.
    """
    try:
        manifest = _manifest(folder)
        _expect(folder, "the format", manifest.format, FORMAT, "load it with the version that saved it")
        _expect(folder, "the embedder", manifest.embedder, embedder.name, "open the embedder that made the store")
        _expect(
            folder, "the dimension", manifest.dimension, embedder.dimension, "open the embedder that made the store"
        )
        raw_snippets = _checked(_snippets_path(folder, manifest), manifest.snippets_sha256)
        raw_vectors = _checked(_vectors_path(folder, manifest), manifest.vectors_sha256)
        lines = [_snippet(line) for line in raw_snippets.splitlines()]
        vectors = _deserialised(raw_vectors)
    except OSError as error:
        raise StoreError(f"no reference store can be read in {folder} ({error}): save one there first") from error
    except (ValueError, RuntimeError) as error:
        raise _damaged(folder, str(error).splitlines()[0]) from error
    snippets, embedded = tuple(snippet for snippet, _ in lines), tuple(has for _, has in lines)
    _expect(folder, "the number of snippets", len(snippets), manifest.snippets, _DELETE)
    _expect(folder, "the number of distinct snippets", len({s.id for s in snippets}), manifest.snippets, _DELETE)
    _expect(folder, "the shape of the vectors", vectors.shape, (sum(embedded), manifest.dimension), _DELETE)
    return Contents(snippets, embedded, vectors)


_DELETE = "delete the folder and research again, or restore it from a copy"


def _expect(folder: Path, what: str, found: object, expected: object, remedy: str) -> None:
    if found != expected:
        raise StoreError(
            f"{what} of the reference store in {folder} is {found!r} where {expected!r} was expected: {remedy}"
        )


def _damaged(folder: Path, detail: str) -> StoreError:
    return StoreError(f"the reference store in {folder} is damaged ({detail}): {_DELETE}")


def _manifest(folder: Path) -> _Manifest:
    raw = (folder / MANIFEST).read_bytes()
    manifest = _Manifest.model_validate_json(raw)
    for digest in (manifest.snippets_sha256, manifest.vectors_sha256):
        if len(digest) != hashlib.sha256().digest_size * 2 or set(digest) - set("0123456789abcdef"):
            raise _damaged(folder, "a hash in the manifest is none")
    return manifest


def _checked(path: Path, sha256: str) -> bytes:
    data = path.read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise _damaged(path.parent, f"{path.name} has the SHA-256 {found[:12]}…, the manifest says {sha256[:12]}…")
    return data


_FIELDS = {field.name for field in dataclasses.fields(Snippet)}
_TEXTS = {"url", "title", "text", "engine", "origin"}
_OPTIONAL_TEXTS = {"published", "author", "site", "language"}


def _snippet(line: bytes) -> tuple[Snippet, bool]:
    """A snippet, and whether it is embedded."""
    # Not by pydantic: web pages contain lone surrogates, which it refuses and json reads back.
    fields = json.loads(line)
    embedded = fields.pop("embedded", None) if isinstance(fields, dict) else None
    if type(embedded) is not bool or set(fields) != _FIELDS:
        raise ValueError("a line holds no snippet")
    if not (
        all(isinstance(fields[name], str) for name in _TEXTS)
        and all(isinstance(fields[name], str | None) for name in _OPTIONAL_TEXTS)
        and (fields["page"] is None or type(fields["page"]) is int)
    ):
        raise ValueError("a snippet has a field of another type")
    return Snippet(**fields), embedded


def _serialised(vectors: Vectors) -> bytes:
    import faiss

    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    return bytes(faiss.serialize_index(index).tobytes())


def _deserialised(data: bytes) -> Vectors:
    import faiss

    index: Any = faiss.deserialize_index(np.frombuffer(data, dtype=np.uint8))
    vectors: Vectors = index.reconstruct_n(0, index.ntotal)
    return vectors


def _snippets_path(folder: Path, manifest: _Manifest) -> Path:
    return folder / f"snippets-{manifest.snippets_sha256[:_HASH_IN_NAME]}.jsonl"


def _vectors_path(folder: Path, manifest: _Manifest) -> Path:
    return folder / f"vectors-{manifest.vectors_sha256[:_HASH_IN_NAME]}.faiss"


def _replace(path: Path, data: bytes) -> None:
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _remove_others(folder: Path, manifest: _Manifest) -> None:
    """What earlier saves, whole or interrupted, left behind; nothing that this module did not write."""
    current = {_snippets_path(folder, manifest), _vectors_path(folder, manifest)}
    for pattern in ("snippets-*.jsonl*", "vectors-*.faiss*", f"{MANIFEST}.*.part"):
        for path in folder.glob(pattern):
            if path not in current:
                path.unlink(missing_ok=True)
