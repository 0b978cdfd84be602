"""RIS: references as tagged lines, which every reference manager reads."""

from collections.abc import Iterator

from storm_pipeline.export.manuscript import Manuscript
from storm_pipeline.export.reference import Reference

_KINDS = {"journal": "JOUR", "paper": "UNPB", "page": "ELEC", "document": "GEN"}


def write(manuscript: Manuscript) -> bytes:
    """A record for each reference; its notes (``N1``) are the sentences that cite it.

    A value is one line, so that none can begin a field or end a record.
    """
    records = ("".join(f"{tag}  - {value}\r\n" for tag, value in _fields(one)) for one in manuscript.references)
    return "\r\n".join(records).encode()


def _fields(reference: Reference) -> Iterator[tuple[str, str]]:
    yield "TY", _KINDS[reference.kind]
    known = [
        ("ID", reference.key),
        ("TI", reference.title),
        *(("AU", name.inverted) for name in reference.authors),
        ("T2", reference.site),
        ("PB", reference.publisher),
        ("PY", reference.published[:4]),
        ("DA", _slashed(reference.published)),
        ("SP", ", ".join(map(str, reference.pages))),
        ("DO", reference.doi),
        ("UR", reference.link.replace(";", "%3B")),  # which separates addresses
        ("AV", "" if reference.link else reference.address),
        ("Y2", _slashed(reference.accessed)),
        ("LA", reference.language),
        *(("N1", sentence) for sentence in reference.sentences),
    ]
    yield from ((tag, value) for tag, value in known if value)
    yield "ER", ""


def _slashed(iso: str) -> str:
    """An ISO date as ``YYYY/MM/DD/``, what is not known left empty."""
    return "/".join([*iso.split("-"), "", "", ""][:3]) + "/" if iso else ""
