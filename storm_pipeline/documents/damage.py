"""The exceptions that libraries raise on damaged files, and how they are reported."""

import struct
import zipfile
import zlib
from typing import TYPE_CHECKING

from storm_pipeline.documents.document import FileText

if TYPE_CHECKING:
    from pydantic import ValidationError

# In addition to the libraries' own; RuntimeError covers RecursionError, SyntaxError covers XML's.
DAMAGE = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    AssertionError,
    RuntimeError,
    SyntaxError,
    EOFError,
    MemoryError,
    struct.error,
    zlib.error,
    zipfile.BadZipFile,
)


def unreadable(kind: str, error: Exception) -> FileText:
    """The result for a file that cannot be parsed as its format."""
    why = f"cannot be read as {kind} ({type(error).__name__}); open and re-save it, or remove it"
    return FileText(problems=(why,))


def first_damage(error: "ValidationError") -> str:
    """Where a record is damaged first, and how: ``damaged at pages.3.url: field required``."""
    first = error.errors()[0]
    where = ".".join(map(str, first["loc"])) or "the top level"
    return f"damaged at {where}: {first['msg'].lower()}"
