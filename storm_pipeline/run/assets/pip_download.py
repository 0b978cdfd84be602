"""Downloading a wheel by pip, which knows the user's index, proxy and credentials.

An environment without pip, such as one made by uv, uses the pip bundled with ``ensurepip``.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from storm_pipeline.errors import AssetError
from storm_pipeline.run.assets.pins import Wheel
from storm_pipeline.text.configuration.variables import child_environment

_POLL_SECONDS = 0.3
_INDEX = ("UV_DEFAULT_INDEX", "UV_INDEX_URL")
_FURTHER = ("UV_INDEX", "UV_EXTRA_INDEX_URL")


def pip_download(wheel: Wheel, parts: Path, report: Callable[[int], None]) -> None:
    """Download one wheel, with pip's temporary files in ``parts``, whose growth shows the progress.

    Raises AssetError: there is no pip, or it could not download the wheel.
    """
    temporary = parts / "tmp"
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    requirements, log = parts / "requirements.txt", parts / "pip.log"
    requirements.write_text(f"{wheel.project}=={wheel.version} --hash=sha256:{wheel.sha256}\n", "utf-8")
    command = [sys.executable, "-P", *_pip(), "download", "--no-deps", "--only-binary", ":all:"]
    command += ["--require-hashes", "--no-cache-dir", "--no-input", "--disable-pip-version-check"]
    command += ["--progress-bar", "off", "--dest", str(parts), "--requirement", str(requirements)]
    environment = with_uv_indexes(child_environment(network=True)) | dict.fromkeys(
        ("TMPDIR", "TEMP", "TMP"), str(temporary)
    )
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
                with suppress(subprocess.TimeoutExpired):
                    pip.wait(_POLL_SECONDS)
        finally:
            pip.kill()
    if pip.returncode:
        raise _error(wheel, log.read_text("utf-8", "replace"))


def with_uv_indexes(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment with uv's package indexes as pip's, unless pip's are set."""
    index = next((url for name in _INDEX if (url := environment.get(name, ""))), "")
    named = " ".join(environment.get(name, "") for name in _FURTHER).split()
    further = " ".join(re.sub(r"^[\w.-]+=(?=\w+://)", "", url) for url in named)  # uv's NAME=URL
    of_uv = {"PIP_INDEX_URL": index, "PIP_EXTRA_INDEX_URL": further}
    return {name: value for name, value in of_uv.items() if value} | dict(environment)


def _pip() -> list[str]:
    """Return the arguments of Python that run pip. Raises AssetError: pip is missing."""
    check = [sys.executable, "-P", "-c", "import importlib.util as u; raise SystemExit(u.find_spec('pip') is None)"]
    done = subprocess.run(check, check=False, stdin=subprocess.DEVNULL, env=child_environment())  # noqa: S603 - fixed
    if done.returncode == 0:
        return ["-m", "pip"]
    bundled = find_spec("ensurepip")
    folders = bundled.submodule_search_locations if bundled and bundled.submodule_search_locations else []
    wheels = [path for folder in folders for path in sorted(Path(folder, "_bundled").glob("pip-*.whl"))]
    if not wheels:
        raise AssetError("this Python has no pip, and downloads need it: run `uv pip install pip`, then try again")
    return [f"{wheels[-1]}/pip"]


def _size(folder: Path) -> int:
    """Return the size in bytes of a folder that another process may change."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                total += Path(parent, name).stat().st_size
    return total


def _error(wheel: Wheel, output: str) -> AssetError:
    """Return an error with pip's last line and a remedy."""
    last = next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "no message")
    if "DO NOT MATCH THE HASHES" in output:
        remedy = "The package index serves a different file than the pinned one: check `pip config list`."
    elif "No space left" in output:
        remedy = "Free some space, then fetch again."
    else:
        remedy = "Check the network and `pip config list`, then fetch again: the download is resumed."
    return AssetError(f"pip could not download {wheel.file}: {last}. {remedy}")
