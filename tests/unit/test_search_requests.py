"""What engines share before they ask and after they are answered: queries, operators, paging, JSON values."""

from datetime import UTC, date, datetime

from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.documents.plain import objects, one_line, plain_text, texts
from storm_pipeline.identity import canonical_url
from storm_pipeline.search.engine_info import SearchOptions
from storm_pipeline.search.paging import paged
from storm_pipeline.search.queries import with_sites
from storm_pipeline.types import Snippet

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
DOMAINS = st.lists(st.sampled_from(["a.org", "b.co.uk", "c.net", "long-name-of-a-host.example"]), unique=True).map(
    tuple
)


@given(st.text(max_size=120), st.integers(1, 60), st.integers(1, 8))
def test_a_line_keeps_to_characters_and_words(query: str, limit: int, words: int) -> None:
    line = one_line(query, limit, words)
    assert len(line) <= limit
    assert len(line.split()) <= words
    assert plain_text(query).startswith(line)
    assert bool(line) == bool(plain_text(query))


def test_a_line_is_cut_between_words() -> None:
    assert one_line("one two three", 9) == "one two"
    assert one_line("one two three", words=2) == "one two"
    assert one_line("one two three", 5, 2) == "one"


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

    found = paged(page, k, size=size, max_pages=len(results))
    urls = [snippet.url for snippet in found]
    assert len(set(urls)) <= k
    assert len(set(found)) == len(found)
    assert [url for i, url in enumerate(urls) if url not in urls[:i]] == sorted(set(urls), key=urls.index)
    assert asked == list(range(len(asked)))
    assert (len(asked) - 1) * size < k
    everything = [canonical_url(f"https://{name}.org") for number in asked for name in results[number]]
    assert {canonical_url(url) for url in urls} == set(list(dict.fromkeys(everything))[:k])


@given(JSON)
def test_any_json_value_gives_objects_and_texts(value: object) -> None:
    assert all(isinstance(entry, dict) for entry in objects(value))
    assert isinstance(value, list) or not objects(value) + texts(value)
    assert texts(value) == list(dict.fromkeys(map(plain_text, texts(value))))
    assert "" not in texts(value)


def test_a_period_fills_its_open_end() -> None:
    first, last = date(2024, 1, 2), date(2024, 6, 30)
    assert SearchOptions().period() is None
    assert SearchOptions(since=first, until=last).period() == (first, last)
    assert SearchOptions(until=last).period() == (date(1970, 1, 1), last)
    today = datetime.now(UTC).date()
    assert SearchOptions(since=first).period() in {(first, today), (first, datetime.now(UTC).date())}
