"""Untrusted files: errors that libraries raise for damage, and zip archives of bounded size."""

import io
import logging
import struct
import zipfile
import zlib

from storm_pipeline.sources.documents.document import FileText

_LOG = logging.getLogger(__name__)
# In addition to the libraries' own; RuntimeError covers RecursionError, SyntaxError covers XML's.
DAMAGE = (
    *(OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, AssertionError, RuntimeError),
    *(SyntaxError, EOFError, struct.error, zlib.error, zipfile.BadZipFile),
)
_MAX_BYTES = 300_000_000


def pdf_damage() -> tuple[type[Exception], ...]:
    """Return the errors raised for damaged pages or metadata of a PDF."""
    from pypdf.errors import PyPdfError

    return (PyPdfError, *DAMAGE)


def unreadable(kind: str, error: Exception) -> FileText:
    """Return the result for a file that is too large or cannot be parsed. Re-raises MemoryError."""
    from lxml import etree

    if isinstance(error, etree.XMLSyntaxError) and error.code == etree.ErrorTypes.ERR_NO_MEMORY:
        raise MemoryError from error
    if isinstance(error, TooLargeError):
        return FileText(problems=(str(error),))
    _LOG.debug("cannot be read as %s", kind, exc_info=error)
    return FileText(problems=(f"cannot be read as {kind}; open and re-save it, or leave it out",))


class TooLargeError(ValueError):
    """An archive exceeds the limit on its unpacked size."""


class BoundedZip:
    """Reader of a zip archive's members; raises zipfile.BadZipFile if it is not one.

    Their total size is limited, and counted while unpacking, since headers may be wrong.
    """

    def __init__(self, data: bytes) -> None:
        self._zip, self._left = zipfile.ZipFile(io.BytesIO(data)), _MAX_BYTES
        self.names = tuple(self._zip.namelist())

    def read(self, name: str) -> bytes:
        """Unpack a member. Raises TooLargeError: it exceeds the rest of the limit; KeyError: no such member."""
        with self._zip.open(name) as member:
            data = member.read(self._left + 1)
        if len(data) > self._left:
            raise TooLargeError(f"unpacks to more than {_MAX_BYTES:,} bytes; split it, or remove images from it")
        self._left -= len(data)
        return data
