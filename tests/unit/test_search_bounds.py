"""Texts of engines, cut to what a run can read."""

from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline import Snippet
from storm_pipeline.identity import LONGEST_ADDRESS
from storm_pipeline.search.base import Asked
from storm_pipeline.search.edge import LONGEST_TEXT, LONGEST_TITLE, bounded, checked
from storm_pipeline.search.fake import FakeSearch
from storm_pipeline.types import Work


def found(text: str, title: str = "") -> tuple[Snippet, tuple[str, ...]]:
    engine = checked(FakeSearch(lambda _: [Snippet("https://example.org/a", title, text)]))
    result = bounded(engine.search("q", 1), Asked("q", 1, engine.name))
    return result.snippets[0], result.lost


TITLES = st.lists(st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=9), max_size=5).map(" ".join)
"""Titles as people write them; `documents.plain.readable_title` repairs others."""


@given(st.text(min_size=1, max_size=300).filter(str.strip), TITLES)
def test_what_is_short_stays_but_for_what_cannot_be_encoded(text: str, title: str) -> None:
    snippet, lost = found(text, title)
    assert (snippet.text, snippet.title, lost) == (text, title, ())


@given(st.text("ab \n", min_size=1, max_size=40), st.integers(1, 3))
def test_what_is_long_is_cut_at_white_space_where_there_is_some(piece: str, times: int) -> None:
    text = "x" + piece * (times * LONGEST_TEXT // len(piece) + 1)
    snippet, lost = found(text, text)
    assert len(snippet.text) <= LONGEST_TEXT
    assert len(snippet.title) <= LONGEST_TITLE
    assert text.startswith(snippet.text)
    assert "1 texts of more than 50,000 characters" in lost[0]


def test_a_result_whose_address_is_endless_is_lost() -> None:
    items = [
        Snippet(f"https://example.org/{'a' * LONGEST_ADDRESS}", "A", "a"),
        Snippet("https://example.org/b", "B", "b"),
    ]
    engine = checked(FakeSearch(lambda _: items))
    result = engine.search("q", 2)
    assert [snippet.title for snippet in result.snippets] == ["B"]
    assert "1 result that cannot be used, such as number 1, which has an address of 8,0" in result.lost[0]


def test_what_else_is_known_of_a_page_is_cut_too() -> None:
    long = "x" * 10**6
    facts = dict.fromkeys(("author", "site", "publisher", "doi", "published", "language", "page_label"), long)
    snippet = Snippet("https://example.org/a", "A", "a", **facts, work=Work(place=long, editors=long))  # type: ignore[arg-type]
    engine = checked(FakeSearch(lambda _: [snippet]))
    (cut,) = bounded(engine.search("q", 1), Asked("q", 1, engine.name)).snippets
    assert len(str(cut)) < 2.5 * LONGEST_TEXT
