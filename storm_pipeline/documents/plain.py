"""Sanitizing untrusted JSON values to plain text, URLs, dates and numbers."""

import base64
import datetime
import re
from typing import Any
from urllib.parse import unquote, urlsplit

from storm_pipeline.files import table_beside
from storm_pipeline.text.words import folded_words

_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # Unicode's categories Cc and Cs
_BASE64 = re.compile(r"(?=.*[A-Z])(?=.*[a-z])(?:[A-Za-z0-9+/]{12,}|[A-Za-z0-9+/]{6,}={1,2})")
_WORDS = 0.5  # share of letters, digits and spaces in a text above which it is words
_BY_PROGRAM = re.compile(r"^(?:Microsoft (?:Word|PowerPoint|Excel)|PowerPoint Presentation) - ", re.I)
_FILE_NAME = re.compile(r"\.(?:docx?|pptx?|xlsx?|rtf|indd|pdf)$", re.I)
_ADDRESS = re.compile(r"^www\.[\w.-]+ [-–—|] (?=\S)|(?<=\S) [-–—|] www\.[\w.-]+$", re.I)
_TABLE = table_beside(__file__)
_DATED = [re.compile(f"^{_TABLE[kind]}{_TABLE['rest']}$", re.M | re.I | re.X) for kind in ("published", "changed")]
_TOP, _FEW = 4000, 6  # characters of a page that are searched for them, and most words in lower case of such a line
_HEADER, _TITLE, _BELOW = 20_000, 3, 3  # characters with a page's title, words of it, lines below that may be its date
_LONGEST, _ZONE, _OLDEST, _TWO_WAYS = 40, 2, "1990", re.compile(r"\d/\d")  # of such a line, of "ET"; a year; 3/8
_ISO_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])")


def plain_text(value: object) -> str:
    """A string without control characters, surrogates and soft hyphens, white space collapsed; empty for others."""
    if not isinstance(value, str):
        return ""
    return " ".join(_UNPRINTABLE.sub(" ", value).replace("\xad", "").split())


def readable_title(value: object) -> str:
    """The title of a page or file as people read it, as :func:`plain_text`.

    Base64 and percent signs of addresses are decoded, and "Microsoft Word - Report.docx" becomes "Report", and so does
    "Report – www.example.org": all stand in metadata of pages and files.
    """
    title = plain_text(value)
    title = plain_text(unquote(title)) if "%20" in title else title
    title = _ADDRESS.sub("", _BY_PROGRAM.sub("", _decoded(title) or title))
    return (_FILE_NAME.sub("", title) or title).lstrip("~ ")


def _decoded(title: str) -> str:
    """What a title in Base64 says; empty if it is none: it has only the signs of Base64, and decodes to words."""
    if not _BASE64.fullmatch(title):
        return ""
    try:
        text = base64.b64decode(title + "=" * (-len(title) % 4), validate=True).decode("utf-8")
    except ValueError:
        return ""
    plain = plain_text(text)
    words = sum(char.isalnum() or char == " " for char in plain)
    return plain if len(plain) > _WORDS * len(text) and words > _WORDS * len(plain) else ""


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


def stated_date(text: str, title: str = "") -> str | None:
    """The day on which a line near the top of a page says that it was published, or else changed; an ISO date.

    The line is a label or a byline, the date, and few words more; or a date alone, within three lines below the page's
    title. None where such lines name several days.
    """
    from storm_pipeline.languages import detect
    from storm_pipeline.quantities import full_dates

    top = text[:_TOP]
    for pattern in _DATED:
        lines = (own[0] for own in pattern.finditer(top) if sum(map(str.islower, own[0].split())) <= _FEW)
        days = {days[0] for line in lines if (days := full_dates(line, detect(top) or "en"))}
        if days:
            return days.pop() if len(days) == 1 else None
    header = [line for part in text[:_HEADER].splitlines() if (line := part.strip(" *#_|"))]
    words, below = folded_words(title), set[str]()
    for i, own in enumerate(map(folded_words, header)):
        least = min(len(own), len(words))  # sites add their names to titles
        if least >= _TITLE and own[:least] == words[:least]:
            language = detect(top) or "en"
            below |= {day for line in header[i + 1 : i + 1 + _BELOW] if (day := _date_alone(line, language))}
    return below.pop() if len(below) == 1 else None


def _date_alone(line: str, language: str) -> str:
    """The day of a line that is a date since there are pages, perhaps with weekday and time; empty if it is none."""
    from storm_pipeline.quantities import full_dates, without_quantities
    from storm_pipeline.quantities.relative import weekdays

    if len(line) > _LONGEST or not any(map(str.isdigit, line)) or _TWO_WAYS.search(line):
        return ""
    days, more = full_dates(line, language), folded_words(without_quantities(line, language))
    is_alone = all(len(word) <= _ZONE or any(day.startswith(word) for day in weekdays(language)) for word in more)
    return days[0] if len(days) == 1 and is_alone and days[0] >= _OLDEST else ""


def page_number(value: object) -> int | None:
    """A positive integer; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 1 else None


def one_line(query: str, limit: int = 400, words: int | None = None) -> str:
    """A query on one line, truncated to ``limit`` characters, at a word boundary if possible.

    Args:
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
