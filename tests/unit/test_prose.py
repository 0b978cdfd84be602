"""What of a text is told: sentences without their marks, no menus, and pieces of text that lost its sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.text.prose import statements_in

MENU = "Home News Sport Weather Shop Earth Travel Culture Arts Video Live Sign In Register Search Menu Contact Help"
FLAT = (
    "the tower was built by an abbot in the twelfth century and it is one of the best of its kind in the country since "
    "then it has served as the belfry of the church that stands beside it and on holidays the bells are rung by a "
    "company of ringers from the town who have practised there for more than a hundred years"
)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1. (1-3) The rider asks for a horse at once.", ["The rider asks for a horse at once."]),
        ("c. 1500 the tower was built here.", ["c. 1500 the tower was built here."]),
        ("iv. The rider asks for a horse at once.", ["The rider asks for a horse at once."]),
        ("3a His father told him to take another one.", ["His father told him to take another one."]),
        ("• The rider asks for a horse at once.", ["The rider asks for a horse at once."]),
        (
            "1The rider went down to the river. 2And he asked for a boat there. 3So he was told to wait.",
            ["The rider went down to the river.", "And he asked for a boat there.", "So he was told to wait."],
        ),
        (
            "3He is a rare isotope of helium. 4He is found in every gas well. Of 85Rb and 87Rb one is stable.",
            [
                "3He is a rare isotope of helium.",
                "4He is found in every gas well.",
                "Of 85Rb and 87Rb one is stable.",
            ],
        ),
        (
            "Here copper(I) oxide is red, and copper(II) oxide is black.",
            ["Here copper(I) oxide is red, and copper(II) oxide is black."],
        ),
        ("4Kids was a company that sold cartoons.", ["4Kids was a company that sold cartoons."]),
        ("3D printing makes things layer by layer.", ["3D printing makes things layer by layer."]),
        ("12 horses crossed the river that night.", ["12 horses crossed the river that night."]),
        ("1945 was the year in which the war ended.", ["1945 was the year in which the war ended."]),
        (
            "Burning with anger,(X) he returned home at last.",
            ["Burning with anger, he returned home at last."],
        ),
        ("We use cookies to improve your experience on this site.", []),
        ("Click on the different category headings to find out more.", []),
        ("Sorry, you don't have permission to view that book.", []),
        ("Sorry, an error was encountered while loading the book.", []),
        ("Please wait a moment and try again.", []),
        ("Try logging in or creating an account here to get back to browsing.", []),
        ("Season 4: Where are they all now?", []),
        ("“Is the tower as old as they say?”...", []),
        ("Read more about the tower in the blog post.", []),
        ("“Who goes there this late?” asked the guard.", ["“Who goes there this late?” asked the guard."]),
        ("Of the error the crew said sorry to all.", ["Of the error the crew said sorry to all."]),
        ("Of cookies the first was set in the year 1994.", ["Of cookies the first was set in the year 1994."]),
        ("Of the river\nnothing is known", ["Of the river nothing is known"]),
        ("", []),
    ],
)
def test_a_sentence_is_told_without_what_numbers_it(text: str, told: list[str]) -> None:
    assert list(statements_in(text)) == told


def test_a_menu_that_a_full_stop_happens_to_end_is_not_told() -> None:
    assert statements_in(f"{MENU} Bookmark. The tower was built by an abbot in a hard winter.") == (
        "The tower was built by an abbot in a hard winter.",
    )
    assert statements_in("The Tower Council of Great Yarmouth is led by Sir John Smith.")  # many names, and a sentence


def test_an_entry_of_a_list_of_references_is_not_told() -> None:
    entry = '^ "San Francisco 49ers at New York Giants – October 21st, 2007".'
    assert statements_in(f"The Giants won the game in the snow. {entry}") == ("The Giants won the game in the snow.",)


def test_of_a_text_that_lost_its_sentences_the_prose_is_told_and_the_menu_is_not() -> None:
    pieces = statements_in(f"{MENU.lower()} {MENU.lower()} {MENU.lower()} {FLAT} {MENU.lower()} {MENU.lower()}")
    assert pieces
    assert all(20 <= len(piece.split()) <= 40 for piece in pieces)
    told = " ".join(pieces)
    assert "served as the belfry" in told
    assert statements_in(" ".join([MENU.lower()] * 6)) == ()


def test_a_script_without_full_stops_keeps_its_text() -> None:
    text = "หอคอย ถูก สร้าง " * 40
    assert statements_in(text) == (" ".join(text.split()[:60]),)


def test_what_a_wrong_encoding_broke_is_not_told() -> None:
    assert statements_in("The tower was b�ilt by an abb�t long ago. It is a tall and old tower.") == (
        "It is a tall and old tower.",
    )


@given(
    st.text(max_size=400)
    | st.lists(st.sampled_from(["1The", "a", "the", "Menu", "ran.", "\n", "2And", "(1-3)"]), max_size=90).map(" ".join)
)
def test_nothing_is_told_that_the_text_does_not_say_and_nothing_is_too_long(text: str) -> None:
    plain = "".join(text.split())
    for told in statements_in(text):
        assert told.strip()
        assert len(told.split()) <= 60 or "".join(told.split()) in plain
        assert "".join(told.split()) in plain or any(char.isdigit() for char in text)
