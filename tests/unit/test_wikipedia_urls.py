"""Titles and URLs of Wikipedia articles."""

from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.identity import is_title, page_address

TEXTS = st.one_of(st.text(max_size=300), st.text(st.sampled_from("ab /#<>[]{}|é漢𐎠"), max_size=300), st.just("\ud800"))


@pytest.mark.parametrize("title", ["A", "C++", "AC/DC", "Silk Road (disambiguation)", "漢字", "é" * 127, "a" * 255])
def test_titles(title: str) -> None:
    assert is_title(title)


@pytest.mark.parametrize("text", ["", "C#", "A|B", "[[A]]", "{{A}}", "<i>", "é" * 128, "a" * 256])
def test_what_no_page_can_be_called(text: str) -> None:
    assert not is_title(text)


@given(TEXTS, TEXTS)
def test_a_part_of_a_title_is_one(one: str, other: str) -> None:
    if is_title(one + other):
        assert all(is_title(part) for part in (one, other) if part)


@given(st.lists(TEXTS, max_size=5))
def test_titles_can_be_joined_into_one_request(texts: list[str]) -> None:
    titles = [text for text in texts if is_title(text)]
    assert ("|".join(titles).split("|") if titles else []) == titles


@given(st.text(st.characters(blacklist_categories=["Cs"]), max_size=100))
def test_an_address_names_the_article(title: str) -> None:
    address = page_address(title)
    assert address.isascii()
    assert unquote(urlsplit(address).path) == "/wiki/" + title.replace(" ", "_")
