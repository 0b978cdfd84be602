"""Fetches published data sets: the archive of their authors' repository, of which only the data is kept."""

import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

import requests

from storm_bench.datasets.dataset import PUBLISHED, Published
from storm_bench.folders import folder_to_write, without_links
from storm_pipeline import DatasetError, SearchError
from storm_pipeline.api import redact
from storm_pipeline.run.retrying import RETRIED_STATUSES, Patience, TransientError, with_retries

HOST = "https://github.com"
_SUFFIXES = (".json", ".md", ".txt", ".csv")
_LARGEST, _LARGEST_FILE = 2_000_000_000, 100_000_000
"""Bytes of an archive, and of a file in it: far above those of today, so that a wrong answer does not fill the disk."""
_BLOCK = 1 << 20
_PATIENCE = Patience(connect=10, read=60, total=3600, attempts=4, first_pause=2, longest_pause=60)


def fetch_published(name: str, to: Path, *, host: str = HOST, patience: Patience = _PATIENCE) -> int:
    """Fetch a data set as its authors publish it. Files that are there already are written anew.

    ``name``: one of ``PUBLISHED``; ``to``: folder to write to; the readers take it. Returns number of files written.
    Raises DatasetError: it cannot be fetched or written, the folder holds a link, or the archive has no such data.
    """
    published, folder = PUBLISHED[name], without_links(folder_to_write(to))
    address = f"{host}/{published.repository}/archive/{published.revision}.tar.gz"
    try:
        with tempfile.TemporaryFile() as archive:
            with_retries(lambda: _download(address, archive, patience), patience)
            archive.seek(0)
            written = sum(1 for _ in _unpacked(archive, published, folder))
    except SearchError as error:
        raise DatasetError(f"{address} cannot be fetched ({redact(str(error))}); try again later") from error
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise DatasetError(f"{address} is no archive of the data ({error}); try again later") from error
    except OSError as error:
        raise DatasetError(f"cannot write to {to}: {error.strerror}; choose another folder") from error
    if not written:
        raise DatasetError(f"{address} has no data in {', '.join(published.folders)}: its layout has changed")
    return written


def _download(address: str, archive: IO[bytes], patience: Patience) -> None:
    archive.seek(0)
    archive.truncate()
    try:
        with requests.get(address, stream=True, timeout=(patience.connect, patience.read)) as answer:
            if answer.status_code in RETRIED_STATUSES:
                raise TransientError(f"it answered {answer.status_code}")
            if answer.status_code != requests.codes.ok:
                raise DatasetError(f"{address} answered {answer.status_code}: the repository or its revision is gone")
            for block in answer.iter_content(_BLOCK):
                if archive.tell() + len(block) > _LARGEST:
                    raise DatasetError(f"{address} has more than {_LARGEST // 10**9} GB: it is not the data set")
                archive.write(block)
    except requests.RequestException as error:
        raise TransientError(f"it broke off: {error}") from error


def _unpacked(archive: IO[bytes], published: Published, to: Path) -> Iterator[Path]:
    """Write the data's files, and nothing else: no link, no path that leaves the folder, no other kind of file."""
    written = 0
    with tarfile.open(fileobj=archive, mode="r:gz") as members:
        for member in members:
            path = PurePosixPath(*PurePosixPath(member.name).parts[1:])  # the first is the repository's name
            wanted = any(path.is_relative_to(folder) for folder in published.folders)
            if not wanted or not member.isfile() or ".." in path.parts or path.suffix not in _SUFFIXES:
                continue
            content = members.extractfile(member)
            if content is None or member.size > _LARGEST_FILE:
                continue
            written += member.size
            if written > _LARGEST:
                raise DatasetError(f"{published.repository} has more than {_LARGEST // 10**9} GB of data")
            target = to / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.read())
            yield target
