"""The fake engine, the registry, and plain text from untrusted values."""

from pathlib import Path

import pytest

from storm_pipeline.errors import CorpusError, SettingsError
from storm_pipeline.sources.engines import wiki_leads
from storm_pipeline.sources.search.edge import with_checks
from storm_pipeline.sources.search.engine_info import EngineConfig, SearchOptions
from storm_pipeline.sources.search.fake import FakeSearch
from storm_pipeline.sources.search.registry import engine_info, engines, is_collection, open_search
from storm_pipeline.text.identity import host_of
from storm_pipeline.text.plain import iso_date, web_address
from storm_pipeline.types import Snippet

KEYS = sorted({name for info in engines() for name in info.variables if name.endswith("_KEY")})


def snippets(*urls: str) -> list[Snippet]:
    return [Snippet(url, "t", f"text {n}") for n, url in enumerate(urls)]


def test_the_registry_opens_each_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    leads = tmp_path / "leads.json"
    leads.write_text('{"Silk": {"extract": "Silk is a fibre."}}', encoding="utf-8")
    fetched: list[object] = []

    def fetch(*args: object) -> Path:
        fetched.append(args)
        return leads

    monkeypatch.setattr(wiki_leads, "fetch", fetch)
    for name in KEYS:
        monkeypatch.setenv(name, "k")
    monkeypatch.setenv("SEARXNG_URL", "http://localhost:1")
    (tmp_path / "own.txt").write_text("Silk.", encoding="utf-8")
    specs = ["wiki-leads", f"corpus:{tmp_path / 'own.txt'}", "searxng", "searxng:http://localhost:2", " you "]
    opened = [open_search(spec, EngineConfig(cache=tmp_path)).search for spec in specs]
    assert [engine.name for engine in opened] == ["wiki-leads", "corpus", "searxng", "searxng", "you"]
    assert [s.title for s in opened[0].search("silk", 1).snippets] == ["Silk"]
    assert fetched == [("wikipedia-vital-article-leads-en", tmp_path, None)]
    for name in ("tavily", "brave", "serper", "exa", "duckduckgo"):
        assert open_search(name).search.name == name
    keys = {engine.name: engine.key_set for engine in engines()}
    assert (keys["wiki-leads"], keys["corpus:PATH"], keys["searxng[:URL]"], keys["you"]) == (None, None, True, True)
    assert all(engine.key_set for engine in engines() if engine.variables)


def test_an_engine_is_known_by_its_name_alone() -> None:
    assert [engine_info(info.base_name) for info in engines()] == list(engines())
    assert [info.base_name for info in engines() if is_collection(info.base_name)] == [
        info.base_name for info in engines() if not info.open_web
    ]
    assert not any(map(is_collection, ("", "fake", "wiki_leads", "os.path", "wiki-leads:x")))


@pytest.mark.parametrize("spec", ["", ":", "altavista", "google", "YOU"])
def test_unknown_engines_are_refused_with_the_known_ones(spec: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        open_search(spec, EngineConfig(cache=tmp_path))
    for engine in engines():
        assert engine.name in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "said"),
    [("corpus:", "needs a path"), ("wiki-leads:x", "takes no argument"), ("you:k", "takes no argument")],
)
def test_arguments_that_an_engine_cannot_use_are_refused(spec: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=said):
        open_search(spec, EngineConfig(cache=tmp_path))


def test_domains_are_held_for_every_engine() -> None:
    hosts = ["a.org", "x.a.org", "aa.org", "b.a.org", "c.net"]
    engine = FakeSearch(lambda _: [Snippet(f"https://{host}/1", "t", "silk") for host in hosts])
    inside = with_checks(engine, options=SearchOptions(domains=("A.org",), without_domains=("b.a.org",)))
    assert [host_of(s.url) for s in inside.search("silk", 5).snippets] == ["a.org", "x.a.org"]
    assert len(with_checks(engine, options=SearchOptions(without_domains=("c.net",))).search("silk", 2).snippets) == 2


def test_the_registry_names_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARXNG_URL", "  ")
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    for info in engines():
        for variable in info.variables[:1]:
            with pytest.raises(SettingsError, match=variable):
                open_search(info.name.partition("[")[0], EngineConfig(cache=tmp_path))
    with pytest.raises(CorpusError, match="does not exist"):
        open_search(f"corpus:{tmp_path / 'none'}", EngineConfig(cache=tmp_path))
    assert not any(engine.key_set for engine in engines())


def test_dates_and_addresses() -> None:
    assert iso_date("2024-02-29T10:00:00Z") == "2024-02-29"
    assert iso_date("2024-02-30") is iso_date("2024-13-01") is iso_date("20240101") is None
    assert web_address(" https://a.org/x ") == "https://a.org/x"
    assert web_address("http://[bad") == web_address("mailto:x@y.z") == web_address("https:///x") == ""
