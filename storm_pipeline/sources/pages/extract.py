"""Extraction of a page's main text without navigation, and of its meta tags (Highwire, PRISM, Dublin Core)."""

import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from storm_pipeline.errors import PageError
from storm_pipeline.sources.documents import formats
from storm_pipeline.sources.documents.decoding import declared_charsets, decode, is_mojibake, mend
from storm_pipeline.sources.documents.markup import parse_page, with_headings
from storm_pipeline.sources.pages.connection import Limits
from storm_pipeline.sources.pages.fetch import HTML, PDF, TEXT, FetchedPage
from storm_pipeline.sources.search.papers import MAX_AUTHORS
from storm_pipeline.text.chunks import count_words
from storm_pipeline.text.files import table_beside
from storm_pipeline.text.plain import iso_date, plain_text, readable_title, stated_date
from storm_pipeline.text.words import folded_words

_MAX_META_TAGS = 500
_AUTHORS = ("citation_author", "dc.creator", "dcterms.creator")
_JOURNAL = ("citation_journal_title", "prism.publicationname", "citation_conference_title", "citation_inbook_title")
_PUBLISHER = ("citation_publisher", "dc.publisher", "dcterms.publisher")
_PUBLISHED = ("citation_publication_date", "citation_date", "citation_online_date", "dc.date", "dcterms.issued")

_MAX_WORDS = 250  # maximum words of an interstitial
_CHECKS = frozenset({"captcha", "cloudflare"})
_NOTICES: list[str] = table_beside(__file__)["notices"]
_MIN_WORDS = 50
_MAX_CHARACTERS = 3_000_000
_MAX_TAGS = 20_000  # extraction time grows with them, sometimes quadratically
_MAX_METADATA_TAGS = 5_000
_MAX_TEXT = 1_000_000
_MAX_PDF_PAGES = 200
MAX_NAME_CHARS = 200  # characters of a title, a name or a heading


def is_interstitial(text: str, words: float) -> bool:
    """Return whether a text of ``words`` words is only a notice in place of the page."""
    is_notice = words <= _MAX_WORDS and any(notice in text.lower() for notice in _NOTICES)
    return is_notice or (words <= _MAX_WORDS and not _CHECKS.isdisjoint(folded_words(text)))


@dataclass(frozen=True)
class Page:
    """Text and metadata of a page."""

    url: str  # after redirects; the one that it declares may be another author's
    title: str  # may be empty
    # page number from 1 (None if unpaginated) and text, with Markdown headings, in order
    pages: tuple[tuple[int | None, str], ...]
    published: str | None = None  # ISO date if known
    author: str | None = None  # names of its authors if known
    site: str | None = None
    language: str | None = None  # its declared language code, if any, without region: ``en``
    publisher: str | None = None
    accessed: str | None = None  # ISO date on which it was fetched, if known


def extract_isolated(fetched: FetchedPage) -> Page:
    """Call :func:`extract` in the process for foreign files. Raises PageError: also if reading takes too long."""
    from storm_pipeline.sources.documents.isolated import NotReadError, reading

    body = fetched.body
    header = fetched.url, fetched.final_url, fetched.content_type, fetched.charset
    try:
        (page,) = reading.read(_yield_extract, *header, body, size=len(body), is_pdf=body.lstrip()[:5] == b"%PDF-")
    except NotReadError as error:
        raise PageError(f"{fetched.final_url} {error}") from error
    return page


def _yield_extract(url: str, final_url: str, content_type: str, charset: str | None, body: bytes) -> Iterator[Page]:
    yield extract(FetchedPage(url, final_url, content_type, body, charset))


def extract(fetched: FetchedPage) -> Page:
    """Extract text and metadata of a fetched page.

    Size, number of tags and time are bounded; only the beginning of a longer page is read. Raises PageError: too little
    text, only a notice, mojibake, or a damaged or unsupported file.
    """
    fetched = _with_real_type(fetched)
    is_pdf = fetched.content_type == PDF
    page = (
        _from_pdf(fetched) if is_pdf else _from_html(fetched) if fetched.content_type in HTML else _from_text(fetched)
    )
    if not is_pdf:
        page = replace(page, title=mend(page.title), pages=tuple((n, mend(text)) for n, text in page.pages))
    whole = "\n".join(text for _, text in page.pages)
    if not is_pdf and is_mojibake(whole):
        raise PageError(f"{fetched.final_url} is in no character set that can be told; its text would be unreadable")
    words = count_words(whole[:_MAX_CHARACTERS])
    if is_interstitial(whole, words):
        raise PageError(f"{fetched.final_url} shows a notice instead of a page: {plain_text(whole)[:80]!r}")
    if words < _MIN_WORDS:
        raise PageError(f"{fetched.final_url} contains only {math.floor(words)} words; it may need JavaScript")
    return replace(page, published=page.published or stated_date(whole, page.title))


def _with_real_type(fetched: FetchedPage) -> FetchedPage:
    """Return the page with the content type detected from its bytes; gzip files are unpacked."""
    kind = formats.format_of(fetched.body)
    if kind == formats.GZIP:
        fetched = replace(fetched, body=_unpack(fetched))
        kind = formats.format_of(fetched.body)
    if kind == formats.PDF:
        return replace(fetched, content_type=PDF)
    if kind == formats.HTML:
        return fetched if fetched.content_type in HTML else replace(fetched, content_type="text/html")
    if not kind and fetched.content_type in {*HTML, TEXT, PDF}:
        return fetched
    what = {formats.DOCX: "a Word file", formats.EPUB: "an EPUB book"}.get(kind, kind) or "of an unknown kind"
    raise PageError(f"{fetched.final_url} is {what}; only HTML, plain text and PDF are read")


def _unpack(fetched: FetchedPage) -> bytes:
    unpacker = zlib.decompressobj(wbits=31)
    try:
        body = unpacker.decompress(fetched.body, Limits.max_bytes)
    except zlib.error as error:
        raise PageError(f"{fetched.final_url} is a damaged gzip file; it was not read") from error
    if unpacker.unconsumed_tail:
        raise PageError(f"{fetched.final_url} unpacks to more than {Limits.max_bytes:,} bytes; such pages are not read")
    return body


def _text_of(fetched: FetchedPage) -> str:
    return decode(fetched.body, [*filter(None, [fetched.charset]), *declared_charsets(fetched.body)])


def _from_text(fetched: FetchedPage) -> Page:
    return Page(fetched.final_url, "", ((None, _text_of(fetched)[:_MAX_TEXT]),))


def _from_pdf(fetched: FetchedPage) -> Page:
    from storm_pipeline.sources.documents.pdf import read_pdf

    pdf = read_pdf(fetched.body, max_pages=_MAX_PDF_PAGES)
    if not pdf.pages:
        raise PageError(f"{fetched.final_url} {pdf.problems[0]}")
    return Page(fetched.final_url, readable_title(pdf.title)[:MAX_NAME_CHARS], pdf.pages)


def _from_html(fetched: FetchedPage) -> Page:
    import trafilatura

    url = fetched.final_url
    html = _text_of(fetched).replace("\0", "")[:_MAX_CHARACTERS]
    text = main_text(html, url)
    if not text:
        raise PageError(f"{url} contains no text; it may need JavaScript")
    head = parse_page(_truncate(html, _MAX_METADATA_TAGS))
    if head is None:
        return Page(url, "", ((None, text),))
    text = with_headings(text, parse_page(_truncate(html, _MAX_TAGS)))
    tags = _citation_tags(head)
    about = trafilatura.extract_metadata(head, url, extensive=False)
    return Page(
        url,
        readable_title(about.title)[:MAX_NAME_CHARS],
        ((None, text),),
        iso_date(about.date) or tags["published"],
        tags["author"] or plain_text(about.author)[:MAX_NAME_CHARS] or None,
        tags["site"] or plain_text(about.sitename)[:MAX_NAME_CHARS] or None,
        _language(head),
        tags["publisher"],
    )


def _citation_tags(tree: Any) -> dict[str, str | None]:
    """Return the values of the first 500 meta tags, by fields of :class:`Page`; no DOI: it may be another's work."""
    tags: dict[str, list[str]] = {}
    for tag in tree.xpath("//meta[@content]")[:_MAX_META_TAGS]:
        name = (tag.get("name") or tag.get("property") or "").strip().lower()
        if content := plain_text(tag.get("content"))[:MAX_NAME_CHARS]:
            tags.setdefault(name, []).append(content)

    def values_of(names: tuple[str, ...]) -> list[str]:
        return next((tags[name] for name in names if name in tags), [])

    authors = [author.replace(";", ",") for author in values_of(_AUTHORS)[:MAX_AUTHORS]]
    return {
        "published": next((day for text in values_of(_PUBLISHED) if (day := iso_date(text.replace("/", "-")))), None),
        "author": "; ".join(dict.fromkeys(authors)) or None,
        "site": next(iter(values_of(_JOURNAL)), None),
        "publisher": next(iter(values_of(_PUBLISHER)), None),
    }


def main_text(html: str, url: str) -> str:
    """Return the main content of a page by trafilatura; empty if it finds none.

    Favours precision, which gave the best F1 on 181 news pages (docs/lab/bench.md), unless the result is too short.
    """
    import trafilatura

    tree = parse_page(_truncate(html, _MAX_TAGS))
    if tree is None:
        return ""
    for precise in (True, False):
        extraction = trafilatura.bare_extraction(tree, url=url, favor_precision=precise, include_comments=False)
        text = (extraction.text if extraction else "") or ""
        if count_words(text) >= _MIN_WORDS:
            break
    return text[:_MAX_TEXT]


def _truncate(html: str, max_tags: int) -> str:
    return html if html.count("<") <= max_tags else "<".join(html.split("<", max_tags)[:max_tags])


def _language(tree: Any) -> str | None:
    declared = tree.get("lang") or tree.get("{http://www.w3.org/XML/1998/namespace}lang") or ""
    code = declared.strip().lower().replace("_", "-").partition("-")[0]
    return code if len(code) in {2, 3} and code.isascii() and code.isalpha() else None
