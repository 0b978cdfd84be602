"""Downloading a wheel by pip, which knows the user's index, proxy and credentials."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from storm_pipeline.assets.pins import Wheel
from storm_pipeline.errors import AssetError

_POLL_SECONDS = 0.3


class NoPipError(AssetError):
    """The environment has no pip."""


def pip_download(wheel: Wheel, parts: Path, report: Callable[[int], None]) -> None:
    """Download one wheel, with pip's temporary files in ``parts``, whose growth shows the progress.

    Raises:
        NoPipError: the environment has no pip.
        AssetError: pip could not download the wheel.
    """
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
        raise _error(wheel, log.read_text("utf-8", "replace"))


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


def _error(wheel: Wheel, output: str) -> AssetError:
    """An error with pip's last line and a remedy."""
    last = next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "no message")
    if "No module named pip" in output:
        return NoPipError("this environment has no pip")
    if "DO NOT MATCH THE HASHES" in output:
        remedy = "The package index serves a different file than the pinned one: check `pip config list`."
    elif "No space left" in output:
        remedy = "Free some space, then fetch again."
    else:
        remedy = "Check the network and `pip config list`, then fetch again: the download is resumed."
    return AssetError(f"pip could not download {wheel.file}: {last}. {remedy}")
