"""The edge at which engines of anybody's become searches of the package's own."""

from collections.abc import Callable
from datetime import date
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.errors import SearchError, SettingsError
from storm_pipeline.sources.engines.fused import fuse_engines
from storm_pipeline.sources.search.edge import LONGEST_TEXT, LONGEST_TITLE, cut_long_texts, with_checks
from storm_pipeline.sources.search.fake import FakeSearch
from storm_pipeline.sources.search.result import SearchResult
from storm_pipeline.text.identity import LONGEST_ADDRESS
from storm_pipeline.types import Snippet, Work

SILK = Snippet("https://a.org", "Silk", "Silk was traded.")
PLAIN = {"url": "https://b.org", "title": "Jade", "text": "Jade came from Khotan."}


def engine(answer: Any, name: Any = "mine") -> Any:
    """An engine that gives the answer, or what a function of the query gives."""
    return SimpleNamespace(name=name, search=lambda query, k: answer(query) if callable(answer) else answer)


def found(answer: Any) -> SearchResult:
    return with_checks(engine(answer)).search("silk", 3)


def test_snippets_and_dicts_are_taken() -> None:
    more = {"published": "2020-01-01", "page": 4, "author": "Jane", "site": "B", "language": "en", "score": 0.7}
    assert found([SILK, PLAIN, PLAIN | more, {"url": "u:c", "text": "t", "title": None}]) == SearchResult(
        (
            SILK,
            Snippet(**PLAIN, engine="mine"),
            Snippet(**PLAIN, published="2020-01-01", page=4, engine="mine", author="Jane", site="B", language="en"),
            Snippet("u:c", "", "t", engine="mine"),
        )
    )
    assert found(iter([SILK])) == found(one for one in [SILK]) == found({SILK: 1}.keys()) == SearchResult((SILK,))
    assert found([]) == found(()) == SearchResult()


NO_RESULTS: list[tuple[Any, str]] = [
    (None, "no fields, being None"),
    ("https://a.org", "no fields, being an object of type str"),
    ({"title": "T", "text": "t"}, "no `url` but `title`, `text`"),
    ({"url": "u:a", "title": "T"}, "no `text` but `url`, `title`"),
    ({"url": "u:a", "text": " \n"}, "no `text`"),
    ({"url": 5, "text": "t"}, "`url` of type int"),
    ({**PLAIN, "published": date(2020, 1, 1)}, "`published` of type date"),
    ({**PLAIN, "page": "four"}, "`page` of type str"),
    ({"link": "u:a", "snippet": "t"}, "no `url` and no `text` but `link`, `snippet`"),
    *(({}, "no `url` and no `text`"), (Snippet("", "T", "t"), "no `url`"), (Snippet("u:a", "T", ""), "no `text`")),
    (Snippet("u:a", None, "t"), "`title` of type NoneType"),  # type: ignore[arg-type]
]
FORM = "expected a list of Snippet objects, or of dicts with url, title and text"


@pytest.mark.parametrize(("item", "said"), NO_RESULTS)
def test_an_item_that_is_no_result_is_lost_and_the_others_stay(item: Any, said: str) -> None:
    told = f"the search engine `mine` returned 1 result that cannot be used, such as number 2, which has {said}: {FORM}"
    assert found([SILK, item]) == SearchResult((SILK,), lost=(told,))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        *((None, "None"), ("text", "an object of type str"), ({"results": []}, "an object of type dict")),
        (SILK, "an object of type Snippet"),
    ],
)
def test_an_answer_that_is_no_list_is_lost(answer: Any, said: str) -> None:
    lost = f"the search engine `mine` returned {said} instead of results: {FORM}"
    assert found(answer) == SearchResult(lost=(lost,))


def raising(error: BaseException) -> Callable[[str], Any]:
    def search(_: str) -> Any:
        raise error

    return search


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ConnectionError("refused\n by  host"), "the engine `mine` raised ConnectionError: refused by host"),
        (KeyError("results"), "the engine `mine` raised KeyError: 'results'"),
        (OSError("half \ud800 of it"), "the engine `mine` raised OSError: half of it"),
        (RecursionError(), "the engine `mine` raised RecursionError"),
    ],
)
def test_any_error_of_an_engine_is_a_search_error(error: Exception, said: str) -> None:
    with pytest.raises(SearchError) as caught:
        found(raising(error))
    assert str(caught.value) == said
    assert caught.value.__cause__ is error


class Nameless:
    def search(self, query: str, k: int) -> list[Snippet]:
        return []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (Nameless(), "not an object of type Nameless, whose `name` is None: it must be a non-empty single-line string"),
        (engine([], name=5), "whose `name` is 5: it must be a non-empty single-line string"),
        (engine([], name="two\nlines"), "it must be a non-empty single-line string"),
        (SimpleNamespace(name="x", search=[]), "which has no method `search`"),
        (5, "not an object of type int, which has no method `search`"),
        (FakeSearch, "not the class FakeSearch: create an instance of it"),
    ],
)
def test_what_is_no_engine_is_refused(given: Any, said: str) -> None:
    with pytest.raises(SettingsError, match=r"`search\(query, k\)`") as caught:
        with_checks(given)
    assert said in str(caught.value)
    with pytest.raises(SettingsError):
        fuse_engines([FakeSearch({}), given])


def found_bounds(text: str, title: str = "") -> tuple[Snippet, tuple[str, ...]]:
    engine = with_checks(FakeSearch(lambda _: [Snippet("https://example.org/a", title, text)]))
    result = cut_long_texts(engine.search("q", 1), engine.name)
    return result.snippets[0], result.lost


TITLES = st.lists(st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=9), max_size=5).map(" ".join)
"""Titles as people write them; `documents.plain.readable_title` repairs others."""


@given(st.text(min_size=1, max_size=300).filter(str.strip), TITLES)
def test_what_is_short_stays_but_for_what_cannot_be_encoded(text: str, title: str) -> None:
    snippet, lost = found_bounds(text, title)
    assert (snippet.text, snippet.title, lost) == (text, title, ())


@given(st.text("ab \n", min_size=1, max_size=40), st.integers(1, 3))
def test_what_is_long_is_cut_at_white_space_where_there_is_some(piece: str, times: int) -> None:
    text = "x" + piece * (times * LONGEST_TEXT // len(piece) + 1)
    snippet, lost = found_bounds(text, text)
    assert len(snippet.text) <= LONGEST_TEXT
    assert len(snippet.title) <= LONGEST_TITLE
    assert text.startswith(snippet.text)
    assert "1 texts of more than 50,000 characters" in lost[0]


def test_a_result_whose_address_is_endless_is_lost() -> None:
    items = [Snippet(f"https://example.org/{'a' * LONGEST_ADDRESS}", "A", "a"), Snippet("https://b.org/b", "B", "b")]
    result = with_checks(FakeSearch(lambda _: items)).search("q", 2)
    assert [snippet.title for snippet in result.snippets] == ["B"]
    assert "1 result that cannot be used, such as number 1, which has an address of 8,0" in result.lost[0]


def test_an_address_does_not_begin_with_a_user_name_that_looks_like_a_host() -> None:
    urls = ["https://who.int@evil.example/a@b", "http://a.org:80@b.org?c", "https://b.org/@c?d@e", "mailto:a@b.org"]
    urls.append("https://evil.example\\@who.int/")
    found = with_checks(FakeSearch(lambda _: [Snippet(url, "A", "a") for url in urls])).search("q", 5).snippets
    assert [own.url for own in found] == [
        "https://evil.example/a@b",
        "http://b.org?c",
        *urls[2:4],
        "https://evil.example/@who.int/",
    ]


def test_what_else_is_known_of_a_page_is_cut_too() -> None:
    long = "x" * 10**6
    facts = dict.fromkeys(("author", "site", "publisher", "doi", "published", "language", "page_label"), long)
    snippet = Snippet("https://example.org/a", "A", "a", **facts, work=Work(place=long, editors=long))  # type: ignore[arg-type]
    (cut,) = cut_long_texts(with_checks(FakeSearch(lambda _: [snippet])).search("q", 1), "fake").snippets
    assert len(str(cut)) < 2.5 * LONGEST_TEXT
