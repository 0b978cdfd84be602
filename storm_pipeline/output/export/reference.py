"""A cited source in the fields of reference managers and citation styles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote, unquote

from storm_pipeline.evidence.citations import cited_page_names
from storm_pipeline.output.render.links import host, is_shared_link, label, shared_address
from storm_pipeline.text.files import table_beside
from storm_pipeline.text.formatting import ISO_DATE
from storm_pipeline.text.identity import in_form
from storm_pipeline.text.person_names import Name, read_names
from storm_pipeline.text.plain import find_doi
from storm_pipeline.text.words import tidy
from storm_pipeline.types import NO_WORK, Article, Source, Work

_PAPERS = frozenset({"pubmed.ncbi.nlm.nih.gov", "arxiv.org"})
_KINDS = {"article": "journal", "paper": "proceedings", "manuscript": "paper"}
"""Kind of a work → kind of a reference, where they differ."""
_TABLE = table_beside(__file__)
KINDS: Mapping[str, Mapping[str, str]] = {
    name: {kind: words[place] for kind, words in _TABLE["kinds"].items()}
    for place, name in enumerate(_TABLE["formats"])
}
"""Format → kind of a reference → the format's word for it."""
_LONGEST_KEY = 24
_IN_ADDRESSES = "%:/?#@!$&'()*+,;=~-._"


@dataclass(frozen=True)
class Reference:
    """One source of an article's reference list.

    All texts are on one line and contain only characters that XML allows; unknown fields are empty.
    """

    key: str  # unique key; lower-case ASCII letters, digits and hyphens, beginning with a letter
    # ``journal`` (a paper in a journal), ``paper`` (such as a preprint), ``proceedings`` (a conference paper),
    # ``chapter``, ``book``, ``thesis``, ``report``, ``page`` (of the web) or ``document``
    kind: str
    title: str  # never empty
    address: str  # its address as text; only the name of a local file
    link: str  # the address as a URI in ASCII; empty if it must not be a link
    authors: tuple[Name, ...]  # known authors in order
    site: str  # name of the site, journal or containing book
    publisher: str  # name of the publisher
    doi: str  # without ``https://doi.org/``
    published: str  # ISO date, possibly without day or month
    accessed: str  # ISO date
    language: str  # language code
    # the pages of the cited passages in order, by printed numbers if known
    pages: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()  # the sentences of the article that cite it, in order
    work: Work = NO_WORK  # volume, extent, editors and the like
    also: tuple[str, ...] = ()  # other addresses of the same text, as URIs in ASCII

    @property
    def editors(self) -> tuple[Name, ...]:
        """Editors of the book that contains it."""
        return read_names(self.work.editors)


def read_references(article: Article, citing: Mapping[int, Sequence[str]]) -> tuple[Reference, ...]:
    """Return the references in the order of their numbers; ``citing``: number, from 1 → the sentences that cite it."""
    pages = cited_page_names(article)
    references: list[Reference] = []
    taken: dict[str, int] = {}
    for number, source in enumerate(article.references, 1):
        made = _reference(number, source, taken)
        references.append(replace(made, pages=pages.get(source.id, ()), sentences=tuple(citing.get(number, ()))))
    return tuple(references)


def _reference(number: int, source: Source, taken: dict[str, int]) -> Reference:
    """Return a reference; if its snippets differ, the first one counts, with those of read pages first."""
    ordered = sorted(source.snippets, key=lambda snippet: snippet.origin != "page")

    def first(field: str) -> str:
        return next((text for snippet in ordered if (text := tidy(getattr(snippet, field) or ""))), "")

    address = tidy(shared_address(source.url))
    authors = read_names(first("author"))
    site, doi = first("site"), _doi(first("doi"), address)
    published = _date(first("published"))
    stated = next((snippet.work for snippet in ordered if snippet.work), NO_WORK)
    work = Work(**{name: tidy(value) for name, value in vars(stated).items()})
    link = next((_uri(url) for url in (source.url, work.url) if is_shared_link(url)), "")
    title = tidy(label(source)) or f"Source {number}"
    kind = _KINDS.get(work.kind, work.kind)
    return Reference(
        key=_key(authors, title if not link else "", address, published, taken),
        kind=kind if kind in KINDS["csl"] else _kind(address, link, doi, site),
        title=title,
        address=address,
        link=link,
        authors=authors,
        site=site,
        publisher=first("publisher"),
        doi=doi,
        published=published,
        accessed=_date(first("accessed")),
        language=first("language"),
        work=work,
        also=tuple(_uri(url) for url in source.also if is_shared_link(url)),
    )


def _uri(url: str) -> str:
    return quote(tidy(shared_address(url)), safe=_IN_ADDRESSES)


def _date(text: str) -> str:
    match = ISO_DATE.match(text)
    return "-".join(part for part in match.groups() if part) if match and int(match[1]) else ""


def _doi(stated: str, address: str) -> str:
    name = address.partition("://")[2].partition("/")[2] if host(address) in {"doi.org", "dx.doi.org"} else ""
    return next((text for text in (unquote(name), stated) if text and find_doi(text) == text.lower()), "")


def _kind(address: str, link: str, doi: str, site: str) -> str:
    if doi or host(address) in _PAPERS:
        return "journal" if site else "paper"
    return "page" if link.lower().startswith("http") else "document"


def _key(authors: tuple[Name, ...], title: str, address: str, published: str, taken: dict[str, int]) -> str:
    """Return a new key such as ``doe2019``, ``example-org2019`` or ``fish-and-debt``; with ``-2`` if it is taken."""
    name = authors[0].family if authors else " ".join(title.split()[:3]) or host(address)
    plain = in_form(name, "NFKD").encode("ascii", "ignore").decode().lower()
    slug = "-".join("".join(char if char.isalnum() else " " for char in plain).split())[:_LONGEST_KEY].rstrip("-")
    base = (slug if slug[:1].isalpha() else f"source{slug}") + published[:4]
    key = base
    while key in taken:
        taken[base] += 1
        key = f"{base}-{taken[base]}"
    taken[key] = 1
    return key
