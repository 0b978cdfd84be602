"""The format-independent form of an article for export: blocks in order, numbered references, and provenance.

References have the fields of reference managers and citation styles.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote, unquote

from storm_pipeline.evidence.citations import cited_page_names, number_references, page_names
from storm_pipeline.evidence.editions import with_sentences
from storm_pipeline.output.render import links
from storm_pipeline.text.files import table_beside
from storm_pipeline.text.formatting import ISO_DATE, day, with_noun
from storm_pipeline.text.identity import DOI_HOSTS, in_form
from storm_pipeline.text.person_names import Name, read_names
from storm_pipeline.text.plain import find_doi, iso_date
from storm_pipeline.text.words import tidy
from storm_pipeline.types import NO_WORK, Article, Paragraph, Section, Sentence, Snippet, Source, Work

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
_DEEPEST = 6  # deepest heading level; 1 is a section of the article
_UNTITLED = "Untitled"


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
    address: str  # the name of a local file, or an address that must not be a link; else empty
    link: str  # its address, or the one that a local file's record states, as a URI in ASCII; may be empty
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
    def named_title(self) -> str:
        """The title and the name of a local file, since citation styles print a DOI or address that the file states."""
        return self.title if self.address in self.title else f"{self.title} [{self.address}]"

    @property
    def editors(self) -> tuple[Name, ...]:
        """Editors of the book that contains it."""
        return read_names(self.work.editors)


def read_references(article: Article, citing: Mapping[int, Sequence[str]]) -> tuple[Reference, ...]:
    """Return the references in the order of their numbers; ``citing``: number, from 1 → the sentences that cite it."""
    pages = cited_page_names(article)
    taken: dict[str, int] = {}
    return tuple(
        replace(_reference(n, source, taken), pages=pages.get(source.id, ()), sentences=tuple(citing.get(n, ())))
        for n, source in enumerate(article.references, 1)
    )


def _reference(number: int, source: Source, taken: dict[str, int]) -> Reference:
    """Return a reference; if its snippets differ, the first one counts, with those of read pages first."""
    ordered = sorted(source.snippets, key=lambda snippet: snippet.origin != "page")

    def first(field: str) -> str:
        return next((text for snippet in ordered if (text := tidy(getattr(snippet, field) or ""))), "")

    address = tidy(links.shared_address(source.url))
    authors = read_names(first("author"))
    site, doi = first("site"), _doi(first("doi"), address)
    published = _date(first("published"))
    stated = next((snippet.work for snippet in ordered if snippet.work), NO_WORK)
    work = Work(**{name: tidy(value) for name, value in vars(stated).items()})
    link = next((_uri(url) for url in (source.url, work.url) if links.is_shared_link(url)), "")
    title = tidy(links.label(source)) or f"Source {number}"
    kind = _KINDS.get(work.kind, work.kind)
    return Reference(
        key=_key(authors, title if not link else "", address, published, taken),
        kind=kind if kind in KINDS["csl"] else _kind(address, link, doi, site),
        title=title,
        address="" if links.is_shared_link(source.url) or address.startswith(links.NO_ADDRESS) else address,
        link=link,
        authors=authors,
        site=site,
        publisher=first("publisher"),
        doi=doi,
        published=published,
        accessed=_date(first("accessed")),
        language=first("language"),
        work=work,
        also=tuple(_uri(url) for url in source.also if links.is_shared_link(url)),
    )


def _uri(url: str) -> str:
    return quote(tidy(links.shared_address(url)), safe=_IN_ADDRESSES)


def _date(text: str) -> str:
    match = ISO_DATE.match(text)
    return "-".join(part for part in match.groups() if part) if match and int(match[1]) else ""


def _doi(stated: str, address: str) -> str:
    name = address.partition("://")[2].partition("/")[2] if links.host(address) in DOI_HOSTS else ""
    return next((text for text in (unquote(name), stated) if text and find_doi(text) == text.lower()), "")


def _kind(address: str, link: str, doi: str, site: str) -> str:
    if doi or links.host(address) in _PAPERS:
        return "journal" if site else "paper"
    return "page" if link.lower().startswith("http") else "document"


def _key(authors: tuple[Name, ...], title: str, address: str, published: str, taken: dict[str, int]) -> str:
    """Return a new key such as ``doe2019``, ``example-org2019`` or ``fish-and-debt``; with ``-2`` if it is taken."""
    name = authors[0].family if authors else " ".join(title.split()[:3]) or links.host(address)
    plain = in_form(name, "NFKD").encode("ascii", "ignore").decode().lower()
    slug = "-".join("".join(char if char.isalnum() else " " for char in plain).split())[:_LONGEST_KEY].rstrip("-")
    base = (slug if slug[:1].isalpha() else f"source{slug}") + published[:4]
    key = base
    while key in taken:
        taken[base] += 1
        key = f"{base}-{taken[base]}"
    taken[key] = 1
    return key


@dataclass(frozen=True)
class Cite:
    """A citation: the number of its reference, and the pages that it cites, by name."""

    number: int
    pages: tuple[str, ...] = ()


@dataclass(frozen=True)
class CitedSentence:
    """A sentence on one line, never empty, and its citations in ascending order of the references."""

    text: str
    cites: tuple[Cite, ...]


@dataclass(frozen=True)
class HeadingBlock:
    """A heading on one line; ``level`` is 1 for a section."""

    level: int
    text: str


@dataclass(frozen=True)
class ParagraphBlock:
    """Sentences that belong together; never empty."""

    sentences: tuple[CitedSentence, ...]


Block = HeadingBlock | ParagraphBlock


@dataclass(frozen=True)
class Manuscript:
    """The content common to all formats. All texts are :func:`storm_pipeline.text.words.tidy`."""

    title: str  # never empty
    blocks: tuple[Block, ...]  # headings and paragraphs in reading order, the lead first
    references: tuple[Reference, ...]  # the cited sources by number
    models: tuple[str, ...]  # names of the models that wrote it; may be empty
    written: str  # ISO date, or empty
    language: str  # BCP 47 code of its language, ``und`` if unknown
    note: str = ""  # of the article for its readers, such as a licence

    def sentences(self) -> Iterator[CitedSentence]:
        """Return all sentences in reading order."""
        return _sentences(self.blocks)

    @property
    def provenance(self) -> str:
        """A sentence that states which models wrote the text, when, and from how many sources."""
        sentences = list(self.sentences())
        cited = sum(bool(sentence.cites) for sentence in sentences)
        models = f" ({', '.join(self.models)})" if self.models else ""
        when = f" on {day(self.written)}" if self.written else ""
        rest = f"{cited} of its {with_noun(len(sentences), 'sentence')} {'rests' if cited == 1 else 'rest'}"
        return (
            f"Written by a program{models}{when} from the sources below: "
            f"{rest} on {with_noun(len(self.references), 'source')}."
        )


def manuscript(article: Article) -> Manuscript:
    """Return the manuscript of an article. Raises DatasetError: its sentences cite too much."""
    links.require_presentable(article, {})  # formats repeat a sentence with each source
    article = with_sentences(article, _tidy)
    numbers = number_references(article)
    snippets = {(source.id, snippet.id): snippet for source in article.references for snippet in source.snippets}

    def read(sentence: Sentence) -> CitedSentence:
        cited: dict[int, list[Snippet]] = {}
        for citation in sentence.citations:
            snippet = snippets.get((citation.source_id, citation.snippet_id))
            cited.setdefault(numbers[citation.source_id], []).extend([snippet] if snippet else [])
        return CitedSentence(sentence.text, tuple(Cite(number, page_names(cited[number])) for number in sorted(cited)))

    blocks = tuple(_blocks(article.lead, article.sections, 1, read))
    citing: dict[int, list[str]] = {}
    for sentence in _sentences(blocks):
        for cite in sentence.cites:
            citing.setdefault(cite.number, []).append(sentence.text)
    return Manuscript(
        title=tidy(article.title) or _UNTITLED,
        blocks=blocks,
        references=read_references(article, citing),
        models=tuple(filter(None, dict.fromkeys(tidy(row.model) for row in article.usage.rows))),
        written=iso_date(article.written) or "",
        language=article.language if _is_language(article.language) else "und",
        note=tidy(article.note),
    )


def _sentences(blocks: Sequence[Block]) -> Iterator[CitedSentence]:
    return (sentence for block in blocks if isinstance(block, ParagraphBlock) for sentence in block.sentences)


def _tidy(sentence: Sentence) -> Sentence:
    """Return the sentence on one line; an empty one loses its citations, so that they number no source."""
    text = tidy(sentence.text)
    return Sentence(text, sentence.citations if text else ())


def _is_language(tag: str) -> bool:
    code, *more = tag.split("-")
    is_code = len(code) in {2, 3} and code.isalpha() and code.islower()
    return tag.isascii() and is_code and all(part.isalnum() and 2 <= len(part) <= 8 for part in more)


def _blocks(
    paragraphs: Sequence[Paragraph], sections: Sequence[Section], level: int, read: Callable[[Sentence], CitedSentence]
) -> Iterator[Block]:
    """Yield the paragraphs and the sections below them, whose headings are of ``level``."""
    for paragraph in paragraphs:
        if sentences := tuple(read(sentence) for sentence in paragraph.sentences if sentence.text):
            yield ParagraphBlock(sentences)
    for section in sections:
        yield HeadingBlock(min(level, _DEEPEST), tidy(section.heading) or _UNTITLED)
        yield from _blocks(section.paragraphs, section.subsections, level + 1, read)
