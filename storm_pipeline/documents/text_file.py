"""Text of plain text and Markdown files."""

from storm_pipeline.documents.decoding import decoded
from storm_pipeline.documents.document import FileText


def read_text(data: bytes) -> FileText:
    """A plain text, unchanged."""
    return FileText(pages=((None, decoded(data)),))


def read_markdown(data: bytes) -> FileText:
    """A Markdown text, unchanged; an initial level-1 heading is its title."""
    text = decoded(data)
    first = next((line.strip() for line in text.split("\n") if line.strip()), "")
    return FileText(first.lstrip("# ") if first.startswith("# ") else "", ((None, text),))
