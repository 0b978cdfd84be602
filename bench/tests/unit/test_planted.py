"""Planted errors, and the writer that invents."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_benchmarks import planted
from storm_benchmarks.inventing import InventingWriter
from storm_benchmarks.planting import RULES, names_in

SENTENCE = "In 1931 the Orrin Company was paid 4,200 pounds by Lord Selby for two thousand days of work on 41 gates."
OTHER = "The lake near Valmere is deep."


@pytest.mark.parametrize("kind", RULES)
def test_each_kind_changes_a_sentence_that_offers_a_place_and_leaves_others(kind: str) -> None:
    changed = RULES[kind](SENTENCE, OTHER, random.Random(0))
    assert changed is not None and changed != SENTENCE
    assert RULES[kind]("they went home.", OTHER, random.Random(0)) is None


@given(st.text(max_size=60), st.sampled_from(sorted(RULES)), st.integers(0, 99))
def test_an_error_is_no_repetition_of_the_sentence(text: str, kind: str, seed: int) -> None:
    assert RULES[kind](text, OTHER, random.Random(seed)) != text or kind == "name"


def test_names_stand_amid_sentences() -> None:
    assert names_in(SENTENCE) == ["Orrin Company", "Lord Selby"]


def test_the_table_has_a_row_for_each_kind_and_one_for_the_clean() -> None:
    clean = [planted.Cited(SENTENCE, (SENTENCE,), (OTHER,))]

    def changed(some: object) -> list[bool]:
        return [one.text != SENTENCE or SENTENCE not in one.passages for one in some]  # type: ignore[attr-defined]

    rows = list(planted.table(clean, {"screen": changed, "other": lambda some: [False for _ in some]}, 5, None, 0))
    assert [row[0] for row in rows] == [*RULES, "wrong citation", "none (clean)"]
    assert {tuple(row[1:]) for row in rows[:-1]} == {(1, "100.0%", "0.0%", "100.0%")}
    assert rows[-1][1:] == [1, "0.0%", "0.0%", "0.0%"]


def test_the_writer_invents_in_every_fifth_sentence_and_drops_half_of_what_is_remarked_on() -> None:
    told = " ".join(f"The dam of town {i} was built by many men." for i in range(200))
    writer = InventingWriter()
    system = "Write one section of an article."
    prompt = f"Passages:\n[1] Dams: {told}"
    reply = writer.reply([system, prompt])
    sentences = reply.split(" [1]")[:-1]
    assert (len(sentences), len(writer.invented)) == (20, 4)
    assert [any(words in one for words in writer.invented) for one in sentences] == [i % 5 == 4 for i in range(20)]
    remarks = "\n".join(f" {n}. {one.strip()}[1] — it is not in [1]." for n, one in enumerate(sentences, 1))
    asked = "A check has doubts about the sentences in the remarks."
    again = writer.reply([asked, f"{prompt}\nRemarks:\n{remarks}"])
    kept = sum(any(words in line for words in writer.invented) for line in again.splitlines())
    assert len(again.splitlines()) == 20 and 0 <= kept < 4
