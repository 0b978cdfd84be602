"""Numbers that differ in an article, and what was asked by others: found by code, told to a model."""

import threading

import pytest

from storm_pipeline.quantities import differing
from storm_pipeline.steps.asked import Asked
from storm_pipeline.types import Sentence
from storm_pipeline.writers.disagreement import contradictions


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ("The motion needed 46 votes.", "A motion needs 52 votes to pass.", ("46 votes", "52 votes")),
        (
            "He was the third president removed.",
            "He was the second president.",
            ("third president", "second president"),
        ),
        ("The motion needed 46 votes.", "It needed 46 votes, and got 52 votes.", None),
        ("In 2022 it had 50 members.", "In 2023 it had 70 members.", None),
        ("About 360 tonnes of fish died.", "More than 300 tonnes of fish died.", None),
        ("It had 50 members.", "It had 70 votes.", None),
    ],
)
def test_numbers_that_count_the_same_and_differ(one: str, other: str, found: tuple[str, str] | None) -> None:
    assert differing(one, other) == found


def test_only_sentences_that_speak_of_the_same_are_a_pair() -> None:
    said = [
        "Congress needed 46 votes to admit the motion against Castillo.",
        "Farmers of the coast counted 70 votes in their own assembly.",
        "To admit the motion, Congress needed 52 votes.",
    ]
    assert contradictions([Sentence(text) for text in said], "Peru 2022", "en") == [(0, 2, "46 votes", "52 votes")]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The season of 2023 began in Valencia with 161 drivers.", "The season of 2024 began in Valencia."),
        ("The season of 2023 began with 161 drivers in karts.", "The season of 2024 began with 193 drivers in karts."),
        ("At the final round in Franciacorta 128 drivers won.", "At the final round in Kristianstad 204 drivers won."),
    ],
)
def test_years_and_what_happened_elsewhere_or_in_another_year_contradict_nothing(one: str, other: str) -> None:
    assert contradictions([Sentence(one), Sentence(other)], "Karting", "en") == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "The path of the storm was about 47 miles long, from Pisgah to Trenton.",
            "The path of the storm in Georgia alone was about 18 miles long.",
        ),
        (
            "In the quarter Tynes kicked a field goal of 29 yards, at 4:50, for a lead of 3 points.",
            "In overtime Tynes kicked a field goal of 47 yards, after four plays, for a lead at 12:25.",
        ),
        (
            "Over the season he posted a record of 33 wins and 8 defeats, with 6 shutouts in 51 games.",
            "Over the season he posted a record of 15 wins and 13 defeats, with 5 shutouts in 34 games.",
        ),
        (
            "The game grossed over 8.7 million dollars worldwide.",
            "The game grossed over 8.5 million dollars worldwide.",
        ),
        (
            "In the fourth quarter Tynes missed two field goals of the game.",
            "In the second quarter Tynes added a field goal of the game to the two before it.",
        ),
    ],
    ids=["a part of a whole", "other figures", "statistics", "two lower bounds", "ordinals"],
)
def test_numbers_of_different_things_contradict_nothing(one: str, other: str) -> None:
    said = [Sentence(one), Sentence("The crowd was loud."), Sentence(other)]
    assert contradictions(said, "NFC final", "en") == []


def test_records_and_editions_that_differ_are_told() -> None:
    said = [
        "After a turnaround under coach Sean Payton, the Saints finished the season with a 10-5 record and the title.",
        "The paperback was sold by the press and has 144 pages.",
        "Their 10-6 record and the title of the season were the work of coach Sean Payton and his Saints.",
        "The paperback was sold by the press and has 152 pages.",
    ]
    assert contradictions([Sentence(text) for text in said], "2006", "en") == [
        (0, 2, "5 record", "6 record"),
        (1, 3, "144 pages", "152 pages"),
    ]


def test_what_is_told_in_one_breath_and_series_contradict_nothing() -> None:
    quarters = [
        "In the first quarter the Giants scored 3 points at Lambeau Field.",
        "In the next quarter the Giants scored 6 points at Lambeau Field.",
    ]
    assert contradictions([Sentence(text) for text in quarters], "NFC final", "en") == []
    kicks = [f"A kick of the Giants at Lambeau Field went {number} yards." for number in (36, 43, 47, 50)]
    apart = [Sentence(text) for kick in kicks for text in (kick, "The crowd was loud.")]
    assert contradictions(apart, "NFC final", "en") == []
    assert contradictions(apart[:3], "NFC final", "en") == [(0, 2, "36 yards", "43 yards")]


def test_a_turn_sees_what_the_others_asked_in_the_turn_before() -> None:
    asked, seen = Asked(), []
    waiting = threading.Thread(target=lambda: seen.append(asked.by_others("a", 0)), daemon=True)
    waiting.start()
    asked.add("a", "Who?")
    asked.expect(["a", "b", "c"])
    asked.add("c", "Where?")
    assert not seen  # b has asked nothing yet
    asked.add("b", "When?")
    waiting.join(5)
    assert seen == [("When?", "Where?")]


def test_nobody_waits_for_an_interview_that_has_ended() -> None:
    asked = Asked()
    asked.expect(["a", "b"])
    asked.end("b")
    assert asked.by_others("a", 3) == ()
