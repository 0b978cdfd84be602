"""Sanitizing untrusted JSON values to plain text, URLs, dates and numbers."""

import base64
import datetime
import re
from collections.abc import Collection
from contextlib import suppress
from pathlib import PurePath
from typing import Any
from urllib.parse import unquote, urlsplit

from storm_pipeline.text.words import folded_words

_SPACES = dict.fromkeys([*range(0x20), *range(0x7F, 0xA0), *range(0xD800, 0xE000)], " ") | {0xAD: None}
"""Unicode's categories Cc and Cs → a space; the soft hyphen → nothing."""
PROGRAMS = ("Microsoft Word", "Microsoft PowerPoint", "Microsoft Excel", "PowerPoint Presentation")
"""Programs that put their name before the file's name instead of a title."""
FILE_ENDINGS = frozenset(".doc .docx .dotx .odt .ppt .pptx .xls .xlsx .rtf .indd .qxd .pdf .tex .dvi .ps".split())
_DOI = re.compile(r"(?<!\d)10\.\d{4,9}/[^\s\"<>]+")
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)", re.A)
_WORDS = 0.5  # minimum share of letters, digits and spaces in a text of words
_BARS = (" - ", " – ", " — ", " | ")
_LABELS = (
    "published posted publish publication veröffentlicht publié publicado pubblicato gepubliceerd publicerad",
    "updated modified update modification aktualisiert geändert jour actualizado aggiornato",
)
_TOP, _HEADER = 4000, 20_000  # characters of a page that are searched for its date, and for its title with the date
_TITLE, _BELOW = 3, 3  # words of the title; lines below it that may be its date


def plain_text(value: object) -> str:
    """Return a string without control characters, surrogates and soft hyphens, spaces collapsed; else ""."""
    return " ".join(value.translate(_SPACES).split()) if isinstance(value, str) else ""


def readable_title(value: object) -> str:
    """Return the title of a page or file as people read it, as :func:`plain_text`.

    Base64 and percent signs of addresses are decoded; "Microsoft Word - Report.docx" becomes "Report", as does
    "Report – www.example.org".
    """
    title = plain_text(value)
    title = plain_text(unquote(title)) if "%20" in title else title
    title = _decode_title(title) or title
    for bar in _BARS:
        parts = title.split(bar)
        if len(parts) > 1:
            title = bar.join(part for part in parts if not part.lower().startswith("www.") or " " in part)
    for program in PROGRAMS:
        title = title.removeprefix(f"{program} - ")
    name = PurePath(title)
    return (name.stem if name.suffix.lower() in FILE_ENDINGS and name.name == title else title).lstrip("~ ")


def _decode_title(title: str) -> str:
    """Return the decoded text of a title in Base64; empty if it does not decode to words, or has only one case."""
    if len(title) < (8 if title.endswith("=") else 12) or title.islower() or title.isupper():
        return ""
    try:
        text = base64.b64decode(title + "=" * (-len(title) % 4), validate=True).decode("utf-8")
    except ValueError:
        return ""
    plain = plain_text(text)
    words = sum(char.isalnum() or char == " " for char in plain)
    return plain if len(plain) > _WORDS * len(text) and words > _WORDS * len(plain) else ""


def web_address(value: object) -> str:
    """Return a string that is an http or https URL with a host, stripped; empty for anything else."""
    with suppress(ValueError):
        parts = urlsplit(url := plain_text(value))
        return url if parts.scheme in {"http", "https"} and parts.hostname else ""
    return ""


def iso_date(value: object) -> str | None:
    """Return the ``YYYY-MM-DD`` at the start of a string, if it is a valid date; else None."""
    if not isinstance(value, str) or value[4:5] != "-" or value[7:8] != "-" or value[10:11].isdigit():
        return None
    with suppress(ValueError):
        return datetime.date.fromisoformat(value[:10]).isoformat()
    return None


def stated_date(text: str, title: str = "") -> str | None:
    """Return the day of publication, else of change, stated by a line near the top of a page.

    The line is a label and a date; or a date alone, within three lines below the page's title. None if such lines state
    several days.
    """
    from storm_pipeline.text.languages import detect

    language = detect(text[:_TOP]) or "en"
    top = [line.strip(" *#_|[]") for line in text[:_TOP].splitlines()]
    for labels in map(str.split, _LABELS):
        if days := {day for line in top if (day := _labelled_day(line, labels, language))}:
            return days.pop() if len(days) == 1 else None
    header = [line for part in text[:_HEADER].splitlines() if (line := part.strip(" *#_|"))]
    words, below = folded_words(title), set[str]()
    for i, line_words in enumerate(map(folded_words, header)):
        least = min(len(line_words), len(words))  # sites add their names to titles
        if least >= _TITLE and line_words[:least] == words[:least]:
            below |= {day for line in header[i + 1 : i + 1 + _BELOW] if (day := _day(line, language))}
    return below.pop() if len(below) == 1 else None


def _labelled_day(line: str, labels: Collection[str], language: str) -> str:
    label_words = (word for word in line.split()[:3] if word.strip(":*").lower() in labels)
    _, label, rest = line.partition(next(label_words, "\n"))
    if not label:
        return ""
    rest = rest.partition("|")[0].removeprefix(" date").strip(" :*-–—")
    first, _, later = rest.partition(" ")
    return _day(rest, language) or (_day(later, language) if first.islower() else "")


def _day(line: str, language: str) -> str:
    """Return the day of a line that is only a date, with its month in letters or in ISO's form; else empty."""
    words = (word.strip(".,") for word in line.split())
    has_month = iso_date(line) or any(len(word) >= 3 and word.isalpha() for word in words)
    if len(line) > 40 or sum(map(str.isdigit, line)) < 5 or "/" in line or not has_month:
        return ""
    from dateparser import parse

    known = {"REQUIRE_PARTS": ["day", "month", "year"], "STRICT_PARSING": True, "PARSERS": ["absolute-time"]}
    try:
        date = parse(line, languages=[language], settings=known)
    except ValueError:  # a language that dateparser does not know
        date = parse(line, languages=["en"], settings=known)
    return date.date().isoformat() if date and date.year >= 1990 else ""


def find_year(text: str, title: str = "") -> str:
    """Return the first year of four digits in a text, from 1500 to 2099, that its title lacks; empty if none."""
    return next((year for year in _YEAR.findall(text) if year not in title), "")


def find_doi(text: str) -> str:
    """Return the first DOI in a text, in lower case; empty if there is none."""
    match = _DOI.search(text)
    return match[0].rstrip(".,;)]}").lower() if match else ""


def page_number(value: object) -> int | None:
    """Return the value if it is a positive integer, else None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 1 else None


def one_line(query: str, limit: int = 400, words: int | None = None) -> str:
    """Return a query on one line, within limits of characters and words (>= 1), split between words if possible."""
    line = " ".join(plain_text(query).split(" ")[:words])
    if len(line) <= limit:
        return line
    return line[: limit + 1].rpartition(" ")[0] or line[:limit]


def objects(value: object) -> list[dict[str, Any]]:
    """Return the objects in a JSON list; empty for anything else."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def texts(value: object) -> list[str]:
    """Return the distinct ones of the first 1000 strings in a JSON list, as plain text; empty for anything else."""
    plain = map(plain_text, value[:1000]) if isinstance(value, list) else ()
    return list(dict.fromkeys(filter(None, plain)))
