"""Word files and EPUB books made by hand, for tests."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

import docx

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
NOTED = "<w:r><w:lastRenderedPageBreak/></w:r>"
SET = '<w:r><w:br w:type="page"/></w:r>'


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def paragraph(*runs: str, style: str = "", properties: str = "") -> str:
    styled = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{styled}{properties}</w:pPr>{''.join(runs)}</w:p>"


def table(*rows: Sequence[str]) -> str:
    """A table of cells that are given as runs."""
    cells = ("".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def word(*blocks: str, title: str = "", created: str = "", comments: str = "") -> bytes:
    """A Word file with this body: the library's own template, its text and properties exchanged."""
    plain = io.BytesIO()
    docx.Document().save(plain)
    body = f'<?xml version="1.0"?><w:document xmlns:w="{W}"><w:body>{"".join(blocks)}</w:body></w:document>'
    properties = (
        '<?xml version="1.0"?><cp:coreProperties '
        'xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
        f"<dc:title>{escape(title)}</dc:title><dc:description>{comments}</dc:description>"
        + (f'<dcterms:created xsi:type="dcterms:W3CDTF">{created}</dcterms:created>' if created else "")
        + "</cp:coreProperties>"
    )
    return changed(plain.getvalue(), {"word/document.xml": body, "docProps/core.xml": properties})


def changed(archive: bytes, members: Mapping[str, str | bytes | None]) -> bytes:
    """A zip archive with some members exchanged, added, or (None) taken out."""
    old = zipfile.ZipFile(io.BytesIO(archive))
    kept = {name: old.read(name) for name in old.namelist()}
    return zipped({name: content for name, content in (kept | dict(members)).items() if content is not None})


def zipped(members: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


CONTAINER = """<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"""


def page(body: str) -> str:
    return (
        '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html>\n'
        f'<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>{body}</body></html>'
    )


def epub(*bodies: str, title: str = "A Book", date: str = "2001-02-03") -> bytes:
    """A book with a chapter for each body, listed in the manifest in the opposite order."""
    names = [f"chapter {n}.xhtml" for n in range(1, len(bodies) + 1)]
    hrefs = [name.replace(" ", "%20") for name in names]
    items = "".join(
        f'<item id="c{n}" href="{href}" media-type="application/xhtml+xml"/>'
        for n, href in reversed(list(enumerate(hrefs)))
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(bodies)))
    package = f"""<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{escape(title)}</dc:title><dc:date>{date}</dc:date>
</metadata><manifest>{items}</manifest><spine>{spine}</spine></package>"""
    members = {"mimetype": "application/epub+zip", "META-INF/container.xml": CONTAINER, "OEBPS/content.opf": package}
    chapters = {f"OEBPS/{name}": page(body) for name, body in zip(names, bodies, strict=True)}
    return zipped(members | chapters)
