"""BibTeX: references for LaTeX documents."""

from collections.abc import Iterator
from urllib.parse import quote

from storm_pipeline.export.manuscript import Manuscript
from storm_pipeline.export.reference import KINDS, Reference
from storm_pipeline.export.tex_text import tex_text
from storm_pipeline.references.citations import page_span
from storm_pipeline.text.person_names import Name
from storm_pipeline.text.words import folded_words

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_CONTAINERS = {"journal": "journal", "proceedings": "booktitle", "chapter": "booktitle"}
_PUBLISHERS = {"thesis": "school", "report": "institution"}
_SENTENCE_BREAK = r" \par "
_IN_DOI = "/:;().,-~!*'+=@$&"


def write(manuscript: Manuscript) -> bytes:
    r"""An entry for each reference; ``annote`` of each are the sentences that cite it, with ``\par`` between them."""
    return bibtex_text(manuscript).encode()


def bibtex_text(manuscript: Manuscript) -> str:
    """The entries as text, a field a line."""
    return "\n".join(map(_entry, manuscript.references))


def _entry(reference: Reference) -> str:
    fields = "".join(f"  {name} = {value},\n" for name, value in _fields(reference))
    return f"@{KINDS['bibtex'][reference.kind]}{{{reference.key},\n{fields}}}\n"


def _fields(reference: Reference) -> Iterator[tuple[str, str]]:
    yield "title", f"{{{{{tex_text(reference.title)}}}}}"  # doubled, which keeps its capitals
    if reference.authors:
        yield "author", f"{{{' and '.join(map(_name, reference.authors))}}}"
    if reference.editors:
        yield "editor", f"{{{' and '.join(map(_name, reference.editors))}}}"
    work = reference.work
    year, _, rest = reference.published.partition("-")
    texts = {
        _CONTAINERS.get(reference.kind, "howpublished"): reference.site,
        "volume": work.volume,
        "number": work.issue,
        "edition": work.edition,
        _PUBLISHERS.get(reference.kind, "publisher"): reference.publisher,
        "address": work.place,
        "isbn": work.isbn,
        "year": year,
        "pages": work.extent,
        "citedpages": page_span(reference.pages),
        "language": reference.language,
        "urldate": reference.accessed,
        "note": _note(reference),
    }
    for name, text in texts.items():
        if text:
            yield name, f"{{{tex_text(text)}}}"
    if rest:
        yield "month", _MONTHS[int(rest[:2]) - 1]
    if reference.doi:
        yield "doi", f"{{{quote(reference.doi, safe=_IN_DOI)}}}"
    if reference.link:
        yield "url", f"{{{reference.link}}}"
    if reference.sentences:
        yield "annote", f"{{{_SENTENCE_BREAK.join(map(tex_text, reference.sentences))}}}"


def _note(reference: Reference) -> str:
    """When an address was opened, or where a source without one is; and the other addresses of the same text."""
    accessed = f"Accessed {reference.accessed}" if reference.accessed else ""
    also = f"Also at {', '.join(reference.also)}" if reference.also else ""
    return ". ".join(filter(None, (accessed if reference.link else reference.address, also)))


def _name(name: Name) -> str:
    """A name; one that is not parted stands in braces, so that no word of it is taken for a given name."""
    if not name.given:
        return f"{{{tex_text(name.family)}}}"
    return f"{_part(name.family)}, {_part(name.given)}"


def _part(text: str) -> str:
    """A part of a name; in braces where BibTeX would cut it."""
    escaped = tex_text(text)
    return f"{{{escaped}}}" if "," in text or "and" in folded_words(text) else escaped
