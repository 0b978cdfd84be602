"""How a run finds its sources: the engine chosen, pages read and remembered, sources left out."""

import gc
import time
import weakref
from pathlib import Path

import pytest

from storm_pipeline.errors import PageError, StoppedError
from storm_pipeline.evidence.run_search import RunSearch, open_engine
from storm_pipeline.interfaces.server.source_search import SourceSearch
from storm_pipeline.settings import Settings
from storm_pipeline.sources.pages.extract import Page
from storm_pipeline.sources.search.edge import with_checks
from storm_pipeline.sources.search.engine_info import Engine
from storm_pipeline.sources.search.fake import FakeSearch
from storm_pipeline.sources.search.registry import choose
from storm_pipeline.types import Snippet

pytestmark = pytest.mark.usefixtures("no_keys")
TEXT = "Caravans crossed the desert in winter. Camels carried silk to Rome. Merchants met in oases."


class Web:
    """A double of the web: pages by address, and how often each was asked for."""

    def __init__(self, **pages: str) -> None:
        self.pages = {f"https://{host}.org/1": text for host, text in pages.items()}
        self.asked: list[str] = []

    def __call__(self, url: str) -> Page:
        self.asked.append(url)
        if url not in self.pages:
            raise PageError(f"{url} answered 404")
        return Page(url, "A page", ((None, self.pages[url]),))


def engine(*hosts: str, name: str = "searxng") -> Engine:
    hits = [Snippet(f"https://{host}.org/1", "Hit", f"The engine's words on {host}.", engine=name) for host in hosts]
    return Engine(with_checks(FakeSearch(lambda _: hits, name=name)), name)


def given(tmp_path: Path, **changes: object) -> Settings:
    return Settings(cache=tmp_path, **changes)  # type: ignore[arg-type]


def test_the_engine_is_chosen_by_key_then_reach_then_what_is_here(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose(lambda _: False).spec == "wiki-leads"
    assert choose(lambda _: True).spec == "wikipedia"
    monkeypatch.setenv("BRAVE_API_KEY", "k")
    choice = choose(lambda _: pytest.fail("a key is set"))
    spec, why = choice.spec, choice.why
    assert spec == "brave"
    assert "BRAVE_API_KEY" in why


def test_what_of_ones_own_documents_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text(TEXT)
    (tmp_path / "bad.pdf").write_bytes(b"no pdf")
    opened = open_engine(given(tmp_path, search=f"corpus:{tmp_path}"))
    assert not opened.why
    assert any("bad.pdf" in problem for problem in opened.problems)


def test_reading_ones_own_documents_can_be_stopped(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.txt").write_text(TEXT)
    checks: list[None] = []

    def check() -> None:
        checks.append(None)
        if len(checks) == 3:
            raise StoppedError("stopped")

    with pytest.raises(StoppedError):
        open_engine(given(tmp_path, search=f"fused:wiki-leads+corpus:{tmp_path}"), check=check)
    assert len(checks) == 3


def test_pages_of_collections_and_of_ones_own_engine_are_not_fetched(tmp_path: Path) -> None:
    web = Web()
    own = Engine(engine("alpha").search, "own", custom=True)
    for opened in (engine("alpha", name="wiki-leads"), own):
        assert RunSearch(opened, given(tmp_path), fetch=web).search("silk", 2).snippets[0].origin == "snippet"
    assert RunSearch(engine("alpha"), given(tmp_path, read_pages="never"), fetch=web).search("silk", 2)
    assert web.asked == []


def test_a_date_in_the_address_dates_snippets_that_have_none(tmp_path: Path) -> None:
    news = [
        Snippet("https://alpha.org/2013/11/parade", "Parade", TEXT),
        Snippet("https://beta.org/2013/11/05/parade", "Parade", TEXT, published="2014-01-02"),
    ]
    search = RunSearch(Engine(with_checks(FakeSearch(lambda _: news)), "own", custom=True), given(tmp_path))
    assert [snippet.published for snippet in search.search("silk", 2).snippets] == ["2013-11", "2014-01-02"]


def test_pages_are_remembered_and_replayed(tmp_path: Path) -> None:
    web = Web(alpha=TEXT)
    first = RunSearch(engine("alpha"), given(tmp_path), fetch=web).search("silk", 2)
    replay = given(tmp_path, search="searxng", search_cache="replay")
    assert RunSearch(engine("alpha"), replay, fetch=web).search("silk", 2) == first
    assert "not recorded" in RunSearch(engine("gamma"), replay, fetch=web).search("silk", 2).unread[0].reason
    assert web.asked == ["https://alpha.org/1"]


def test_sources_are_judged_before_they_are_fetched_and_every_result_names_what_it_excludes(tmp_path: Path) -> None:
    hits = [
        Snippet("https://www.reddit.com/r/silk", "Reddit", TEXT, engine="searxng"),
        Snippet("https://alpha.org/1", "Alpha", TEXT, engine="searxng"),
    ]
    opened = Engine(with_checks(FakeSearch(lambda _: hits)), "searxng")
    web = Web(alpha=TEXT)
    search = RunSearch(opened, given(tmp_path), fetch=web)
    for query in ("silk", "camels"):
        result = search.search(query, 3)
        assert {s.url for s in result.snippets} == {"https://alpha.org/1"}
        assert [(one.url, one.query) for one in result.excluded] == [("https://www.reddit.com/r/silk", query)]
    assert web.asked == ["https://alpha.org/1"]
    allowed = given(tmp_path, allow_sources=("reddit.com/r/silk",), deny_sources=("alpha.org",), read_pages="never")
    assert [s.url for s in RunSearch(opened, allowed).search("silk", 3).snippets] == ["https://www.reddit.com/r/silk"]


def test_a_server_keeps_no_page_after_its_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    web, kept = Web(a=TEXT, b=TEXT), weakref.WeakSet[Page]()

    def fetch(url: str) -> Page:
        kept.add(page := web(url))
        return page

    monkeypatch.setattr("storm_pipeline.evidence.page_reading.WebPages", lambda: fetch)
    search = SourceSearch(given(tmp_path, read_pages="always"), engine("a", "b").search)
    assert {passage.origin for passage in search.find("silk", 2)} == {"page"}
    while kept:  # a thread may be about to end
        time.sleep(0.01)
        gc.collect()


def test_a_page_that_leads_to_what_is_kept_out_is_left_out(tmp_path: Path) -> None:
    def redirecting(url: str) -> Page:
        return Page("https://en.wikipedia.org/wiki/Silk_Road", "Silk Road", ((None, TEXT),))

    settings = given(tmp_path, exclude_titles=("Silk Road",))
    search = RunSearch(engine("alpha"), settings, fetch=redirecting)
    result = search.search("silk", 2)
    assert result.snippets == ()
    assert [one.title for one in result.excluded] == ["Silk Road"]
    assert [one.url for one in result.seen] == ["https://alpha.org/1", "https://en.wikipedia.org/wiki/Silk_Road"]
    assert search.excludes_title("Silk Road")
    assert not search.excludes_title("Spice trade")


@pytest.mark.parametrize(
    ("spec", "own"),
    [
        ("corpus:{0}", True),
        ("fused:[corpus:{0}]+[corpus:{0}]", True),
        ("fused:[corpus:{0}]+arxiv", False),
        ("arxiv", False),
    ],
)
def test_an_engine_knows_whether_it_searches_own_documents_alone(tmp_path: Path, spec: str, own: bool) -> None:
    (tmp_path / "a.txt").write_text("Silk was sold in the markets of Samarkand and Bukhara for many centuries.")
    settings = Settings(search=spec.format(tmp_path / "a.txt"), cache=tmp_path / "cache")
    assert open_engine(settings).is_private is own
