"""The engines of papers and of Wikipedia, as their services speak."""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any
from xml.sax.saxutils import escape

from engine_cases import BROKEN_JSON, KEY, Case, Page, Said, opens
from servers import Reply, Request

from storm_pipeline.sources.engines import arxiv, crossref, pubmed, semantic_scholar
from storm_pipeline.sources.engines.kiwix import KiwixSearch
from storm_pipeline.sources.engines.wikipedia import wikipedia

XHTML = '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>Log in</title></head><body/></html>'
BOMB = (
    '<!DOCTYPE x [<!ENTITY a0 "ha">'
    + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 12))
    + "]><x y='&a11;'>&a11;</x>"
)
_ODD: tuple[Any, ...] = (None, 7, "text", [], {}, {"title": "no address"})


BROKEN_XML: Mapping[str, Said] = {
    "xhtml": (Reply(body=XHTML), "unknown format"),
    "json": (Reply(body={"feed": []}), "not XML"),
    **{
        name: (Reply(body=body), "not XML")
        for name, body in {
            "html": "<!doctype html><title>Log in</title>", "damaged": "<feed><entry/></fee", "binary": b"\xff\xfe\x00",
            "empty": b"", "deep": b"<a>" * 200_000, "bomb": BOMB,
        }.items()
    },
}  # fmt: skip


def _pages(address: str) -> Callable[[int], Page]:
    return lambda number: Page(address.format(number), f"Title {number}", f"text {number}")


def _number(page: Page) -> int:
    return int(re.findall("[0-9]+", page.url)[-1])


def _keyless(variable: str) -> dict[str, Said]:
    said = f"set {variable} to a valid key"
    return {str(status): (Reply(status, {"error": KEY}), said) for status in (401, 403)}


def wikipedia_page(page: Page, **fields: Any) -> dict[str, Any]:
    number = _number(page)
    return {
        "pageid": number, "ns": 0, "title": page.title, "index": number, "extract": page.text, "fullurl": page.url
    } | fields  # fmt: skip


def wikipedia_answer(hits: list[Any], request: Request) -> dict[str, Any]:
    """Pages come in the order of their numbers, not of their rank."""
    return {"batchcomplete": True, "query": {"pages": hits[::-1]}} if hits else {"batchcomplete": True}


def arxiv_entry(page: Page, version: str = "v2") -> str:
    return (
        f"<entry><id>{escape(page.url).replace('https', 'http')}{version}</id><updated>2024-02-01T10:00:00Z</updated>"
        f"<published>2024-01-03T17:59:59Z</published><title>{escape(page.title)}</title>"
        f"<summary>\n  {escape(page.text)}\n</summary><author><name>A. Author</name></author></entry>"
    )


def arxiv_feed(hits: list[Any], total: int | None = None) -> str:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">'
        '<opensearch:totalResults xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">'
        f"{len(hits) if total is None else total}</opensearch:totalResults>{''.join(hits)}</feed>"
    )


def pubmed_article(page: Page, abstract: str | None = None, date: str = "") -> str:
    parts = f"<AbstractText>{escape(page.text)}</AbstractText>" if abstract is None else abstract
    return (
        f'<PubmedArticle><MedlineCitation><PMID Version="1">{_number(page)}</PMID><Article>'
        f"<Journal><JournalIssue><PubDate>{date}</PubDate></JournalIssue><Title>J</Title></Journal>"
        f"<ArticleTitle>{escape(page.title)}</ArticleTitle><Abstract>{parts}</Abstract></Article>"
        "<CommentsCorrectionsList><CommentsCorrections><PMID>99</PMID></CommentsCorrections></CommentsCorrectionsList>"
        "</MedlineCitation></PubmedArticle>"
    )


def pubmed_answer(hits: list[Any], request: Request) -> Any:
    """The numbers that are found, best first; or the papers with the numbers asked for, in an order of its own."""
    if request.path.endswith("/esearch.fcgi"):
        numbers = [found[1] for hit in hits if (found := re.search(r"<PMID[^>]*>([0-9]+)", str(hit)))]
        return {"header": {"type": "esearch"}, "esearchresult": {"count": "1", "idlist": numbers}}
    doctype = '<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN" "https://x/y.dtd">'
    return f'<?xml version="1.0" ?>\n{doctype}<PubmedArticleSet>{"".join(hits[::-1])}</PubmedArticleSet>'


def scholar_paper(page: Page) -> dict[str, Any]:
    doi = page.url.removeprefix("https://doi.org/").upper()
    return {
        "paperId": "0f40", "title": page.title, "abstract": page.text, "tldr": None, "year": 2019,
        "publicationDate": "2019-05-02", "externalIds": {"DOI": doi}, "url": "https://www.semanticscholar.org/paper/0f40",
    }  # fmt: skip


def crossref_work(page: Page) -> dict[str, Any]:
    return {
        "DOI": page.url.removeprefix("https://doi.org/"),
        "title": [page.title],
        "abstract": f"<jats:title>Abstract</jats:title>\n<jats:p>{escape(page.text)}</jats:p>",
        "issued": {"date-parts": [[2019, 5]]},
    }


def kiwix_item(title: str, link: str) -> str:
    return (
        f"<item><title>{escape(title)}</title><link>{escape(link)}</link><description>…of <b>silk</b>……</description>"
        "<book><title>History</title></book><wordCount>1,204</wordCount></item>"
    )


def kiwix_page(title: str, body: str, address: str = "") -> str:
    link = f'<link rel="canonical" href="{address}">' if address else ""
    return f"<html><head><title>{title}</title>{link}</head><body><h1>{title}</h1>{body}</body></html>"


def kiwix_feed(items: list[str], total: str = "0") -> str:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0" '
        'xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" xmlns:atom="http://www.w3.org/2005/Atom"><channel>'
        f"<title>Search: silk</title><opensearch:totalResults>{total}</opensearch:totalResults>{''.join(items)}"
        "</channel></rss>"
    )


def _kiwix_answer(hits: list[Any], request: Request) -> str:
    """The results of a search, or the page of one of them, whose text stands in a comment of the result."""
    if request.path == "/search":
        return kiwix_feed(hits, str(len(hits)))
    hit = next(hit for hit in hits if f"<link>{request.path}</link>" in hit)
    return hit.partition("<!--")[2].partition("-->")[0]


def _kiwix_hit(page: Page) -> str:
    html = f'<html><head><link rel="canonical" href="{page.url}"></head><body><p>{page.text}</p></body></html>'
    return kiwix_item(page.title, f"/content/history/{page.url.rpartition('/')[2]}") + f"<!--{html}-->"


PAPERS: dict[str, Case] = {
    "kiwix": Case(
        lambda url, patience: KiwixSearch("history", url, patience=patience, rate=math.inf),
        "/search",
        _kiwix_hit,
        _kiwix_answer,
        query={"pattern": "silk road", "books.name": "history", "format": "xml", "pageLength": "5"},
        page=_pages("https://en.wikipedia.org/wiki/Title_{}"),
        odd=(
            "<item/>",
            "<item><title>no link</title><link/></item>",
            kiwix_item("elsewhere", "http://else.org/content/history/A"),
            kiwix_item("script", "javascript:alert(1)"),
            kiwix_item("empty", "/content/history/Empty"),
        ),
        garbled="lone \u0085 one\n",
        searches=3,
        refusals={
            "400": (Reply(400, "No such book: history"), "check the name of the book, 'history'"),
            "404": (Reply(404), "check the engine's address, and whether the book 'history' has a full-text index"),
        },
        malformed=BROKEN_XML,
    ),
    "wikipedia": Case(
        opens(wikipedia(), "/w/api.php"),
        "/w/api.php",
        wikipedia_page,
        wikipedia_answer,
        query={
            "action": "query", "format": "json", "formatversion": "2", "prop": "extracts|info|pageprops",
            "explaintext": "1", "exsectionformat": "wiki", "exlimit": "1", "generator": "search",
            "gsrsearch": "silk road", "gsrnamespace": "0", "gsrlimit": "5", "inprop": "url",
            "ppprop": "disambiguation",
        },
        page=_pages("https://en.wikipedia.org/wiki/Title_{}"),
        odd=(
            *_ODD,
            {"pageid": 50, "title": "no address", "extract": "text"},
            {"pageid": 51, "fullurl": "javascript:alert(1)", "extract": "text"},
            {"pageid": "x", "fullurl": "https://en.wikipedia.org/wiki/X", "extract": "text"},
            {"pageid": 52, "fullurl": "https://en.wikipedia.org/wiki/Empty", "extract": ""},
            {"pageid": 53, "fullurl": "https://en.wikipedia.org/wiki/Odd", "extract": 7, "pageprops": 7, "index": "1"},
            {"pageid": 54, "fullurl": "https://en.wikipedia.org/wiki/Many", "extract": "Silk road may refer to: …",
             "pageprops": {"disambiguation": ""}},
        ),
        searches=2,
        malformed=BROKEN_JSON | {
            "error": (
                Reply(body={"error": {"code": "ratelimited", "info": "You have exceeded your rate limit."}}),
                "You have exceeded your rate limit.",
            ),
            "odd query": (Reply(body={"query": {"pages": {"1": {}}}}), "unknown format"),
        },
    ),
    "arxiv": Case(
        opens(arxiv.SERVICE, "/api/query", key=None),
        "/api/query",
        arxiv_entry,
        lambda hits, _: arxiv_feed(hits),
        query={
            "search_query": "all:silk AND all:road", "start": "0", "max_results": "5", "sortBy": "relevance",
            "sortOrder": "descending",
        },
        page=_pages("https://arxiv.org/abs/2401.0000{}"),
        odd=(
            "<entry/>",
            "<entry><id>http://arxiv.org/abs/2401.00050v1</id></entry>",
            "<entry><id>http://else.org/abs/2401.00051v1</id><summary>text</summary></entry>",
            "<entry><id>javascript:alert(1)</id><summary>text</summary></entry>",
        ),
        garbled="lone \u0085 one\n",
        searches=2,
        malformed=BROKEN_XML | {
            "announced": (Reply(body=arxiv_feed([], 12)), "reported 12 papers but returned none"),
            "error": (
                Reply(body=arxiv_feed(["<entry><id>http://arxiv.org/api/errors#x</id><title>Error</title>"
                                       "<summary>unbalanced bracket</summary></entry>"])),
                "did not understand the query: unbalanced bracket",
            ),
        },
    ),
    "semantic-scholar": Case(
        opens(semantic_scholar.SERVICE, "/search"),
        "/search",
        scholar_paper,
        lambda hits, _: {"total": len(hits), "offset": 0} | ({"data": hits} if hits else {}),
        query={
            "query": "silk road", "limit": "10",
            "fields": "title,abstract,tldr,url,year,publicationDate,externalIds,authors,venue",
        },
        headers={"x-api-key": KEY},
        page=_pages("https://doi.org/10.1000/a.{}"),
        odd=(
            *_ODD,
            {"url": "https://www.semanticscholar.org/paper/1", "abstract": None, "tldr": None},
            {"url": "https://www.semanticscholar.org/paper/2", "abstract": "", "tldr": {"text": 7}},
            {"url": "https://www.semanticscholar.org/paper/3", "abstract": " ", "tldr": "text"},
            {"url": "javascript:alert(1)", "abstract": "text", "externalIds": []},
            {"url": 7, "abstract": "text", "externalIds": {"DOI": None, "ArXiv": 7}},
        ),
        refusals=_keyless("SEMANTIC_SCHOLAR_API_KEY"),
    ),
    "pubmed": Case(
        opens(pubmed.SERVICE, "/eutils/"),
        "/eutils/esearch.fcgi",
        pubmed_article,
        pubmed_answer,
        form={
            "db": "pubmed", "tool": "storm-pipeline", "api_key": KEY, "term": "(silk road) AND hasabstract",
            "retmode": "json", "retmax": "5", "sort": "relevance",
        },
        page=_pages("https://pubmed.ncbi.nlm.nih.gov/{}/"),
        odd=(
            "<PubmedArticle/>",
            "<PubmedArticle><MedlineCitation><PMID>50</PMID></MedlineCitation></PubmedArticle>",
            "<PubmedArticle><MedlineCitation><PMID>51</PMID><Article><Abstract><AbstractText/></Abstract></Article>"
            "</MedlineCitation></PubmedArticle>",
            "<PubmedArticle><MedlineCitation><PMID>x</PMID><Article><Abstract><AbstractText>text</AbstractText>"
            "</Abstract></Article></MedlineCitation></PubmedArticle>",
            "<DeleteCitation><PMID>52</PMID></DeleteCitation>",
        ),
        garbled="lone \u0085 one\n",
        searches=2,
        refusals=_keyless("NCBI_API_KEY"),
        malformed=BROKEN_JSON | {
            "error": (Reply(body={"error": "API rate limit exceeded", "count": "4"}), "unknown format"),
            "query": (Reply(body={"esearchresult": {"ERROR": "Search Backend failed"}}), "Search Backend failed"),
        },
    ),
    "crossref": Case(
        opens(crossref.SERVICE, "/works", key="me@x.org"),
        "/works",
        crossref_work,
        lambda hits, _: {"status": "ok", "message-type": "work-list", "message": {"items": hits}},
        query={
            "query": "silk road", "rows": "10", "filter": "has-abstract:true",
            "select": "DOI,title,abstract,issued,author,container-title,publisher",
            "mailto": "me@x.org",
        },
        page=_pages("https://doi.org/10.1000/b.{}"),
        odd=(
            *_ODD,
            {"DOI": "10.1000/none"},
            {"DOI": "10.1000/empty", "abstract": "<jats:title>Abstract</jats:title><jats:p> </jats:p>"},
            {"DOI": "10.1000/odd", "abstract": ["text"]},
            {"DOI": "javascript:alert(1)", "abstract": "text"},
        ),
        malformed=BROKEN_JSON | {"no items": (Reply(body={"message": {"items": {}}}), "unknown format")},
    ),
}  # fmt: skip
