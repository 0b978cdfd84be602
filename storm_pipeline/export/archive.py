"""Zip archives that hold the same bytes whenever they are made."""

import io
import zipfile
from collections.abc import Iterable


def zipped(members: Iterable[tuple[str, bytes]], stored: frozenset[str] = frozenset()) -> bytes:
    """An archive of files in their order, all dated 1980-01-01. ``stored``: names of those that are not compressed."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in members:
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return made.getvalue()
