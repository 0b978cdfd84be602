"""Downloading a wheel from a package index that speaks the simple API (PEP 503, PEP 691), without pip.

The indexes are those that uv's and pip's environment variables name, else PyPI; proxies, ``.netrc`` and certificates
are taken from the environment too.
"""

import contextlib
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urljoin, urlsplit

from storm_pipeline.assets.pins import Wheel
from storm_pipeline.errors import AssetError

if TYPE_CHECKING:
    import requests

PYPI = "https://pypi.org/simple"
_ONLY = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL")
_FURTHER = ("UV_INDEX", "UV_EXTRA_INDEX_URL", "PIP_EXTRA_INDEX_URL")
_ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
_TIMEOUT = (10.0, 60.0)
_PIECE = 1 << 18


def index_urls() -> list[str]:
    """The indexes to ask, in order: the first of uv's and pip's variables that is set, else PyPI; then further ones."""
    first = next((url for name in _ONLY if (url := os.environ.get(name, "").strip())), PYPI)
    further = [url for name in _FURTHER for url in os.environ.get(name, "").split()]
    named = [re.sub(r"^[\w.-]+=(?=https?://)", "", url) for url in [first, *further]]  # uv's NAME=URL
    return list(dict.fromkeys(url.rstrip("/") for url in named if url.startswith(("https://", "http://"))))


def index_download(wheel: Wheel, parts: Path, report: Callable[[int], None]) -> None:
    """Download one wheel into ``parts``; the caller checks its hash.

    Args:
        wheel: what to download.
        parts: folder for the file.
        report: called with the bytes downloaded so far; an exception from it aborts the download.

    Raises:
        AssetError: no index has the file, or it cannot be downloaded.
    """
    import requests

    problems = []
    with requests.Session() as session:
        session.verify = os.environ.get("PIP_CERT") or True
        for index in index_urls():
            host = urlsplit(index).hostname
            try:
                with _translated_errors():
                    url = _file_url(session, f"{index}/{_normalized(wheel.project)}/", wheel.file)
                    if url:
                        _save(session, url, parts / wheel.file, report)
                        return
                problems.append(f"{host} does not have it")
            except AssetError as error:
                problems.append(f"{host}: {error}")
    raise AssetError(
        f"{wheel.file} could not be downloaded ({'; '.join(problems) or 'no index is set'}); check the network, and "
        "UV_DEFAULT_INDEX or PIP_INDEX_URL if packages come from an index of your own, then fetch again: the download "
        "is resumed"
    )


def _file_url(session: "requests.Session", page: str, file: str) -> str | None:
    """Address of a file on a project's page; None if the index lacks the project or the file."""
    response = session.get(page, headers={"Accept": _ACCEPT}, timeout=_TIMEOUT)
    if response.status_code == 404:
        return None
    response.raise_for_status()
    found = _json_links(response.json()) if "json" in response.headers.get("Content-Type", "") else _links(response)
    link = next((link for name, link in found if name == file), None)
    return urljoin(response.url, link) if link else None


def _json_links(listing: Any) -> Iterator[tuple[str, str]]:
    for entry in listing["files"]:
        yield str(entry["filename"]), str(entry["url"])


def _links(response: "requests.Response") -> Iterator[tuple[str, str]]:
    from lxml import html

    for href in html.fromstring(response.content or b"<html/>").xpath("//a/@href"):
        link = str(href).partition("#")[0]
        yield unquote(urlsplit(link).path.rpartition("/")[2]), link


def _save(session: "requests.Session", url: str, path: Path, report: Callable[[int], None]) -> None:
    partial = path.with_name(f"{path.name}.partial")
    with session.get(url, stream=True, timeout=_TIMEOUT) as response, partial.open("wb") as file:
        response.raise_for_status()
        done = 0
        for piece in response.iter_content(_PIECE):
            file.write(piece)
            done += len(piece)
            report(done)
    partial.replace(path)


@contextlib.contextmanager
def _translated_errors() -> Iterator[None]:
    """Translate errors of the client, without addresses, which may hold credentials."""
    import requests
    from lxml.etree import LxmlError

    try:
        yield
    except requests.HTTPError as error:
        status = error.response.status_code if error.response is not None else "an error"
        raise AssetError(f"it answered {status}") from error
    except (requests.exceptions.JSONDecodeError, LookupError, TypeError, LxmlError) as error:
        raise AssetError("it answered with something that is not a list of files") from error
    except requests.RequestException as error:
        raise AssetError(f"it could not be reached ({type(error).__name__})") from error


def _normalized(project: str) -> str:
    return re.sub(r"[-_.]+", "-", project).lower()
