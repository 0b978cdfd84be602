"""Readings of the embedded writer's articles are added up as they were kept."""

import json
from pathlib import Path

import pytest

from storm_benchmarks.embedded_draw import draw, write_kit
from storm_benchmarks.embedded_readings import READINGS, table
from storm_pipeline.types import Snippet

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


def test_topics_are_drawn_by_what_the_corpus_says_of_them() -> None:
    def page(title: str, *sentences: str) -> Snippet:
        return Snippet(f"https://example.org/{title}", title, " ".join(sentences))

    narrow = [
        page(f"Orrin{n}dale", *[f"Orrin{n}dale is a town that has {n} mills and a bridge."] * 8) for n in range(8)
    ]
    broad = [
        page(f"Selby{n}land", *[f"Selby{n}land is a country that has {n} rivers of its own."] * 200) for n in range(2)
    ]
    tiny = [page(f"Lunn{n}ay", f"Lunn{n}ay is an islet.") for n in range(3)]
    drawn = draw([*narrow, *broad, *tiny], seed=1)
    assert [title[:5] for title in drawn] == ["Orrin"] * 6 + ["Selby"] * 2
    assert drawn == draw([*tiny, *broad, *narrow], seed=1)
    assert drawn != draw([*narrow, *broad, *tiny], seed=2)


def test_a_kit_numbers_sentences_in_the_articles_and_shows_them_in_another_order(tmp_path: Path) -> None:
    def row(number: int, heading: str) -> dict[str, str]:
        text = f"Sentence {number}."
        return {
            "topic": "Sun",
            "topic_is": "Sun: a star",
            "heading": heading,
            "sentence": text,
            "source_title": "Sun",
            "source_text": text,
        }

    write_kit(tmp_path, {"Sun": [row(n, "Mass" if n > 4 else "") for n in range(1, 10)]})
    rows = [json.loads(line) for line in (tmp_path / "kit.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["id"] for row in rows] != sorted(row["id"] for row in rows) == list(range(1, 10))
    assert all(row["sentence"] == f"Sentence {row['id']}." and "heading" not in row for row in rows)
    shown = (tmp_path / "articles.md").read_text(encoding="utf-8").split()
    assert " ".join(shown) == "# Sun " + " ".join(
        ("## Mass " if n == 5 else "") + f"[{n}] Sentence {n}." for n in range(1, 10)
    )
