"""Publication dates in the addresses of pages, where newspapers and blogs put them."""

import re
from datetime import date

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_DATE = re.compile(
    rf"/((?:19|20)\d\d)/(0?[1-9]|1[0-2]|{'|'.join(_MONTHS)})(?:/(0?[1-9]|[12]\d|3[01]))?(?=/|\Z)", re.I | re.A
)
_UPLOADED = re.compile(r"/(?:uploads?|wp-content|files|media|assets|images?)/", re.I)
"""Folders whose dates tell when a file was stored."""


def date_in_address(url: str) -> str | None:
    """The publication date that an address states.

    Args:
        url: such as ``https://example.org/2008/05/30/a-church/``; months may be English abbreviations.

    Returns:
        ISO date, or year and month where no day is stated. None if there is no date or more than one, if it is not
        valid, or if it belongs to a folder of uploaded files.
    """
    path = url.partition("://")[2].partition("?")[0].partition("#")[0]
    found = _DATE.findall(path)
    if len(found) != 1 or _UPLOADED.search(path):
        return None
    year, month, day = found[0]
    number = _MONTHS.index(month.lower()) + 1 if month.isalpha() else int(month)
    try:
        return date(int(year), number, int(day)).isoformat() if day else f"{year}-{number:02d}"
    except ValueError:
        return None
