"""Metadata of papers: one URL per paper for all engines, names of authors, partial dates."""

from collections.abc import Iterable, Sequence
from datetime import date
from itertools import takewhile
from urllib.parse import quote

from storm_pipeline.sources.documents.markup import fragment_text
from storm_pipeline.text.plain import plain_text

MAX_AUTHORS = 30
MAX_RESULTS = 100  # maximum papers per request


def doi_name(doi: object) -> str | None:
    """Return a DOI in lower case, since DOIs are case-insensitive; None for anything else."""
    name = plain_text(doi).lower()
    return name if name.startswith("10.") else None


def join_names(names: Iterable[object]) -> str | None:
    """Join the first 30 names of authors in the form of :attr:`storm_pipeline.types.Snippet.author`; None if empty."""
    plain = (plain_text(name).replace(";", ",") for name in names)
    return "; ".join(list(filter(None, plain))[:MAX_AUTHORS]) or None


def full_name(family: str, given: str, whole: str) -> str:
    """Return an author as ``Family, Given`` as far as known, else the name of a group."""
    return f"{family}, {given}" if family and given else family or whole


def first_text(value: object) -> str:
    """Return the plain text of the first of several JATS or HTML fragments (Crossref's titles); may be empty."""
    return fragment_text(value[0]) if isinstance(value, list) and value else ""


def doi_address(doi: object) -> str:
    """Return the URL of a paper by its DOI; empty without a DOI."""
    name = doi_name(doi)
    return "https://doi.org/" + quote(name, safe="/:;().,_-~!*'") if name else ""


def arxiv_address(number: object) -> str:
    """Return the URL of a preprint's abstract page by its arXiv identifier without version; empty without one."""
    name = plain_text(number)
    return "https://arxiv.org/abs/" + quote(name, safe="/.-") if name else ""


def partial_date(parts: Sequence[object]) -> str | None:
    """Return an ISO date from the known ones of year, month and day: ``2019-05-02``, ``2019-05`` or ``2019``.

    ``parts``: numbers or strings of digits; the date ends before the first missing or invalid part.
    """
    known = list(takewhile(str.isdecimal, (str(part).strip() for part in parts[:3])))
    while known:
        try:
            year, month, day = (int(part[:9]) for part in [*known, "1", "1"][:3])
            return date(year, month, day).isoformat()[: (4, 7, 10)[len(known) - 1]]
        except (ValueError, OverflowError):
            known.pop()
    return None
