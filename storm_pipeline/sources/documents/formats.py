"""Format of a file or download by its bytes, since names and headers are often wrong."""

import email
import io
import re
import zipfile

from storm_pipeline.sources.documents.decoding import HEAD, decode

PDF, HTML, DOCX, EPUB = "PDF", "HTML", "DOCX", "EPUB"
"""Readable formats with a signature."""
GZIP = "compressed (gzip)"
ZIP = "an archive (zip)"
OLD_OFFICE = "in an old format of Word, Excel or PowerPoint, or encrypted"
_HTML = re.compile(r"\s*+(?:(?:<\?xml[^>]*+>|<!--.*?-->)\s*+)*+<(?:!doctype\s+html|html)[\s>]", re.I | re.S)
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")  # bytes that do not occur in text
# Unreadable format → prefixes of its files; those of the first group also have binary bytes.
_BEGINNINGS = {
    GZIP: (b"\x1f\x8b",),
    OLD_OFFICE: (b"\xd0\xcf\x11\xe0",),
    "a picture": (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"II*\0", b"MM\0*", b"AT&TFORM"),
    "an archive": (b"BZh", b"\xfd7zXZ\0", b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07", b"\x28\xb5\x2f\xfd"),
    "sound or video": (b"OggS", b"ID3", b"fLaC", b"\x1aE\xdf\xa3", b"RIFF"),
}
_MARKED = {
    "in Rich Text Format (RTF)": (b"{\\rtf",),
    "in PostScript": (b"%!PS",),
    "a web archive of Safari": (b"bplist00",),
}
# Format → characteristic member of its zip archive.
_MEMBERS = {
    DOCX: "word/document.xml",
    EPUB: "META-INF/container.xml",
    "a workbook of Excel": "xl/workbook.xml",
    "a presentation of PowerPoint": "ppt/presentation.xml",
    "in OpenDocument format": "META-INF/manifest.xml",
}


def format_of(data: bytes) -> str:
    """Return the format of a file's bytes.

    A readable format; for an unreadable one, the rest of a sentence "The file is …"; empty for texts, unknown formats
    and damaged archives.
    """
    if data.lstrip(b"\xef\xbb\xbf\r\n\t ").startswith(b"%PDF-"):
        return PDF
    if data.startswith(b"PK\x03\x04"):
        try:
            names = frozenset(zipfile.ZipFile(io.BytesIO(data)).namelist())
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
            return ""
        return next((name for name, member in _MEMBERS.items() if member in names), ZIP)
    head = data[:HEAD]
    known = (_BEGINNINGS if _BINARY.search(head) else {}) | _MARKED
    kind = "sound or video" if head[4:8] == b"ftyp" else ""
    if kind := next((name for name, beginnings in known.items() if head.startswith(beginnings)), kind):
        return "a picture" if head[8:12] == b"WEBP" else kind
    related = b"multipart/related"
    if related in head.lower() and email.message_from_bytes(head).get_content_type() == related.decode():
        return "a web archive (MHTML)"
    return HTML if _HTML.match(decode(head)) else ""
