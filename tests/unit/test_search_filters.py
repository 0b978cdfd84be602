"""Engines: the registry, what they share before they ask and after they are answered, and engines over engines."""

import re
import time
import unicodedata
from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from storm_pipeline.errors import CorpusError, SearchError, SettingsError
from storm_pipeline.sources.documents.markup import fragment_text
from storm_pipeline.sources.engines import wiki_leads
from storm_pipeline.sources.engines.fused import fuse_engines, fuse_pages
from storm_pipeline.sources.search.edge import with_checks
from storm_pipeline.sources.search.engine_info import EngineConfig, SearchOptions
from storm_pipeline.sources.search.fake import FakeSearch
from storm_pipeline.sources.search.paging import collect_pages
from storm_pipeline.sources.search.queries import bare_words, topic_words, with_sites
from storm_pipeline.sources.search.registry import engine_info, engines, is_collection, open_search, split_specs
from storm_pipeline.text.identity import canonical_url, host_of
from storm_pipeline.text.plain import plain_text
from storm_pipeline.types import Snippet

KEYS = sorted({name for info in engines() for name in info.variables if name.endswith("_KEY")})


def test_the_registry_opens_each_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    leads = tmp_path / "leads.json"
    leads.write_text('{"Silk": {"extract": "Silk is a fibre."}}', "utf-8")
    fetched: list[object] = []

    def fetch(*args: object) -> Path:
        fetched.append(args)
        return leads

    monkeypatch.setattr(wiki_leads, "fetch", fetch)
    for name in KEYS:
        monkeypatch.setenv(name, "k")
    monkeypatch.setenv("SEARXNG_URL", "http://localhost:1")
    (tmp_path / "own.txt").write_text("Silk.", "utf-8")
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


DOMAINS = st.lists(st.sampled_from(["a.org", "b.co.uk", "c.net", "long-name-of-a-host.example"]), unique=True).map(
    tuple
)


def test_domains_are_read_once_and_not_for_each_result() -> None:
    class Name(str):
        read = 0

        def casefold(self) -> str:
            Name.read += 1
            return super().casefold()

    options = SearchOptions(without_domains=tuple(Name(f"D{number}.org.") for number in range(99)))
    hosts = ["d7.org", "a.b.d98.org", "xd7.org", "d7.org.x", "org", ""]
    assert [options.allow(host) for host in hosts] == [False, False, True, True, True, True]
    assert Name.read == 99


@given(st.text(max_size=120), DOMAINS, DOMAINS, st.integers(1, 120), st.none() | st.integers(1, 30))
def test_operators_never_burst_a_query(
    query: str, wanted: tuple[str, ...], unwanted: tuple[str, ...], limit: int, words: int | None
) -> None:
    options = SearchOptions(domains=wanted, without_domains=unwanted)
    line = with_sites(query, options, limit=limit, words=words)
    assert len(line) <= limit
    assert words is None or len(line.split()) <= words
    assert bool(line) == bool(plain_text(query))


def test_operators_follow_the_query() -> None:
    two = SearchOptions(domains=("a.org", "b.org"), without_domains=("c.a.org",))
    assert with_sites("silk", two, limit=400) == "silk (site:a.org OR site:b.org) -site:c.a.org"
    assert with_sites("silk", SearchOptions(domains=("a.org",)), limit=400) == "silk site:a.org"
    assert with_sites("silk", two, limit=400, words=6) == "silk"
    long = with_sites("silk " * 100, SearchOptions(domains=("a.org",)), limit=40)
    assert long == "silk silk silk silk silk silk site:a.org"
    assert with_sites(" ", two, limit=400) == ""


@given(
    st.lists(st.lists(st.sampled_from("abcdef"), max_size=4), min_size=1, max_size=5),
    st.integers(1, 8),
    st.integers(1, 4),
)
def test_paging_gives_the_first_pages_once(results: list[list[str]], k: int, size: int) -> None:
    asked: list[int] = []

    def page(number: int) -> list[Snippet]:
        asked.append(number)
        return [Snippet(f"https://{name}.org", "t", f"{name} {number}") for name in results[number]]

    found = collect_pages(page, k, size=size, max_pages=len(results))
    urls = [snippet.url for snippet in found]
    assert len(set(urls)) <= k
    assert len(set(found)) == len(found)
    assert [url for i, url in enumerate(urls) if url not in urls[:i]] == sorted(set(urls), key=urls.index)
    assert asked == list(range(len(asked)))
    assert (len(asked) - 1) * size < k
    everything = [canonical_url(f"https://{name}.org") for number in asked for name in results[number]]
    assert {canonical_url(url) for url in urls} == set(list(dict.fromkeys(everything))[:k])


SYNTAX = st.sampled_from(
    ["ti:", "au:x", '"', "(", ")", "[tiab]", "[", "]", "AND", "OR", "NOT", "ANDNOT", "TO", "*", "?", "~2", "^3", "\\",
     "/", "&&", "||", "!", "-", "+", "{", "}", "silk", "Darwin's", "3.5", "絲路", "हिन्दी", "café", "\ud800", "\x00"]
)  # fmt: skip
QUERIES = st.one_of(st.text(max_size=60), st.lists(SYNTAX, max_size=12).map(" ".join), st.lists(SYNTAX).map("".join))


@given(QUERIES)
@example("to be or NOT to be")
def test_no_syntax_is_left_in_a_query(query: str) -> None:
    words = bare_words(query)
    for word in words:
        assert re.fullmatch(r"[^\s\"()\[\]{}:^~*?\\/+\-!&|<>=,;]+", word)
        assert word not in {"AND", "OR", "NOT", "ANDNOT", "TO"}
        assert word[0] not in "'." and word[-1] not in "'."
        word.encode()
    assert set(topic_words(query)) <= set(words)
    assert bool(topic_words(query)) == bool(words)


@given(st.text(st.characters(categories=["L", "M", "N"]), min_size=1, max_size=20))
def test_a_word_of_any_script_is_kept_whole(word: str) -> None:
    composed = unicodedata.normalize("NFC", word)
    assert [found.lower() for found in bare_words(word)] == [composed.lower()]


@pytest.mark.parametrize(
    ("fragment", "text"),
    [
        ("<jats:title>Abstract</jats:title><jats:p>Silk.</jats:p>", "Silk."),
        ("<jats:sec><jats:title>Aims:</jats:title><jats:p>A</jats:p></jats:sec>\n<jats:sec><jats:title>Results"
         "</jats:title><jats:p>B</jats:p></jats:sec>", "Aims: A Results: B"),
        ("<jats:p>H<jats:sub>2</jats:sub>O, p &lt; 0.05 &amp;amp; n &gt; 3</jats:p>", "H₂O, p < 0.05 & n > 3"),
        ("10&lt;sup&gt;6&lt;/sup&gt; of H&lt;sub&gt;2&lt;/sub&gt;O", "10⁶ of H₂O"),
        ('of 1904<jats:sup><jats:xref ref-type="bibr" rid="b3">3</jats:xref></jats:sup> by', "of 1904 by"),
        ("<jats:p>open<jats:italic>ed", "opened"),
        ("a < b and c > d <!-- gone -->", "a < b and c > d"),
        (None, ""),
    ],
)  # fmt: skip
def test_fragments_become_text(fragment: object, text: str) -> None:
    assert fragment_text(fragment) == text


@pytest.mark.slow
def test_a_fragment_of_marks_takes_no_more_than_linear_time() -> None:
    assert fragment_text("<title></title>" * 20_000 + "< " * 20_000 + "x").endswith("x")


@pytest.mark.parametrize("nested", ["<i>", "<q>", "<title>", '<i class="sup">a b', "<sup>", "x<i class=fn>1<i>"])
def test_nested_elements_are_not_read_once_for_each_level(nested: str) -> None:
    start = time.process_time()
    text = nested * 120 + "<b></b><!---->" * 12_000 + "<i>a </i><i>a</i>" * 6_000 + "<p>"
    assert fragment_text(text).count("a") >= 12_000
    assert time.process_time() - start < 6  # of all levels some 20


def test_a_comment_in_a_formula_is_left_out() -> None:
    assert fragment_text("<p>x<msup><mi>y</mi><!-- z --><mn>2</mn></msup></p>") == "xy²"


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


FUSED = ["fused:", "fused", "fused:a+", "fused:+", "fused:[a", "fused:a]", "fused:[]", "fused:" + "you+" * 16 + "you"]
REFUSED = [("corpus:", "needs a path"), ("wiki-leads:x", "takes no argument"), ("you:k", "takes no argument")]


@pytest.mark.parametrize(("spec", "said"), [*REFUSED, *((spec, "search engine `fused`") for spec in FUSED)])
def test_specifications_that_cannot_be_used_are_refused(spec: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=said):
        open_search(spec, EngineConfig(cache=tmp_path))


def test_the_registry_opens_nested_engines(tmp_path: Path) -> None:
    odd = tmp_path / "c++"
    odd.mkdir()
    (odd / "own.txt").write_text("Silk came by road.", "utf-8")
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
