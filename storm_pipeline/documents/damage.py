"""The exceptions that libraries raise on damaged files, and how they are reported."""

import struct
import zipfile
import zlib

from storm_pipeline.documents.document import FileText

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
