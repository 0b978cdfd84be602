"""A cited source as reference managers and citation styles know it."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, unquote

from storm_pipeline.documents.plain import found_doi
from storm_pipeline.export.tex_text import clean
from storm_pipeline.files import table_beside
from storm_pipeline.references.citations import cited_page_names, locator
from storm_pipeline.render.links import host, is_shared_link, label, shared_address
from storm_pipeline.text.person_names import Name, read_names
from storm_pipeline.types import NO_WORK, Article, Snippet, Source, Work

_DATE = re.compile(r"(\d{4})(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?)?")
_PAPERS = frozenset({"pubmed.ncbi.nlm.nih.gov", "arxiv.org"})
_KINDS = {"article": "journal", "paper": "proceedings", "manuscript": "paper"} | {
    kind: kind for kind in ("book", "chapter", "thesis", "report", "page")
}
"""Kind of a work → kind of a reference."""
KINDS: Mapping[str, Mapping[str, str]] = table_beside(__file__)
"""Format → kind of a reference → the format's word for it."""
_LONGEST_KEY = 24
_IN_ADDRESSES = "%:/?#@!$&'()*+,;=~-._"


@dataclass(frozen=True)
class Reference:
    """One source of an article's reference list.

    All texts are on one line and hold only characters that XML allows; what is not known is empty.
    """

    source_id: str  # id of the :class:`storm_pipeline.types.Source`
    number: int  # its place in the list, from 1
    key: str  # tells it from the others; lower-case ASCII letters, digits and hyphens, beginning with a letter
    # ``journal`` (a paper in a journal), ``paper`` (such as a preprint), ``proceedings`` (a paper in them),
    # ``chapter``, ``book``, ``thesis``, ``report``, ``page`` (of the web) or ``document``
    kind: str
    title: str  # never empty
    address: str  # where it stands, as text; of a file of the user's, its name alone
    link: str  # the address as a URI in ASCII; empty where it may not be a link
    authors: tuple[Name, ...]  # as far as known, in order
    site: str  # name of the site, the journal, or the book that it stands in
    publisher: str  # who published it
    doi: str  # without ``https://doi.org/``
    published: str  # ISO date, or only its year, or year and month
    accessed: str  # ISO date
    language: str  # language code
    # the pages on which the cited passages stand, in order, by their printed numbers if those are known
    pages: tuple[str, ...]
    sentences: tuple[str, ...]  # the sentences of the article that cite it, in order
    work: Work = NO_WORK  # volume, extent, editors and the like
    also: tuple[str, ...] = ()  # other addresses of the same text, as URIs in ASCII

    @property
    def locator(self) -> str:
        """The cited pages: ``p. 3``, ``pp. 3, 7`` or ``pp. 1–4``; empty where there are none."""
        return locator(self.pages)

    @property
    def editors(self) -> tuple[Name, ...]:
        """Who edited the book that it stands in."""
        return read_names(self.work.editors)


def read_references(article: Article, sentences: Iterable[tuple[str, tuple[int, ...]]]) -> tuple[Reference, ...]:
    """The cited sources in the order of their numbers.

    What the snippets of a source say differently, such as its date, is taken from the snippet that says it first, read
    pages before an engine's snippets. ``sentences``: those of the article, each with the numbers that it cites.
    """
    citing: dict[int, list[str]] = {}
    for text, numbers in sentences:
        for number in numbers:
            citing.setdefault(number, []).append(text)
    pages = cited_page_names(article)
    keys: set[str] = set()
    found = []
    for number, source in enumerate(article.references, 1):
        reference = _reference(number, source, pages.get(source.id, ()), tuple(citing.get(number, ())), keys)
        keys.add(reference.key)
        found.append(reference)
    return tuple(found)


def _reference(
    number: int, source: Source, pages: tuple[str, ...], sentences: tuple[str, ...], taken: set[str]
) -> Reference:
    ordered = sorted(source.snippets, key=lambda snippet: snippet.origin != "page")

    def first(field: Callable[[Snippet], str | None]) -> str:
        return next((text for snippet in ordered if (text := clean(field(snippet) or ""))), "")

    address = clean(shared_address(source.url))
    link = _uri(source.url) if is_shared_link(source.url) else ""
    authors = read_names(first(lambda snippet: snippet.author))
    site, doi = first(lambda snippet: snippet.site), _doi(first(lambda snippet: snippet.doi), address)
    published = _date(first(lambda snippet: snippet.published))
    stated = next((one.work for one in ordered if one.work), NO_WORK)
    work = Work(**{name: clean(value) for name, value in vars(stated).items()})
    title = clean(label(source)) or f"Source {number}"
    return Reference(
        source_id=source.id,
        number=number,
        key=_key(authors, title if not link else "", address, published, taken),
        kind=_KINDS.get(work.kind) or _kind(address, link, doi, site),
        title=title,
        address=address,
        link=link,
        authors=authors,
        site=site,
        publisher=first(lambda snippet: snippet.publisher),
        doi=doi,
        published=published,
        accessed=_date(first(lambda snippet: snippet.accessed)),
        language=first(lambda snippet: snippet.language),
        pages=pages,
        sentences=sentences,
        work=work,
        also=tuple(_uri(url) for url in source.also if is_shared_link(url)),
    )


def _uri(url: str) -> str:
    return quote(clean(shared_address(url)), safe=_IN_ADDRESSES)


def _date(text: str) -> str:
    """An ISO date, as precise as it is; empty for anything else."""
    found = _DATE.match(text)
    return "-".join(part for part in found.groups() if part) if found and int(found[1]) else ""


def _doi(stated: str, address: str) -> str:
    name = address.partition("://")[2].partition("/")[2] if host(address) in {"doi.org", "dx.doi.org"} else ""
    return next((text for text in (unquote(name), stated) if text and found_doi(text) == text.lower()), "")


def _kind(address: str, link: str, doi: str, site: str) -> str:
    if doi or host(address) in _PAPERS:
        return "journal" if site else "paper"
    return "page" if link.lower().startswith("http") else "document"


def _key(authors: tuple[Name, ...], title: str, address: str, published: str, taken: set[str]) -> str:
    """``doe2019``, ``example-org2019``, ``fish-and-debt``, ``source``; with ``-2`` and so on where it is taken."""
    name = authors[0].family if authors else " ".join(title.split()[:3]) or host(address)
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = "-".join("".join(char if char.isalnum() else " " for char in plain).split())[:_LONGEST_KEY].rstrip("-")
    base = (slug if slug[:1].isalpha() else f"source{slug}") + published[:4]
    key, copies = base, 1
    while key in taken:
        copies += 1
        key = f"{base}-{copies}"
    return key
