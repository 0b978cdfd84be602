"""Readings of the embedded writer's articles are added up as they were kept."""

import json

import pytest

from storm_benchmarks.embedded_readings import READINGS, table

ONE = {
    "seed": 1,
    "commit": "abc",
    "reading": "first",
    "sentences": {"Sun": 3, "Emu": 2},
    "narrow": ["Emu"],
    "off": [3, 4],
    "wrong": [1],
    "reversed": [],
    "leans": [],
    "out_of_place": [],
    "interest": {"Sun": 4, "Emu": 3},
    "organisation": {},
}


def test_a_reading_is_a_row_and_two_of_the_same_articles_are_compared() -> None:
    shown = table([ONE, {**ONE, "reading": "second", "off": [3]}])
    assert "| 1 | abc | first | 5 | 2 (40.0%) | 1 | 1 | 0 | 0 | 0 | 3.50 | – |" in shown
    assert shown.endswith("Seed 1: the readings agree on 4 of 5 sentences (80.0%).")


def test_a_number_beyond_the_sentences_is_an_error() -> None:
    with pytest.raises(IndexError):
        table([{**ONE, "off": [6]}])


def test_the_kept_readings_can_be_added_up_and_are_what_the_page_shows() -> None:
    page = (READINGS.parents[2] / "docs" / "embedded.md").read_text(encoding="utf-8")
    assert table(json.loads(READINGS.read_text(encoding="utf-8"))) in page
