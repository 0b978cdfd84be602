"""Texts of engines, cut to what a run can read."""

from storm_pipeline import Snippet
from storm_pipeline.sources.search.edge import LONGEST_TEXT, cut_long_texts, with_checks
from storm_pipeline.sources.search.fake import FakeSearch
from storm_pipeline.text.identity import LONGEST_ADDRESS
from storm_pipeline.types import Work


def test_a_result_whose_address_is_endless_is_lost() -> None:
    items = [
        Snippet(f"https://example.org/{'a' * LONGEST_ADDRESS}", "A", "a"),
        Snippet("https://example.org/b", "B", "b"),
    ]
    engine = with_checks(FakeSearch(lambda _: items))
    result = engine.search("q", 2)
    assert [snippet.title for snippet in result.snippets] == ["B"]
    assert "1 result that cannot be used, such as number 1, which has an address of 8,0" in result.lost[0]


def test_what_else_is_known_of_a_page_is_cut_too() -> None:
    long = "x" * 10**6
    facts = dict.fromkeys(("author", "site", "publisher", "doi", "published", "language", "page_label"), long)
    snippet = Snippet("https://example.org/a", "A", "a", **facts, work=Work(place=long, editors=long))  # type: ignore[arg-type]
    engine = with_checks(FakeSearch(lambda _: [snippet]))
    (cut,) = cut_long_texts(engine.search("q", 1), engine.name).snippets
    assert len(str(cut)) < 2.5 * LONGEST_TEXT
