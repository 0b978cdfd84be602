"""A server that speaks as kiwix-serve does: what is found in its books, at which address, and which headings."""

from collections.abc import Mapping

import pytest
from engine_cases import BRISK
from engine_cases_papers import kiwix_feed, kiwix_item, kiwix_page
from servers import Reply, Request, ScriptedServer

from storm_pipeline.errors import SearchError, SettingsError
from storm_pipeline.method.context import ContentsSource
from storm_pipeline.sources.engines.kiwix import KiwixSearch
from storm_pipeline.sources.search.base import TableOfContents
from storm_pipeline.sources.search.registry import open_search

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
    "A/Caf%C3%A9%3F": ("Café?", "<p>Coffee was roasted in the harbour.</p>", "javascript:alert(1)"),
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
