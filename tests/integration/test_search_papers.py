"""What the engines of papers and Wikipedia do beyond what all do."""

from collections.abc import Mapping
from datetime import date
from typing import Any

import pytest
from engine_cases import BRISK, KEY, Case, Page, ask
from engine_cases_papers import (
    PAPERS,
    XHTML,
    arxiv_entry,
    arxiv_feed,
    crossref_work,
    kiwix_feed,
    kiwix_item,
    kiwix_page,
    pubmed_answer,
    pubmed_article,
    scholar_paper,
    wikipedia_answer,
    wikipedia_page,
)
from servers import Reply, Request, ScriptedServer

from storm_pipeline.errors import SearchError, SettingsError
from storm_pipeline.method.context import ContentsSource
from storm_pipeline.sources.engines import arxiv, crossref, pubmed, semantic_scholar
from storm_pipeline.sources.engines.kiwix import KiwixSearch
from storm_pipeline.sources.engines.wikipedia import wikipedia
from storm_pipeline.sources.search.base import TableOfContents
from storm_pipeline.sources.search.engine_info import SearchOptions
from storm_pipeline.sources.search.registry import open_search
from storm_pipeline.sources.search.web_service import WebService, WebServiceSearch

SINCE, UNTIL = date(2020, 2, 1), date(2021, 3, 31)
VARIABLES = ("SEMANTIC_SCHOLAR_API_KEY", "NCBI_API_KEY", "CROSSREF_MAILTO")
BOMB_DTD = (
    '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c SYSTEM "file:///etc/hostname">'
    '<!ENTITY d SYSTEM "http://127.0.0.1:9/d">]>'
)


def sent(request: Request) -> dict[str, str]:
    return dict(request.query) | request.form


def asked(service: WebService, case: Case, **options: Any) -> dict[str, str]:
    """The parameters that an engine opened with these options sends first."""
    with ScriptedServer(case.finds(case.page(1))) as server:
        made = WebServiceSearch(
            service, base_url=server.url, patience=BRISK, rate=1e6, options=SearchOptions(**options)
        )
        made.search("silk", 3)
        return sent(server.requests[0])


@pytest.mark.parametrize(
    ("service", "days", "since", "until"),
    [
        (arxiv.SERVICE, "search_query", "(all:silk) AND submittedDate:[202002010000 TO 209912312359]",
         "(all:silk) AND submittedDate:[198601010000 TO 202103312359]"),
        (semantic_scholar.SERVICE, "publicationDateOrYear", "2020-02-01:", ":2021-03-31"),
        (pubmed.SERVICE, "mindate", "2020/02/01", "1000/01/01"),
        (pubmed.SERVICE, "maxdate", "3000/12/31", "2021/03/31"),
        (crossref.SERVICE, "filter", "has-abstract:true,from-pub-date:2020-02-01",
         "has-abstract:true,until-pub-date:2021-03-31"),
    ],
)  # fmt: skip
def test_dates_of_publication_are_asked_for(service: WebService, days: str, since: str, until: str) -> None:
    case = PAPERS[service.info.name]
    assert asked(service, case, since=SINCE)[days] == since
    assert asked(service, case, until=UNTIL)[days] == until


def test_variables_that_may_be_set_are_used_and_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.setenv(name, f" {KEY} ")
    assert asked(pubmed.SERVICE, PAPERS["pubmed"])["api_key"] == KEY
    assert asked(crossref.SERVICE, PAPERS["crossref"])["mailto"] == KEY
    for name in VARIABLES:
        monkeypatch.delenv(name)
    assert "api_key" not in asked(pubmed.SERVICE, PAPERS["pubmed"])
    assert "mailto" not in asked(crossref.SERVICE, PAPERS["crossref"])
    with ScriptedServer(Reply(429)) as server:
        keyless = WebServiceSearch(semantic_scholar.SERVICE, base_url=server.url, patience=BRISK, rate=1e6)
        with pytest.raises(Exception, match="at once, or set SEMANTIC_SCHOLAR_API_KEY"):
            keyless.search("silk", 3)
        assert "x-api-key" not in server.requests[0].headers


@pytest.mark.parametrize("case", PAPERS.values(), ids=PAPERS)
@pytest.mark.parametrize(
    "query",
    ['ti:(silk OR "road")', "NOT AND", "silk[tiab]", "a" * 5000, "wörter 絲路 " * 300, "x-y"],
    ids=["fields", "operators", "tag", "long word", "long", "hyphen"],
)
def test_no_query_reaches_a_service_as_syntax(case: Case, query: str) -> None:
    with ScriptedServer(case.finds(case.page(1))) as server:
        found = case.open(server.url, BRISK).search(query, 1)
        assert [s.url for s in found] == [case.page(1).url]
        first = sent(server.requests[0])
    words = next(first[name] for name in ("gsrsearch", "search_query", "term", "query", "pattern") if name in first)
    assert len(words) <= 700
    if case is not PAPERS["crossref"]:  # it knows no operators
        plain = words.replace("all:", "").replace(" AND ", " ").removeprefix("(").replace(") hasabstract", "")
        assert not set(plain) & set('[](){}":-')


def test_wikipedia_chooses_the_passages_that_fit() -> None:
    filler = " ".join(f"The harvest of year {number} was plain." for number in range(200))
    text = f"EngineConfig words on trade.\n{filler}\n\n\n== History ==\n{filler}\n=== Silk ===\nSilk came by the road."
    page = PAPERS["wikipedia"].page(1)
    found, requests = ask(PAPERS["wikipedia"], PAPERS["wikipedia"].finds(page._replace(text=text)))
    assert [s.text for s in found] == ["Silk came by the road."]
    assert len(requests) == 1
    found, _ = ask(PAPERS["wikipedia"], PAPERS["wikipedia"].finds(page._replace(text=filler)))
    assert [s.text[:32] for s in found] == ["The harvest of year 0 was plain."]


def test_wikipedia_headings_are_whole_lines() -> None:
    page = PAPERS["wikipedia"].page(1)
    others = " ".join(("=" * 30_000 + "x", "=== x", "x ==", "= x ="))  # looking behind each sign takes hours
    text = f"Silk.\n==  Silk = road ===  \n{others}\n====\n"
    found, _ = ask(PAPERS["wikipedia"], PAPERS["wikipedia"].finds(page._replace(text=text)))
    assert "Silk = road" not in "".join(s.text for s in found)


def test_wikipedia_asks_for_each_whole_article_once() -> None:
    pages = [PAPERS["wikipedia"].page(number) for number in (1, 2, 3)]

    def script(request: Request) -> Reply:
        """As the service: one whole text an answer."""
        only = int(request.query.get("pageids", 1))
        hits = [wikipedia_page(page) for page in pages]
        for hit in hits:
            if hit["pageid"] != only:
                del hit["extract"]
        return Reply(body=wikipedia_answer(hits, request))

    with ScriptedServer(script) as server:
        engine = PAPERS["wikipedia"].open(server.url, BRISK)
        for _ in range(2):
            assert [s.text for s in engine.search("silk road", 5)] == ["text 1", "text 2", "text 3"]
        ids = [request.query.get("pageids") for request in server.requests]
    assert sorted(filter(None, ids)) == ["2", "3"]
    assert ids.count(None) == 2


def test_wikipedia_speaks_the_language_asked_for() -> None:
    with pytest.raises(SettingsError, match="not a language code"):
        wikipedia("de.evil.org/")
    with ScriptedServer(PAPERS["wikipedia"].finds()) as server:
        german = WebServiceSearch(wikipedia("de"), base_url=server.url, patience=BRISK, rate=1e6)
        german.search("die Straße: am Meer", 1)
        assert server.requests[0].query["gsrsearch"] == "die Straße am Meer"


def test_arxiv_keeps_dates_old_numbers_and_no_versions() -> None:
    old = Page("https://arxiv.org/abs/hep-th/9901001", "On  strings", "Old.")
    found, _ = ask(PAPERS["arxiv"], Reply(body=arxiv_feed([arxiv_entry(old, "v11"), arxiv_entry(old, "")])))
    assert [(s.url, s.title, s.published) for s in found] == [(old.url, "On strings", "2024-01-03")]


@pytest.mark.parametrize("entity", ["b", "c", "d"])
def test_entities_of_an_xml_document_stay_unread(entity: str) -> None:
    entry = arxiv_entry(PAPERS["arxiv"].page(1)).replace("text 1", f"before &{entity}; after")
    feed = arxiv_feed([entry]).replace("?>\n", "?>\n" + BOMB_DTD)
    found, _ = ask(PAPERS["arxiv"], Reply(body=feed))
    assert [s.text for s in found] == [f"before &{entity}; after"]


def test_pubmed_keeps_the_labels_of_abstracts() -> None:
    abstract = (
        '<AbstractText Label="BACKGROUND">Silk of <i>B. mori</i>.</AbstractText><AbstractText Label="MAIN RESULTS">'
        "H<sub>2</sub>O &lt; 5%.</AbstractText><AbstractText>End.</AbstractText>"
    )
    page = PAPERS["pubmed"].page(1)
    found, _ = ask(PAPERS["pubmed"], PAPERS["pubmed"].has(pubmed_article(page, abstract)))
    assert [s.text for s in found] == ["Background: Silk of B. mori. Main results: H₂O < 5%. End."]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("<Year>2019</Year><Month>Jul</Month><Day>5</Day>", "2019-07-05"),
        ("<Year>2019</Year><Month>07</Month>", "2019-07"),
        ("<Year>2019</Year><Season>Winter</Season>", "2019"),
        ("<MedlineDate>1998 Dec-1999 Jan</MedlineDate>", "1998"),
        ("<MedlineDate>Winter</MedlineDate>", None),
        ("<Year>2019</Year><Month>Feb</Month><Day>31</Day>", "2019-02"),
    ],
)
def test_pubmed_reads_dates_as_far_as_they_go(written: str, read: str | None) -> None:
    hit = pubmed_article(PAPERS["pubmed"].page(1), date=written)
    found, _ = ask(PAPERS["pubmed"], PAPERS["pubmed"].has(hit))
    assert [s.published for s in found] == [read]


@pytest.mark.parametrize("body", [XHTML, "<!doctype html><title>x</title>", b"", '{"error": "x"}'])
def test_pubmed_says_when_the_papers_themselves_cannot_be_read(body: Any) -> None:
    page = PAPERS["pubmed"].page(1)

    def script(request: Request) -> Reply:
        first = request.path.endswith("/esearch.fcgi")
        return Reply(body=pubmed_answer([pubmed_article(page)], request) if first else body)

    error, requests = ask(PAPERS["pubmed"], script)
    assert ("not XML" if body != XHTML else "unknown format") in str(error)
    assert sent(requests[1]) == {"db": "pubmed", "tool": "storm-pipeline", "api_key": KEY, "id": "1", "retmode": "xml"}


def test_semantic_scholar_prefers_abstracts_and_addresses_that_others_share() -> None:
    case = PAPERS["semantic-scholar"]
    paper = scholar_paper(case.page(1))
    brief = {"abstract": None, "tldr": {"model": "tldr@v2", "text": "brief"}}
    preprint = {"externalIds": {"ArXiv": "2401.00001", "DOI": "10.1/x"}, "publicationDate": None}
    bare = {"externalIds": None, "publicationDate": None, "year": None}
    found, _ = ask(case, case.has(paper, paper | brief | preprint, paper | bare))
    assert [(s.url, s.text, s.published) for s in found] == [
        (case.page(1).url, "text 1", "2019-05-02"),
        ("https://arxiv.org/abs/2401.00001", "brief", "2019"),
        ("https://www.semanticscholar.org/paper/0f40", "text 1", None),
    ]


def test_papers_carry_what_a_reference_needs() -> None:
    arxiv, crossref, pubmed, scholar = (PAPERS[n] for n in ("arxiv", "crossref", "pubmed", "semantic-scholar"))
    entry = arxiv_entry(arxiv.page(1)).replace(
        "</entry>",
        "<author><name>B. von Author</name></author>"
        '<x:doi xmlns:x="http://arxiv.org/schemas/atom">10.1000/ABC</x:doi></entry>',
    )
    (found,), _ = ask(arxiv, Reply(body=arxiv_feed([entry])))
    assert (found.author, found.publisher, found.doi) == ("A. Author; B. von Author", "arXiv", "10.1000/abc")

    authors = [{"given": "Jane", "family": "Doe"}, {"name": "The Group; B"}, {"family": "Roe"}, 7, {}]
    work = crossref_work(crossref.page(1)) | {"author": authors, "container-title": ["Sea", "S"], "publisher": "Press"}
    (found,), _ = ask(crossref, crossref.has(work))
    assert (found.author, found.site, found.publisher) == ("Doe, Jane; The Group, B; Roe", "Sea", "Press")
    assert found.url == f"https://doi.org/{found.doi}"

    people = "<AuthorList><Author><LastName>Doe</LastName><ForeName>Jane</ForeName></Author>" + (
        "<Author><CollectiveName>The Group</CollectiveName></Author></AuthorList>"
        '<ELocationID EIdType="pii">x</ELocationID><ELocationID EIdType="doi">10.1000/ABC</ELocationID></Article>'
    )
    (found,), _ = ask(pubmed, pubmed.has(pubmed_article(pubmed.page(1)).replace("</Article>", people, 1)))
    assert (found.author, found.site, found.doi) == ("Doe, Jane; The Group", "J", "10.1000/abc")

    paper = scholar_paper(scholar.page(1)) | {"authors": [{"name": "Jane Doe"}, {"name": None}], "venue": "Sea"}
    (found,), _ = ask(scholar, scholar.has(paper))
    assert (found.author, found.site, found.doi) == ("Jane Doe", "Sea", "10.1000/a.1")


SILK = """<p>The Silk Road linked China with the Mediterranean.<sup class="reference">[1]</sup></p>
<section><h2>History<span class="mw-editsection">[edit]</span></h2><p>Zhang Qian travelled west.</p>
<section><h3>Han dynasty</h3><p>Horses came from Fergana &amp; beyond.</p></section></section>
<details><summary><h2>Goods</h2></summary><p>Jade and paper.</p></details>
<section><h2>See also</h2><p>Horses everywhere</p><section><h3>Portals</h3></section></section>
<div class="navbox"><p>Horses in a box</p></div>"""
WIKI = "https://en.wikipedia.org/wiki/"
PAGES = {
    "A/Silk_Road": ("Silk Road", SILK, WIKI + "Silk_Road"),
    "A/Amber_Road": ("Amber Road", "<p>Amber went from the Baltic to Rome.</p>" + "<p>In Aquileia.</p>" * 40, ""),
    "A/Caf%C3%A9%3F": ("Café?", f'<p>Coffee in the harbour.</p><link rel="canonical" href="{WIKI}x">', "javascript:"),
}
TABLE = TableOfContents("Silk Road", ((1, "History"), (2, "Han dynasty"), (1, "Goods")))


def book(request: Request, *, root: str = "", pages: Mapping[str, tuple[str, str, str]] = PAGES) -> Reply:
    """A search finds the pages that have all words; a page is given at its link."""
    if request.path != f"{root}/search":
        found = pages.get(request.path.removeprefix(f"{root}/content/history/"))
        return Reply(body=kiwix_page(*found)) if found else Reply(404)
    words = request.query["pattern"].casefold().split()
    hits = [
        kiwix_item(title, f"{root}/content/history/{path}")
        for path, (title, body, _) in pages.items()
        if all(word in f"{title} {body}".casefold() for word in words)
    ]
    return Reply(body=kiwix_feed(hits[: int(request.query["pageLength"])], f"{len(hits):,}"))


def test_passages_with_online_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer(book) as server:
        monkeypatch.setenv("KIWIX_URL", f" {server.url}/ ")
        found = open_search("kiwix:history").search.search("Which horses came from Fergana?", 3).snippets
    assert [(s.url, s.title, s.engine) for s in found] == [(f"{WIKI}Silk_Road", "Silk Road", "kiwix")]
    assert "Horses came from Fergana & beyond." in found[0].text
    for left_out in ("[1]", "[edit]", "everywhere", "in a box"):
        assert left_out not in found[0].text


def test_words_that_no_article_has_and_then_the_commonest_are_left_out() -> None:
    with ScriptedServer(book) as server:
        engine = KiwixSearch("history", server.url, patience=BRISK)
        assert {s.title for s in engine.search("zyzzyva harbour coffee in 1999", 3)} == {"Café?"}
        assert {s.title for s in engine.search("Aquileia coffee road amber", 1)} == {"Amber Road"}
        assert len({s.title for s in engine.search("road traders amber silk", 1)}) == 1
        assert len({s.title for s in engine.search("road", 5)}) == 2


def test_a_server_below_a_root_and_pages_that_name_no_address_of_their_own() -> None:
    with ScriptedServer(lambda request: book(request, root="/kiwix")) as server:
        found = KiwixSearch("history", f"{server.url}/kiwix/", patience=BRISK).search("harbour", 1)
    assert [s.url for s in found] == [f"{server.url}/kiwix/content/history/A/Caf%C3%A9%3F"]


def test_a_page_that_cannot_be_had_or_read_costs_no_other() -> None:
    pages = {"gone": ("Gone", "silk", ""), **PAGES, "A/Odd": ("Odd", "silk", "")}

    def script(request: Request) -> Reply:
        if request.path.endswith("gone"):
            return Reply(404)
        return Reply(body=b"") if request.path.endswith("Odd") else book(request, pages=pages)

    with ScriptedServer(script) as server:
        found = KiwixSearch("history", server.url, patience=BRISK).search("silk", 3)
    assert {s.title for s in found} == {"Silk Road"}


@pytest.mark.parametrize(
    ("titles", "table"),
    [
        (("Silk Road", "silk_Road", " Silk  Road#Goods", "SILK ROAD"), TABLE),
        (("", "Silk", "Silk Roads", "\x00", "#"), None),
    ],
)
def test_contents(titles: tuple[str, ...], table: TableOfContents | None) -> None:
    with ScriptedServer(book) as server:
        source: ContentsSource = KiwixSearch("history", server.url, patience=BRISK).contents
        assert [source.table_of_contents(title) for title in titles] == [table] * len(titles)


def test_what_is_wrong_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingsError, match="kiwix:BOOK"):
        open_search("kiwix")
    monkeypatch.setenv("KIWIX_URL", "history.zim")
    with pytest.raises(SettingsError, match="not the address of a kiwix-serve: correct KIWIX_URL"):
        open_search("kiwix:history")
    with (
        ScriptedServer(Reply(400, "No such book")) as server,
        pytest.raises(SearchError, match="check the name of the book"),
    ):
        KiwixSearch("history.zim", server.url, patience=BRISK).search("silk", 1)
