"""PDF files as people have them, made by hand: every line is put where it stands on the page."""

import io
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pypdf
from pypdf.generic import ArrayObject, DecodedStreamObject, DictionaryObject, NameObject, NumberObject, StreamObject

WIDTH, HEIGHT = 595, 842


@dataclass
class Sheet:
    """A page: the operators that draw it, in order."""

    drawn: list[str] = field(default_factory=list)

    def put(self, x: float, y: float, text: str, size: float = 10, font: str = "R", rise: float = 0) -> None:
        """Write a text at a place; ``font`` is R(oman), B(old) or I(talic)."""
        self.drawn.append(f"BT /{font} {size} Tf 1 0 0 1 {x} {y + rise} Tm ({_escaped(text)}) Tj ET")

    def paragraph(self, x: float, y: float, text: str, *, width: int = 90, size: float = 10, step: float = 12) -> float:
        """Write a text line by line; ``^12^`` is a raised note mark. Returns the height below it."""
        for line in textwrap.wrap(text, width):
            self.line(x, y, line, size)
            y -= step
        return y

    def line(self, x: float, y: float, line: str, size: float = 10) -> None:
        """Write one line with its raised marks."""
        for place, piece in enumerate(line.split("^")):
            if piece:
                raised = place % 2 == 1
                self.put(x, y, piece, size * 0.65 if raised else size, rise=size * 0.35 if raised else 0)
                x += _width(piece) * size * (0.65 if raised else 1)


def file(
    sheets: Sequence[Sheet], *, info: dict[str, str] | None = None, xmp: str = "", first_label: int | None = None
) -> bytes:
    """A PDF of these pages, with its properties, XMP fields, and the number that its first page is labelled with."""
    writer = pypdf.PdfWriter()
    fonts = DictionaryObject({NameObject(f"/{name}"): _font(base) for name, base in _FONTS.items()})
    for sheet in sheets:
        page = writer.add_blank_page(WIDTH, HEIGHT)
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        stream = DecodedStreamObject()
        stream.set_data("\n".join(sheet.drawn).encode("cp1252"))
        page[NameObject("/Contents")] = writer._add_object(stream)
    if info:
        writer.add_metadata({f"/{name}": value for name, value in info.items()})
    if xmp:
        packet = StreamObject()
        packet.set_data(_XMP.replace("FIELDS", xmp).encode())
        packet.update({NameObject("/Type"): NameObject("/Metadata"), NameObject("/Subtype"): NameObject("/XML")})
        writer._root_object[NameObject("/Metadata")] = writer._add_object(packet)
    if first_label is not None:
        style: dict[Any, Any] = {NameObject("/S"): NameObject("/D"), NameObject("/St"): NumberObject(first_label)}
        numbers = ArrayObject([NumberObject(0), DictionaryObject(style)])
        writer._root_object[NameObject("/PageLabels")] = DictionaryObject({NameObject("/Nums"): numbers})
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def scan() -> bytes:
    """A page that is a picture."""
    writer = pypdf.PdfWriter()
    page = writer.add_blank_page(WIDTH, HEIGHT)
    picture = StreamObject()
    picture.set_data(bytes(range(256)))
    for name, value in (("Type", "/XObject"), ("Subtype", "/Image"), ("ColorSpace", "/DeviceGray")):
        picture[NameObject(f"/{name}")] = NameObject(value)
    for name, number in (("Width", 16), ("Height", 16), ("BitsPerComponent", 8)):
        picture[NameObject(f"/{name}")] = NumberObject(number)
    objects = DictionaryObject({NameObject("/P"): writer._add_object(picture)})
    page[NameObject("/Resources")] = DictionaryObject({NameObject("/XObject"): objects})
    stream = DecodedStreamObject()
    stream.set_data(f"q {WIDTH} 0 0 {HEIGHT} 0 0 cm /P Do Q".encode())
    page[NameObject("/Contents")] = writer._add_object(stream)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


_FONTS = {"R": "Times-Roman", "B": "Times-Bold", "I": "Times-Italic"}
_XMP = """<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about=""
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:prism="http://prismstandard.org/namespaces/basic/2.0/">
FIELDS</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>"""


def _font(base: str) -> DictionaryObject:
    differences = ArrayObject([NumberObject(129), NameObject("/uni2010")])
    encoding = {"/Type": NameObject("/Encoding"), "/BaseEncoding": NameObject("/WinAnsiEncoding")}
    encoded = DictionaryObject({NameObject(name): value for name, value in encoding.items()})
    encoded[NameObject("/Differences")] = differences
    font = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": f"/{base}"}
    made = DictionaryObject({NameObject(name): NameObject(value) for name, value in font.items()})
    made[NameObject("/Encoding")] = encoded
    return made


def _escaped(text: str) -> str:
    plain = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    return plain.replace("\u2010", r"\201")


def _width(text: str) -> float:
    """The width of a text in Times, in sizes of type."""
    from pdfminer.fontmetrics import FONT_METRICS

    widths = FONT_METRICS["Times-Roman"][1]
    return sum(float(widths.get(char, 500)) for char in text) / 1000
