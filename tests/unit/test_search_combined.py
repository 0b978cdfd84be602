"""Engines over engines: their specifications, fusion, and how a failure that is survived is told."""

from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.errors import SearchError, SettingsError
from storm_pipeline.sources.engines.fused import fuse_engines, fuse_pages
from storm_pipeline.sources.search.engine_info import EngineConfig, SearchOptions
from storm_pipeline.sources.search.fake import FakeSearch
from storm_pipeline.sources.search.registry import open_search, split_specs
from storm_pipeline.types import Snippet


def found(*urls: str) -> list[Snippet]:
    return [Snippet(url, url, f"text of {url}") for url in urls]


def engine(name: str, *urls: str) -> FakeSearch:
    return FakeSearch(lambda _: found(*urls), name=name)


def failing(name: str) -> FakeSearch:
    return FakeSearch({}, name=name, failing=lambda _: True)


@given(st.text(st.sampled_from("ab:+>[] "), max_size=14))
def test_any_argument_is_read_or_refused(argument: str) -> None:
    try:
        parts = split_specs("x", argument)
    except SettingsError as error:
        assert "write x:A" in str(error)
        return
    assert all(parts)
    assert all(part == part.strip() and part.count("[") == part.count("]") for part in parts)
    if "[" not in argument:
        assert parts == [part.strip() for part in argument.split("+")]


REFUSED = ["fused:", "fused", "fused:a+", "fused:+", "fused:[a", "fused:a]", "fused:[]", "fused:" + "you+" * 16 + "you"]


@pytest.mark.parametrize("spec", REFUSED)
def test_specifications_that_name_no_engine_are_refused(spec: str) -> None:
    with pytest.raises(SettingsError, match=r"search engine `fused`"):
        open_search(spec)


def test_the_registry_opens_nested_engines(tmp_path: Path) -> None:
    odd = tmp_path / "c++"
    odd.mkdir()
    (odd / "own.txt").write_text("Silk came by road.", encoding="utf-8")
    opened = open_search(f"fused:[fused:wikipedia:de+[corpus:{odd}]]+[corpus:{odd}]", EngineConfig(cache=tmp_path))
    assert opened.search.name == "fused:fused:wikipedia+corpus+corpus"
    options = SearchOptions(without_domains=("x.org",))
    alone = open_search(f"fused:[corpus:{odd}]+[corpus:{odd}]", EngineConfig(options=options))
    assert [s.text for s in alone.search.search("silk", 3).snippets] == ["Silk came by road."]
    with pytest.raises(SettingsError, match="`corpus` does not support since"):
        open_search(f"fused:arxiv+[corpus:{odd}]", EngineConfig(options=SearchOptions(since=date(2024, 1, 1))))
    with pytest.raises(SettingsError, match="there is no search engine 'altavista'"):
        open_search("fused:arxiv+altavista")


def test_a_page_of_several_engines_comes_first_with_the_passages_of_each() -> None:
    twice = Snippet("http://www.b.org/", "B", "another passage")
    both = fuse_engines([engine("one", "https://a.org", "https://b.org"), FakeSearch(lambda _: [twice], name="two")])
    assert both.name == "fused:one+two"
    assert [s.text for s in both.search("silk", 5).snippets] == [
        "text of https://b.org", "another passage", "text of https://a.org"
    ]  # fmt: skip
    assert [s.text for s in fuse_pages([found("https://a.org", "https://b.org"), [twice]], 1)] == [
        "text of https://b.org", "another passage"
    ]  # fmt: skip


RANKINGS = st.lists(st.lists(st.sampled_from([f"https://{c}.org" for c in "abcdef"]), max_size=6), max_size=4)


@given(RANKINGS, st.integers(0, 5))
def test_fusion_keeps_every_page_once_and_in_a_fair_order(rankings: list[list[str]], k: int) -> None:
    pages = list(dict.fromkeys(s.url for s in fuse_pages([found(*urls) for urls in rankings], 99)))
    assert set(pages) == {url for urls in rankings for url in urls}
    for above, below in pairwise(pages):
        ranks = [(_rank(urls, above), _rank(urls, below)) for urls in rankings]
        assert any(a < b for a, b in ranks) or all(a == b for a, b in ranks)
    assert list(dict.fromkeys(s.url for s in fuse_pages([found(*urls) for urls in rankings], k))) == pages[:k]
    assert fuse_pages([found(*rankings[0])] * 2, 9) == fuse_pages([found(*rankings[0])], 9) if rankings else True


def _rank(urls: list[str], url: str) -> float:
    return list(dict.fromkeys(urls)).index(url) if url in urls else float("inf")


def test_only_when_all_fail_the_search_does() -> None:
    with pytest.raises(SearchError, match=r"`one` failed: .*`two` failed: "):
        fuse_engines([failing("one"), failing("two")]).search("silk", 3)
    result = fuse_engines([failing("one"), engine("two", "u:a")]).search("silk", 3)
    assert [s.url for s in result.snippets] == ["u:a"]
    (detail,) = result.lost
    assert detail.startswith("the search engine `one` failed: one was set to fail for 'silk'")
    assert detail.endswith("went on without it")
    with pytest.raises(SettingsError, match="at least one engine"):
        fuse_engines([])
