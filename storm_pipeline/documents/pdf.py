"""Text of PDF files, page by page."""

import io
import logging
import math
import re
import time
from typing import Any

from storm_pipeline.documents.damage import DAMAGE, unreadable
from storm_pipeline.documents.document import FileText

_HYPHENATED = re.compile(r"(?<=[^\W\d_])[-\u00ad]\n(?=[a-zà-öø-ÿ])")


def read_pdf(data: bytes, *, max_pages: int | None = None, seconds: float = math.inf) -> FileText:
    """The text of a PDF. Never raises: what can't be read is reported among the problems.

    Args:
        data: the file.
        max_pages: maximum number of pages read; None for all.
        seconds: time after which no further page is started.
    """
    deadline = time.monotonic() + seconds
    import pypdf
    from pypdf.errors import PyPdfError

    # Without a handler the library's warnings about minor defects would go to the terminal.
    logging.getLogger("pypdf").addHandler(logging.NullHandler())
    damage = (PyPdfError, *DAMAGE)
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            return FileText(problems=("is encrypted; save a copy without a password",))
        count = len(reader.pages)
    except damage as error:
        return unreadable("PDF", error)
    pages, problems = [], []
    for number in range(1, count + 1):
        if number > (max_pages or count) or time.monotonic() > deadline:
            problems.append(f"is long: only its first {number - 1} of {count} pages were read")
            break
        try:
            text = _HYPHENATED.sub("", reader.pages[number - 1].extract_text())
        except damage as error:
            problems.append(f"is damaged on page {number} ({type(error).__name__}); the page was skipped")
        else:
            if text.strip():
                pages.append((number, text))
    if not pages and not problems:
        problems.append("contains no text, perhaps only images; run text recognition (OCR) on it first")
    return FileText(_title(reader, damage), tuple(pages), problems=tuple(problems))


def _title(reader: Any, damage: tuple[type[Exception], ...]) -> str:
    try:
        title = reader.metadata.title if reader.metadata else None
    except damage:  # damaged metadata does not mean damaged text
        return ""
    return title.strip() if isinstance(title, str) else ""
