"""From untrusted JSON values to plain text that can be shown, stored and encoded."""

import datetime
import re
from typing import Any
from urllib.parse import urlsplit

_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # Unicode's categories Cc and Cs
_ISO_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])")


def plain_text(value: object) -> str:
    """A string without control characters and lone surrogates, spaces collapsed; empty for anything else."""
    if not isinstance(value, str):
        return ""
    return " ".join(_UNPRINTABLE.sub(" ", value).split())


def web_address(value: object) -> str:
    """A string that is a web address (http or https, with a host), stripped; empty for anything else."""
    url = plain_text(value)
    try:
        parts = urlsplit(url)
        is_web = parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        return ""
    return url if is_web else ""


def iso_date(value: object) -> str | None:
    """The ``YYYY-MM-DD`` that a string begins with, if it does and there is such a day."""
    found = _ISO_DATE.match(value) if isinstance(value, str) else None
    try:
        return datetime.date.fromisoformat(found.group()).isoformat() if found else None
    except ValueError:
        return None


def page_number(value: object) -> int | None:
    """A whole number from 1 on; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 1 else None


def one_line(query: str, limit: int = 400, words: int | None = None) -> str:
    """A query as it is sent: one line, at most ``limit`` characters, cut at a word's end if it can be.

    Args:
        query: the query.
        limit: characters at most, >= 1.
        words: words at most, >= 1; None for any number.
    """
    line = " ".join(plain_text(query).split(" ")[:words])
    if len(line) <= limit:
        return line
    cut = line[: limit + 1]
    return cut[: cut.rfind(" ")] if " " in cut else line[:limit]


def objects(value: object) -> list[dict[str, Any]]:
    """The objects in a JSON list; none in anything else."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def texts(value: object) -> list[str]:
    """The distinct texts in a JSON list, as plain text; none in anything else."""
    plain = map(plain_text, value) if isinstance(value, list) else ()
    return list(dict.fromkeys(filter(None, plain)))
