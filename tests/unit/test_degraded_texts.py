"""Texts that lost capitals, spaces or punctuation: their numbers and dates are still found."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.languages import language_name
from storm_pipeline.quantities import full_dates, missing, quantities
from storm_pipeline.quantities.checking import is_degraded, repaired


@pytest.mark.parametrize(
    ("text", "language", "told"),
    [
        ("on 12 september 2022 it rained", "en", "on 12 September 2022 it rained"),
        ("august2022", "en", "August 2022"),
        ("of march 3 and", "en", "of March 3 and"),
        ("am 3. märz 1990", "de", "am 3. März 1990"),
        ("le 3 juillet 1990", "fr", "le 3 Juillet 1990"),
        ("the 12 th of it", "en", "the 12th of it"),
        ("errichtet 1145 am Hafen", "de", "errichtet 1145 am Hafen"),
        ("at 535 PM and 1157 p.m., room 535", "en", "at 5 35 PM and 11 57 p.m., room 535"),
        ("100million people", "en", "100 million people"),
        ("they march on in may", "en", "they march on in may"),
        ("Nothing is worn here, 3 May 1990.", "en", "Nothing is worn here, 3 May 1990."),
    ],
)
def test_months_and_spaces_are_restored(text: str, language: str, told: str) -> None:
    assert repaired(text, language) == told


@given(st.text(max_size=60), st.sampled_from(["en", "de", "fr", "zh", "", "xx"]))
def test_nothing_but_spaces_and_capitals_changes(text: str, language: str) -> None:
    def bare(own: str) -> str:
        return "".join(own.split()).casefold()

    assert bare(repaired(text, language)) == bare(text)


_LETTER = "[A-Za-zÀ-ÖØ-öø-ɏА-яЁё]"
_GLUED = re.compile(rf"(?<={_LETTER})(?=\d{{1,2}}\s?{_LETTER}|\d{{4}}\b)|(?<=\d)(?={_LETTER}{{3,}})")


@given(st.text("aBé 1٣.", max_size=40))
def test_a_space_parts_a_word_and_a_number(text: str) -> None:
    assert repaired(text, "en") == _GLUED.sub(" ", text)


def test_a_text_of_some_length_without_punctuation_is_worn() -> None:
    text = "the share of those who voted rose to 45 in the last year of the war and"
    assert is_degraded(text)
    assert not is_degraded(f"{text}.")
    assert not is_degraded("a heading")
    assert not missing("The share rose to 45%.", [text])
    assert missing("The share rose to 45%.", [f"{text}."])


def test_a_worn_date_supports_a_date() -> None:
    assert not missing("It opened on 12 September 2022.", ["it opened on 12 september2022 with a feast"])
    assert missing("It opened on 12 September 2022.", ["it opened on 13 september2022 with a feast"])


@pytest.mark.parametrize(
    ("text", "language", "days"),
    [
        ("Posted on 10 March 2023. The strike of 1 May 1990 is over.", "en", ("2023-03-10", "1990-05-01")),
        ("In 1990 and in May 1991; then 2 june 1992", "en", ("1992-06-02",)),
        ("It ran * 8/31/2022 * by one, and 8/31/2022 again", "en", ("2022-08-31",)),
        ("14 NOV 2025 * Single * 1 song, DEC 5, 2025", "en", ("2025-11-14", "2025-12-05")),
        ("Am 3. Oktober 1990 war es so weit.", "de", ("1990-10-03",)),
        ("No day in 1990.", "en", ()),
        ("", "en", ()),
    ],
)
def test_the_full_dates_of_a_text(text: str, language: str, days: tuple[str, ...]) -> None:
    assert full_dates(text, language) == days


@given(
    st.text(max_size=60) | st.lists(st.sampled_from("3 44 BC March 2023 31 Feb 1/2/03 5. May".split())).map(" ".join)
)
def test_full_dates_are_dates_of_the_text(text: str) -> None:
    days = full_dates(text)
    assert len(days) <= sum(own.kind == "date" and bool(own.day) for own in quantities(repaired(text, "en")))
    assert all(day.count("-") == 2 for day in days)


def test_languages_have_english_names() -> None:
    assert (language_name("de"), language_name("xx"), language_name("")) == ("German", "xx", "")
