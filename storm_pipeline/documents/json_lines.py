"""Documents as JSON lines: ``{"url", "title", "text"}`` and optionally ``published`` and ``page``."""

import json
from collections.abc import Iterator
from typing import Any

from storm_pipeline.documents.decoding import decoded_lines
from storm_pipeline.documents.document import Document, Unreadable
from storm_pipeline.documents.plain import page_number, plain_text

_MAX_REPORTS = 50


def read_json_lines(name: str, data: bytes) -> Iterator[Document | Unreadable]:
    """The documents of a file, and reports on invalid lines, up to a limit.

    Args:
        name: name of the file in reports.
        data: its content.
    """
    bad = 0
    for number, line in enumerate(decoded_lines(data), start=1):
        if not line.strip():
            continue
        record = _from_json(line)
        if isinstance(record, Document):
            yield record
        else:
            bad += 1
            if bad <= _MAX_REPORTS:
                yield Unreadable(f"{name}, line {number} {record}; it was skipped.")
    if bad > _MAX_REPORTS:
        yield Unreadable(f"{name} has {bad - _MAX_REPORTS} more invalid lines, which were skipped.")


def _from_json(line: str) -> Document | str:
    """The document on a line, or the problem with the line."""
    try:
        record: Any = json.loads(line)
    except (ValueError, RecursionError):
        return "is not JSON"
    if not isinstance(record, dict):
        return "is not an object with url, title and text"
    url, text = plain_text(record.get("url")), record.get("text")
    if not url:
        return "has no url"
    if not plain_text(text):
        return "has no text"
    published = plain_text(record.get("published")) or None
    return Document(url, plain_text(record.get("title")), ((page_number(record.get("page")), str(text)),), published)
