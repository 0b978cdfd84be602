"""Files that others made: what libraries raise where they are damaged, and zip archives of a bounded size."""

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
    """Return the errors that are raised where a PDF's pages or metadata are damaged."""
    from pypdf.errors import PyPdfError

    return (PyPdfError, *DAMAGE)


def unreadable(kind: str, error: Exception) -> FileText:
    """Return the result for a file that is too large, or cannot be parsed as its format. Raises MemoryError."""
    from lxml import etree

    if isinstance(error, etree.XMLSyntaxError) and error.code == etree.ErrorTypes.ERR_NO_MEMORY:
        raise MemoryError from error
    if isinstance(error, TooLargeError):
        return FileText(problems=(str(error),))
    _LOG.debug("cannot be read as %s", kind, exc_info=error)
    return FileText(problems=(f"cannot be read as {kind}; open and re-save it, or remove it",))


class TooLargeError(ValueError):
    """Error of an archive that exceeds the limit on its unpacked size."""


class BoundedZip:
    """Reader of a zip archive's members, up to a total size; raises zipfile.BadZipFile if it is not one.

    ``max_bytes``: limit on all that is read; counted while unpacking, since headers can lie.
    """

    def __init__(self, data: bytes, max_bytes: int = _MAX_BYTES) -> None:
        self._zip = zipfile.ZipFile(io.BytesIO(data))
        self._limit = self._left = max_bytes
        self.names = tuple(self._zip.namelist())

    def read(self, name: str) -> bytes:
        """Unpack a member. Raises TooLargeError: it exceeds what is left of the limit; KeyError: there is none."""
        with self._zip.open(name) as member:
            data = member.read(self._left + 1)
        if len(data) > self._left:
            raise TooLargeError(f"unpacks to more than {self._limit:,} bytes; split it, or remove images from it")
        self._left -= len(data)
        return data
