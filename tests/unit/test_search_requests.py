"""What engines share before they ask and after they are answered: queries, operators, paging, dates, fragments."""

import re
import unicodedata
from datetime import UTC, date, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from storm_pipeline.sources.documents.markup import fragment_text
from storm_pipeline.sources.search.engine_info import SearchOptions
from storm_pipeline.sources.search.paging import collect_pages
from storm_pipeline.sources.search.papers import arxiv_address, doi_address, partial_date
from storm_pipeline.sources.search.queries import bare_words, topic_words, with_sites
from storm_pipeline.text.identity import canonical_url
from storm_pipeline.text.plain import plain_text
from storm_pipeline.types import Snippet

DOMAINS = st.lists(st.sampled_from(["a.org", "b.co.uk", "c.net", "long-name-of-a-host.example"]), unique=True).map(
    tuple
)


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


def test_a_period_fills_its_open_end() -> None:
    first, last = date(2024, 1, 2), date(2024, 6, 30)
    assert SearchOptions().period() is None
    assert SearchOptions(since=first, until=last).period() == (first, last)
    assert SearchOptions(until=last).period() == (date(1970, 1, 1), last)
    today = datetime.now(UTC).date()
    assert SearchOptions(since=first).period() in {(first, today), (first, datetime.now(UTC).date())}


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


@given(st.dates())
def test_a_known_date_is_told_and_an_unknown_part_left_out(day: date) -> None:
    parts = [day.year, str(day.month), f" {day.day:02} "]
    assert partial_date(parts) == day.isoformat()
    assert partial_date(parts[:2]) == day.isoformat()[:7]
    assert partial_date([day.year, None, day.day]) == day.isoformat()[:4]


def test_addresses_of_papers() -> None:
    assert doi_address(" 10.1000/ABC#x ") == "https://doi.org/10.1000/abc%23x"
    assert doi_address("https://x") == doi_address(None) == arxiv_address(7) == ""
    assert arxiv_address("hep-th/9901001") == "https://arxiv.org/abs/hep-th/9901001"


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
    assert fragment_text("<title></title>" * 100_000 + "< " * 100_000 + "x").endswith("x")
