"""Notes: one a citation, with the pages that it cites; a source has a short form after its first note."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from storm_pipeline.documents.bibliography import without_subtitle
from storm_pipeline.export.entries import Line, Run, also_at
from storm_pipeline.export.reference import Reference
from storm_pipeline.references.citations import page_span
from storm_pipeline.text.person_names import Name

_ARTICLES = frozenset("the a an der die das ein eine le la les el los las".split())
_SHORT_TITLE = 5  # words that a title has in its short form
_IN_QUOTES = frozenset({"journal", "paper", "proceedings", "chapter", "page", "thesis"})
"""Kinds whose titles stand in quotation marks; those of the others are italic."""


@dataclass(frozen=True)
class Cite:
    """A citation: the number of its reference, and the pages that it cites, by name."""

    number: int
    pages: tuple[str, ...] = ()


def plain_notes(cites: Sequence[Cite], references: Sequence[Reference]) -> list[Line]:
    """A note for each citation in a form of our own, near Chicago's: whole at first, then author, short title, page."""
    seen: set[int] = set()
    notes = []
    for cite in cites:
        reference = references[cite.number - 1]
        form = _short if cite.number in seen else _whole
        seen.add(cite.number)
        notes.append(tuple(run for run in form(reference, page_span(cite.pages)) if run.text))
    return notes


def _whole(reference: Reference, pages: str) -> Iterator[Run]:
    work = reference.work
    authors = _listed([name.natural for name in reference.authors])
    yield Run(f"{authors}, " if authors else "")
    yield from _title(reference, reference.title)
    published = ", ".join(filter(None, (": ".join(filter(None, (work.place, reference.publisher))), _year(reference))))
    if reference.kind == "journal":
        volume = "".join((f" {work.volume}" if work.volume else "", f", no. {work.issue}" if work.issue else ""))
        yield Run(" ")
        yield Run(reference.site, italic=True)
        yield Run(f"{volume} ({_year(reference)})" if _year(reference) else volume)
        yield Run(f": {pages}" if pages else "")
    else:
        if reference.site and reference.kind in {"chapter", "proceedings"}:
            yield Run(" in ")
            yield Run(reference.site, italic=True)
            editors = _listed([name.natural for name in reference.editors])
            yield Run(f", ed. {editors}" if editors else "")
        elif reference.site:
            yield Run(f" {reference.site}")
        yield Run(f" ({published})" if published else "")
        yield Run(f", {pages}" if pages else "")
    if reference.doi or reference.link:
        address = f"https://doi.org/{reference.doi}" if reference.doi else reference.link
        yield Run(", ")
        yield Run(address, href=address)
        yield Run(f" (accessed {reference.accessed})" if reference.accessed and not reference.doi else "")
    yield Run(".")
    yield from also_at(reference)


def _short(reference: Reference, pages: str) -> Iterator[Run]:
    families = [name.family for name in reference.authors]
    authors = _listed(families if len(families) < 4 else [f"{families[0]} et al."])
    yield Run(f"{authors}, " if authors else "")
    words = without_subtitle(reference.title).split()
    words = words[1:] if words[:1] and words[0].lower() in _ARTICLES else words
    title = " ".join(words[:_SHORT_TITLE])
    yield from _title(reference, title if authors else reference.title)
    yield Run(f" {pages}." if pages else ".")


def _title(reference: Reference, title: str) -> Iterator[Run]:
    """A title and the comma behind it."""
    if reference.kind in _IN_QUOTES:
        yield Run(f"“{title},”")
    else:
        yield Run(title, italic=True)
        yield Run(",")


def _year(reference: Reference) -> str:
    return reference.published[:4]


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def sort_key(reference: Reference) -> tuple[str, str, str]:
    """Where a reference stands in a bibliography: by author, year and title."""
    first: Name | None = next(iter(reference.authors), None)
    return (first.inverted if first else reference.title).casefold(), reference.published, reference.title.casefold()
