"""RIS: references as tagged lines, which every reference manager reads."""

from collections.abc import Iterator

from storm_pipeline.evidence.citations import locator
from storm_pipeline.output.export.manuscript import KINDS, Manuscript, Reference


def write(manuscript: Manuscript) -> bytes:
    """Return a record for each reference; its note (``N1``) has the cited pages and the citing sentences."""
    records = ("".join(f"{tag}  - {value}\r\n" for tag, value in _fields(r)) for r in manuscript.references)
    return "\r\n".join(records).encode()


def _fields(reference: Reference) -> Iterator[tuple[str, str]]:
    yield "TY", KINDS["ris"][reference.kind]
    work = reference.work
    first, _, last = work.extent.partition("-")
    known = [
        ("ID", reference.key),
        ("TI", reference.title),
        *(("AU", name.family_first) for name in reference.authors),
        *(("A2", name.family_first) for name in reference.editors),
        ("T2", reference.site),
        ("VL", work.volume),
        ("IS", work.issue),
        ("ET", work.edition),
        ("PB", reference.publisher),
        ("CY", work.place),
        ("SN", work.isbn),
        ("PY", reference.published[:4]),
        ("DA", _date(reference.published)),
        ("SP", first),
        ("EP", last),
        ("DO", reference.doi),
        *(("UR", url.replace(";", "%3B")) for url in (reference.link, *reference.also)),  # ";" separates addresses
        ("AV", reference.address),
        ("Y2", _date(reference.accessed)),
        ("LA", reference.language),
        ("N1", _note(reference)),
    ]
    yield from ((tag, value) for tag, value in known if value)
    yield "ER", ""


def _note(reference: Reference) -> str:
    quoted = " ".join(f"“{sentence}”" for sentence in reference.sentences)
    return f"{f'Cited {locator(reference.pages)}'.strip()}: {quoted}" if quoted else ""


def _date(iso: str) -> str:
    return "/".join([*iso.split("-"), "", "", ""][:3]) + "/" if iso else ""
