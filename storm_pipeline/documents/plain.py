"""Sanitizing untrusted JSON values to plain text, URLs, dates and numbers."""

import datetime
import re
from typing import Any
from urllib.parse import urlsplit

_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # Unicode's categories Cc and Cs
_ISO_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])")


def plain_text(value: object) -> str:
    """A string without control characters and lone surrogates, white space collapsed; empty for other types."""
    if not isinstance(value, str):
        return ""
    return " ".join(_UNPRINTABLE.sub(" ", value).split())


def web_address(value: object) -> str:
    """A string that is an http or https URL with a host, stripped; empty for anything else."""
    url = plain_text(value)
    try:
        parts = urlsplit(url)
        is_web = parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        return ""
    return url if is_web else ""


def iso_date(value: object) -> str | None:
    """The ``YYYY-MM-DD`` at the start of a string, if it is a valid date; else None."""
    found = _ISO_DATE.match(value) if isinstance(value, str) else None
    try:
        return datetime.date.fromisoformat(found.group()).isoformat() if found else None
    except ValueError:
        return None


def page_number(value: object) -> int | None:
    """A positive integer; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 1 else None


def one_line(query: str, limit: int = 400, words: int | None = None) -> str:
    """A query on one line, truncated to ``limit`` characters, at a word boundary if possible.

    Args:
        query: the query.
        limit: maximum number of characters, >= 1.
        words: maximum number of words, >= 1; None for no limit.
    """
    line = " ".join(plain_text(query).split(" ")[:words])
    if len(line) <= limit:
        return line
    cut = line[: limit + 1]
    return cut[: cut.rfind(" ")] if " " in cut else line[:limit]


def objects(value: object) -> list[dict[str, Any]]:
    """The objects in a JSON list; empty for anything else."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def texts(value: object) -> list[str]:
    """The distinct strings in a JSON list, as plain text; empty for anything else."""
    plain = map(plain_text, value) if isinstance(value, list) else ()
    return list(dict.fromkeys(filter(None, plain)))
