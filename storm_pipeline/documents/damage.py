"""What damaged files make libraries raise, and how that is told."""

import struct
import zipfile
import zlib

from storm_pipeline.documents.document import FileText

# Beside the libraries' own errors; RuntimeError covers recursion and missing parts, SyntaxError that of XML.
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
    """What is left of a file that cannot be read as what its name says it is."""
    why = f"cannot be read as {kind} ({type(error).__name__}); open and save it anew, or remove it"
    return FileText(problems=(why,))
