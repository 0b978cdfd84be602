"""Errors planted into supported sentences: each kind by an example, and what holds for all of them."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_bench.planting import KINDS, Kind, Supported, plant

SOURCE = "The town of Selby grew when Ada Lovell and the Orrin Company built a dam there. It says nothing else."
OTHER = Supported("Smoked char is eaten at weddings in Valmere.", "In Valmere smoked char is eaten at weddings.")


def planted(sentence: str, kind: Kind, seed: int = 0) -> str | None:
    found = plant(Supported(sentence, SOURCE), kind, [OTHER], random.Random(seed))
    return found and found.sentence


@pytest.mark.parametrize(
    ("kind", "sentence", "wrong"),
    [
        ("number ±1", "It has 41 gates.", {"It has 40 gates.", "It has 42 gates."}),
        ("number ±10 %", "It cost 1,200 dollars.", {"It cost 1,320 dollars.", "It cost 1,080 dollars."}),
        ("negation", "It was built here.", {"It was not built here."}),
        ("negation", "It was not built here.", {"It was built here."}),
        ("opposite", "The level increased.", {"The level decreased."}),
        ("quantifier", "It fed all farms.", {"It fed some farms."}),
        ("hedge", "It was one of the dams.", {"It was the dams."}),
        ("cause reversed", "The flood led to debts.", {"The flood was caused by debts."}),
        ("order reversed", "It closed before the war.", {"It closed after the war."}),
    ],
)  # fmt: skip
def test_each_kind_by_hand(kind: Kind, sentence: str, wrong: set[str]) -> None:
    assert planted(sentence, kind) in wrong


def test_years_words_and_names_are_replaced_by_others() -> None:
    year = planted("It opened in 1931.", "year")
    assert year is not None
    assert year != "It opened in 1931."
    assert abs(int(year[-5:-1]) - 1931) <= 11
    assert planted("It has three gates.", "number word") != "It has three gates."
    assert planted("It was built by Valmere.", "name") in {
        "It was built by Selby.",
        "It was built by Ada Lovell.",
        "It was built by Orrin Company.",
    }
    subject = planted("Valmere was flooded.", "subject")
    assert subject is not None
    assert subject.endswith(" was flooded.")
    assert subject != "Valmere was flooded."


def test_two_facts_are_joined_with_both_sources_shown() -> None:
    found = plant(Supported("It was built in 1931.", SOURCE), "two facts joined", [OTHER], random.Random(0))
    assert found is not None
    assert found.sentence.startswith("It was built in 1931, ")
    assert found.sentence.endswith(OTHER.sentence)
    assert found.source == f"{SOURCE}\n{OTHER.source}"


@pytest.mark.parametrize("kind", KINDS)
def test_a_sentence_without_a_place_for_it_stays_without_an_error(kind: Kind) -> None:
    assert planted("so be it", kind) is None


@given(st.sampled_from(KINDS), st.text(max_size=80), st.integers(0, 9))
def test_a_planted_sentence_differs_and_is_not_in_the_source(kind: Kind, text: str, seed: int) -> None:
    found = plant(Supported(text, SOURCE), kind, [OTHER], random.Random(seed))
    if found is not None:
        assert found.kind == kind
        assert found.sentence != text
        assert found.sentence not in found.source


def test_a_seed_decides() -> None:
    drawn = [planted("In 1931 Valmere had 4 dams and 70 gates.", "number ±1", seed) for seed in (0, 0, 1, 2, 3, 4)]
    assert drawn[0] == drawn[1]
    assert len(set(drawn)) > 1
