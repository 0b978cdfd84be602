"""From a fetched page to its text: what a reader came for, without navigation, notices and advertising."""

import math
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

from storm_pipeline.documents.chunks import count_words
from storm_pipeline.documents.decoding import decoded
from storm_pipeline.documents.pdf import read_pdf
from storm_pipeline.documents.plain import iso_date, plain_text, web_address
from storm_pipeline.errors import PageError
from storm_pipeline.identity import canonical_url
from storm_pipeline.pages.fetch import HTML, PDF, Fetched
from storm_pipeline.pages.interstitials import is_interstitial

_LEAST_WORDS = 50
_MOST_CHARACTERS = 3_000_000
_MOST_TAGS = 20_000  # the time that extraction takes grows with them, in places with their square
_MOST_TAGS_OF_METADATA = 5_000
_MOST_TEXT = 1_000_000
_MOST_PDF_PAGES = 200
_PDF_SECONDS = 20.0
_LONGEST_NAME = 200
_META_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{1,40})""", re.I)
_LANGUAGE = re.compile(r"[a-z]{2,3}(?=[-_]|\Z)", re.I)


@dataclass(frozen=True)
class Page:
    """What a page says, and what it says of itself.

    Attributes:
        url: the address it calls its own where that is on the same host, else the one that answered.
        title: may be empty.
        pages: page number from 1 (None where there are none) and text, in order.
        published: ISO date where known.
        author: names of its authors where known.
        site: name of its site where known.
        language: its language code where it states one, without region: ``en``.
    """

    url: str
    title: str
    pages: tuple[tuple[int | None, str], ...]
    published: str | None = None
    author: str | None = None
    site: str | None = None
    language: str | None = None


def extract(fetched: Fetched) -> Page:
    """The page that was fetched, read.

    Size and number of tags that are looked at are bounded, and so is the time; of a longer page the beginning is read.

    Raises:
        PageError: there is no text to read: too little of it, a notice, or a damaged file.
    """
    if fetched.content_type == PDF:
        page = _from_pdf(fetched)
    elif fetched.content_type in HTML:
        page = _from_html(fetched)
    else:
        text = decoded(fetched.body, _stated(fetched))[:_MOST_TEXT]
        page = Page(fetched.final_url, "", ((None, text),))
    whole = "\n".join(text for _, text in page.pages)
    words = count_words(whole[:_MOST_CHARACTERS])
    if is_interstitial(whole, words):
        raise PageError(f"{fetched.final_url} shows a notice instead of a page: {plain_text(whole)[:80]!r}")
    if words < _LEAST_WORDS:
        raise PageError(f"{fetched.final_url} holds only {math.floor(words)} words; it may need JavaScript")
    return page


def _stated(fetched: Fetched) -> list[str]:
    """The character sets that the server and the page itself state."""
    meta = _META_CHARSET.search(fetched.body[:4096])
    return [*filter(None, [fetched.charset]), *([meta[1].decode("ascii", "replace")] if meta else [])]


def _from_pdf(fetched: Fetched) -> Page:
    pdf = read_pdf(fetched.body, most_pages=_MOST_PDF_PAGES, seconds=_PDF_SECONDS)
    if not pdf.pages:
        raise PageError(f"{fetched.final_url} {pdf.problems[0]}")
    return Page(fetched.final_url, plain_text(pdf.title)[:_LONGEST_NAME], pdf.pages)


def _from_html(fetched: Fetched) -> Page:
    import trafilatura

    url = fetched.final_url
    html = decoded(fetched.body, _stated(fetched)).replace("\0", "")[:_MOST_CHARACTERS]
    text = main_text(html, url)
    if not text:
        raise PageError(f"{url} holds no text; it may need JavaScript")
    head = trafilatura.load_html(_with_fewer_tags(html, _MOST_TAGS_OF_METADATA))
    if head is None:
        return Page(url, "", ((None, text),))
    own, language = _own_address(head, url), _language(head)
    about = trafilatura.extract_metadata(head, url, extensive=False)
    return Page(
        own,
        plain_text(about.title)[:_LONGEST_NAME],
        ((None, text),),
        iso_date(about.date),
        plain_text(about.author)[:_LONGEST_NAME] or None,
        plain_text(about.sitename)[:_LONGEST_NAME] or None,
        language,
    )


def main_text(html: str, url: str) -> str:
    """What trafilatura takes for the main content of a page; empty where it finds none.

    Precision first: of 181 news pages that gave the better balance (benchmarks/extraction.py). Where that leaves too
    little, the balanced mode is asked.
    """
    import trafilatura

    html = _with_fewer_tags(html, _MOST_TAGS)
    for precise in (True, False):
        found = trafilatura.bare_extraction(html, url=url, favor_precision=precise, include_comments=False)
        text = (found.text if found else "") or ""
        if count_words(text) >= _LEAST_WORDS:
            break
    return text[:_MOST_TEXT]


def _with_fewer_tags(html: str, most: int) -> str:
    """The beginning of a page, up to a number of tags."""
    return html if html.count("<") <= most else "<".join(html.split("<", most)[:most])


def _own_address(tree: Any, url: str) -> str:
    """The address that a page calls its own; only one of the same host is believed, and no mere front page."""
    for link in tree.xpath("//link[@href]")[:500]:
        if "canonical" in (link.get("rel") or "").lower().split():
            try:
                own = web_address(urljoin(url, link.get("href")))
                here, there = urlsplit(canonical_url(url)), urlsplit(canonical_url(own))
            except ValueError:
                continue
            if own and here.netloc == there.netloc and (there.path or there.query or not here.path):
                return own
    return url


def _language(tree: Any) -> str | None:
    stated = _LANGUAGE.match((tree.get("lang") or tree.get("{http://www.w3.org/XML/1998/namespace}lang") or "").strip())
    return stated.group().lower() if stated else None
