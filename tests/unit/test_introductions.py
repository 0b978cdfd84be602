"""Names that a reader cannot place are given in full where the page does so."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.references.introductions import introducing, persons_in
from storm_pipeline.types import Snippet


def page(*texts: str) -> list[Snippet]:
    return [Snippet("https://example.org/a", "A", text) for text in texts]


def test_the_snippet_that_gives_the_full_name_is_added() -> None:
    own = page(
        "Low water made it worse, Daca said on Wednesday.",
        "Nothing else is on this page.",
        "The head of the water company, Przemysław Daca, told reporters of ten tonnes.",
    )
    assert introducing(own[:1], own) == (own[2],)


def test_offices_and_initials_introduce_too() -> None:
    own = page("In the end Borchardt and Müller agreed.", "He asked Professor Borchardt.", "It was up to H. J. Müller.")
    assert set(introducing(own[:1], own)) == {own[1]}
    own[2] = page("It was up to Hans J. Müller.")[0]
    assert set(introducing(own[:1], own)) == set(own[1:])


def test_names_that_are_given_in_full_need_nothing() -> None:
    own = page("As Anna Moskwa put it, Moskwa was shocked.", "The minister Anna Moskwa came.")
    assert introducing(own[:1], own) == ()


def test_a_word_that_only_begins_a_sentence_is_no_name() -> None:
    own = page(
        "Fish died. Then came the flood.", "The old Fish and the New Then were inns.", "Dead Fish Then were seen."
    )
    assert introducing(own[:1], own) == ()


def test_scripts_without_capitals_have_no_such_names() -> None:
    own = page("达卡说,水位很低。", "水务公司负责人 普热梅斯瓦夫 达卡 说。")
    assert introducing(own[:1], own) == ()


def test_persons_alone_are_named() -> None:
    text = (
        "The review in the National Post's weekend part and a page of Coast Guard News praised Anna Moskwa's plan, "
        "as did Hans J. Müller of the Polish Water Board."
    )
    assert persons_in(text, "") == ("Anna Moskwa", "Hans J. Müller")
    assert persons_in("Lieutenant General Ann Baillie met Lord Kerr at Wigan Moor.", "") == ("Ann Baillie",)
    lords = "The Duke of Hamilton's horse left the earl of Leven; Ann Baillie and the Earl of Callendar stayed."
    assert persons_in(lords, "") == ("Duke of Hamilton", "Ann Baillie", "Earl of Callendar")
    assert persons_in("It was made by Ulaka Productions.", "") == ()
    assert (
        persons_in(
            "The singles are Trust Fall and Thin Ice.",
            "Of “Trust Fall” and “Thin Ice”, “Trust Fall” and “Thin Ice” last.",
        )
        == ()
    )
    assert persons_in("He was drafted by the St. Louis Blues.", "") == ()
    pages = "Trains stop at Bryn Mawr station. Between Lawrence and Bryn Mawr it is new. Ann Lee met the press. "
    pages += "Ann Lee left for the Bryn Mawr stations. Ann Lee reports that all is new. Ann Lee plans more."
    assert persons_in("All is new between Lawrence and Bryn Mawr, Ann Lee said.", pages) == ("Ann Lee",)


PAGES = (
    "The actor Larry Fessenden plays the grandfather of a good boy. Tomatoes are rotten, or tomatoes are no fruit. "
    "One dog alone watches wrong things on a coast. The kicker came to the Miami Dolphins, met the coach Dan Marino, "
    "and left the Miami Dolphins for the best of prizes. It was shown in Los Angeles, and in Los Angeles alone. "
    "See www.leonberg.example for what Ben Leonberg did." + " Leonberg did more." * 10
)


@pytest.mark.parametrize(
    "text",
    [
        "The critics of Rotten Tomatoes praised it.",
        "It was called Wrong With Your Dog.",
        "Nobody called Good Boy a prize.",
        "He won as Best Boy.",
        "It was shown at Rhodes Hall first.",
        "Nobody beat Miami Dolphins before.",
        "For Los Angeles it came late.",
    ],
)
def test_titles_places_and_teams_are_no_persons(text: str) -> None:
    assert persons_in(text, PAGES) == ()


def test_persons_are_told_by_how_the_pages_spell_their_words() -> None:
    assert persons_in("Larry Fessenden met Actor Dan Marino's dog.", PAGES) == ("Larry Fessenden", "Dan Marino")
    assert persons_in("The Coast's Ben Leonberg praised Good Boy's dog.", PAGES) == ("Ben Leonberg",)


@given(st.text(alphabet="AaBb Ää.'’\n", max_size=60), st.text(alphabet="AaBb Ää.'’\n", max_size=60))
def test_a_person_stands_in_the_text_and_none_of_the_name_in_lower_case_on_the_pages(text: str, pages: str) -> None:
    for name in persons_in(text, pages):
        assert name in text
        assert not any(f" {word.lower()} " in f" {pages} " and word not in pages for word in name.split())


TEXTS = st.lists(st.text(alphabet="AaBb Ää.?\n“”", max_size=40), min_size=1, max_size=8)


@given(TEXTS, st.integers(0, 8))
def test_at_most_two_others_of_the_page_are_added(texts: list[str], shown: int) -> None:
    own = page(*dict.fromkeys(texts))
    added = introducing(own[:shown], own)
    assert len(added) <= 2
    assert not set(added) & set(own[:shown])
    assert set(added) <= set(own)


def test_what_an_institution_is_for_is_no_person() -> None:
    body = "Research by the Leibniz Institute for Freshwater Ecology and Inland Fisheries was quoted"
    assert persons_in(f"{body} by Jan Köhler.", "") == ("Jan Köhler",)
    assert persons_in("It was denied by the Ministry of Public Works, Anna Moskwa and others.", "") == ("Anna Moskwa",)
