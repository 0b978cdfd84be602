"""One's own documents, from JSON lines, text, Markdown, HTML and PDF. What can't be read is reported."""

import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from storm_pipeline.documents.decoding import decoded, decoded_lines
from storm_pipeline.documents.pdf import read_pdf
from storm_pipeline.documents.plain import plain_text

_JSON_LINES = frozenset({".jsonl", ".ndjson", ".json"})
_READABLE = ".txt, .md, .html, .htm, .pdf, .jsonl"
_MOST_BYTES = 200_000_000
_MOST_REPORTS = 50


@dataclass(frozen=True)
class Document:
    """A document to search in.

    Attributes:
        url: its address; ``file://…`` where it is only a file here.
        title: may be empty.
        pages: page number from 1 (None where there are none) and text, in order; each text holds more than
            white space.
        published: ISO date where known.
    """

    url: str
    title: str
    pages: tuple[tuple[int | None, str], ...]
    published: str | None = None


@dataclass(frozen=True)
class Unreadable:
    """Why a file, or a line of one, was skipped: a whole sentence that names it."""

    reason: str


def read_documents(path: Path) -> Iterator[Document | Unreadable]:
    """All documents of a file or, recursively and in order of name, of a folder.

    Hidden files and folders are passed over; links to folders are not followed, so no loop can form.

    Args:
        path: an existing file or folder. A file with a name that tells nothing is read as JSON lines.
    """
    if not path.is_dir():
        yield from _read(path, path.suffix.lower() if path.suffix.lower() in _READERS else ".jsonl")
        return
    others: Counter[str] = Counter()
    refused: list[OSError] = []
    for folder, folders, files in os.walk(path, onerror=refused.append):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for file in sorted(Path(folder, name) for name in files if not name.startswith(".")):
            suffix = file.suffix.lower()
            if suffix in _READERS:
                yield from _read(file, suffix)
            else:
                others[suffix or "no ending"] += 1
    yield from (Unreadable(f"{error.filename} cannot be opened; allow reading it.") for error in refused)
    if others:
        kinds = ", ".join(sorted(others))
        yield Unreadable(f"{others.total()} files of other kinds ({kinds}) were skipped; readable are {_READABLE}.")


def _read(file: Path, suffix: str) -> Iterator[Document | Unreadable]:
    try:
        if not file.is_file():  # a pipe would never end, a broken link leads nowhere
            yield Unreadable(f"{_name(file)} is not a regular file; it was skipped.")
            return
        if file.stat().st_size > _MOST_BYTES:
            yield Unreadable(f"{_name(file)} is larger than {_MOST_BYTES:,} bytes; split it.")
            return
        data = file.read_bytes()
        url = file.resolve().as_uri()
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        yield Unreadable(f"{_name(file)} cannot be read ({type(error).__name__}); check its permissions.")
        return
    yield from _READERS[suffix](file, url, data)


def _read_json_lines(file: Path, _url: str, data: bytes) -> Iterator[Document | Unreadable]:
    bad = 0
    for number, line in enumerate(decoded_lines(data), start=1):
        if not line.strip():
            continue
        record = _from_json(line)
        if isinstance(record, Document):
            yield record
        else:
            bad += 1
            if bad <= _MOST_REPORTS:
                yield Unreadable(f"{_name(file)}, line {number} {record}; it was skipped.")
    if bad > _MOST_REPORTS:
        yield Unreadable(f"{_name(file)} has {bad - _MOST_REPORTS} more lines that were skipped.")


def _from_json(line: str) -> Document | str:
    """The document on a line, or what is wrong with the line."""
    try:
        record: Any = json.loads(line)
    except (ValueError, RecursionError):
        return "is not JSON"
    if not isinstance(record, dict):
        return "is not an object with url, title and text"
    url, text, page = plain_text(record.get("url")), record.get("text"), record.get("page")
    if not url:
        return "has no url"
    if not plain_text(text):
        return "has no text"
    number = page if isinstance(page, int) and not isinstance(page, bool) and page >= 1 else None
    published = plain_text(record.get("published")) or None
    return Document(url, plain_text(record.get("title")), ((number, str(text)),), published)


def _read_text(file: Path, url: str, data: bytes) -> Iterator[Document | Unreadable]:
    text = decoded(data)
    first = next((line.strip() for line in text.split("\n") if line.strip()), "")
    is_titled = file.suffix.lower() == ".md" and first.startswith("# ")
    yield _one_page(file, url, first.lstrip("# ") if is_titled else "", text)


def _read_html(file: Path, url: str, data: bytes) -> Iterator[Document | Unreadable]:
    import trafilatura

    # Main content by trafilatura; pages too short for it to judge are taken whole.
    html = decoded(data)
    found = trafilatura.bare_extraction(
        html, with_metadata=True, include_comments=False, date_extraction_params={"extensive_search": False}
    )
    text = (found.text if found else "") or trafilatura.html2txt(html)
    yield _one_page(file, url, (found and found.title) or "", text, found.date if found else None)


def _read_pdf(file: Path, url: str, data: bytes) -> Iterator[Document | Unreadable]:
    pdf = read_pdf(data)
    if pdf.pages:
        yield Document(url, plain_text(pdf.title) or file.stem, pdf.pages)
    yield from (Unreadable(f"{_name(file)} {problem}.") for problem in pdf.problems)


def _one_page(file: Path, url: str, title: str, text: str, published: str | None = None) -> Document | Unreadable:
    if not plain_text(text):
        return Unreadable(f"{_name(file)} holds no text; it was skipped.")
    return Document(url, plain_text(title) or plain_text(file.stem), ((None, text),), published)


def _name(file: Path) -> str:
    """A file's path as it can be shown, odd bytes in names included."""
    return str(file).encode("utf-8", "replace").decode()


_READERS = {
    ".txt": _read_text,
    ".md": _read_text,
    ".html": _read_html,
    ".htm": _read_html,
    ".pdf": _read_pdf,
} | dict.fromkeys(_JSON_LINES, _read_json_lines)
