"""BibTeX: references for LaTeX documents."""

from collections.abc import Iterator
from urllib.parse import quote

from storm_pipeline.evidence.citations import page_span
from storm_pipeline.output.export.manuscript import KINDS, Manuscript, Reference
from storm_pipeline.text.files import table_beside
from storm_pipeline.text.person_names import Name
from storm_pipeline.text.words import folded_words

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_CONTAINERS = {"journal": "journal", "proceedings": "booktitle", "chapter": "booktitle"}
_PUBLISHERS = {"thesis": "school", "report": "institution"}
_MACROS = str.maketrans(table_beside(__file__))
_IN_DOI = "/:;().,-~!*'+=@$&"


def write(manuscript: Manuscript) -> bytes:
    r"""Return an entry for each reference; its ``annote`` has the sentences that cite it, joined by ``\par``."""
    return "\n".join(map(_entry, manuscript.references)).encode()


def tex_text(text: str) -> str:
    """Return a text on one line as LaTeX that typesets it literally.

    Braces become macros, since BibTeX counts even escaped braces. Repeated hyphens, apostrophes and commas are
    separated, since TeX would join them to dashes and quotation marks.
    """
    text = text.translate(_MACROS)
    for sign in "-',":
        while sign * 2 in text:
            text = text.replace(sign * 2, f"{sign}{{}}{sign}")
    return text


def _entry(reference: Reference) -> str:
    fields = "".join(f"  {name} = {value},\n" for name, value in _fields(reference))
    return f"@{KINDS['bibtex'][reference.kind]}{{{reference.key},\n{fields}}}\n"


def _fields(reference: Reference) -> Iterator[tuple[str, str]]:
    yield "title", f"{{{{{tex_text(reference.title)}}}}}"  # double braces preserve capitals
    for role, names in (("author", reference.authors), ("editor", reference.editors)):
        if names:
            yield role, f"{{{' and '.join(map(_name, names))}}}"
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
        "date": reference.published if rest[2:] else "",  # of BibLaTeX; BibTeX has no day
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
        yield "annote", "{" + r" \par ".join(map(tex_text, reference.sentences)) + "}"


def _note(reference: Reference) -> str:
    """Return the name of a local file, the access date of a linked source, and the other addresses of its text."""
    accessed = f"Accessed {reference.accessed}" if reference.accessed and reference.link else ""
    also = f"Also at {', '.join(reference.also)}" if reference.also else ""
    return ". ".join(filter(None, (reference.address, accessed, also)))


def _name(name: Name) -> str:
    """Return a name, with braces around parts that BibTeX would split, and around a name without a given name."""
    parts = (name.family, name.given) if name.given else (name.family,)
    cut = [not name.given or "," in part or "and" in folded_words(part) for part in parts]
    return ", ".join(
        f"{{{tex_text(part)}}}" if is_cut else tex_text(part) for part, is_cut in zip(parts, cut, strict=True)
    )
