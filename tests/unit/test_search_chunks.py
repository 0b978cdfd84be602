"""Cutting text into passages: nothing lost, order kept, limits held, in scripts with and without spaces."""

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from storm_pipeline.documents.chunks import chunks, closed_blocks

PROSE = st.lists(
    st.sampled_from(
        [
            "the silk road",
            "Dr. Li",
            "said",
            "no. 7",
            "。",
            "北京是首都。",
            "走れ！",
            "…",
            "?!",
            ".",
            ". ",
            "\n\n",
            "x" * 95,
            "ไทย",
        ]
    ),
    max_size=60,
).map(" ".join)


def size(text: str) -> float:
    """Words, counted anew: half a word for a Han, kana or Thai character, one for each 30 others begun."""
    total, run = 0.0, 0
    for char in text + " ":
        unspaced = "\u0e00" <= char <= "\u0eff" or "\u3040" <= char <= "\u30ff" or "\u3400" <= char <= "\u9fff"
        unspaced = unspaced or "\uf900" <= char <= "\ufaff" or "\U00020000" <= char <= "\U0003ffff"
        if unspaced or char.isspace():
            total, run = total + -(-run // 30) + 0.5 * unspaced, 0
        else:
            run += 1
    return total


@settings(max_examples=80, deadline=None)
@given(st.one_of(PROSE, st.text(max_size=200)), st.integers(1, 40))
@example("", 1)
@example(" \n ", 5)
@example("a\x85b\u2028c. d", 2)
def test_nothing_is_lost_and_no_passage_exceeds_the_limit(text: str, limit: int) -> None:
    passages = chunks(text, limit)
    assert "".join("".join(passages).split()) == "".join(text.split())
    assert all(passage and passage == " ".join(passage.split()) for passage in passages)
    assert all(size(passage) <= limit for passage in passages)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=60), st.sampled_from([". ", "? ", "!\n", ".\n\n", "。"]))
def test_whole_sentences_stay_whole(lengths: list[int], end: str) -> None:
    word = "東京" if end == "。" else "word "
    sentences = [(word * n).strip() + end for n in lengths]
    passages = chunks("".join(sentences), 60)
    flat = [" ".join(sentence.split()) for sentence in sentences]
    for passage in passages:
        taken = 0
        while flat and " ".join(passage[taken:].split()).startswith(flat[0]):
            taken = passage.index(flat[0], taken) + len(flat.pop(0))
        assert not passage[taken:].strip()
    assert not flat


@pytest.mark.parametrize(
    "text",
    [
        "The caravan reached the oasis at noon, tired but whole. " * 100,
        "商队在中午到达了绿洲，人人疲惫，却都平安。" * 150,
    ],
    ids=["English", "Chinese"],
)
def test_passages_are_of_even_size(text: str) -> None:
    sizes = [size(passage) for passage in chunks(text)]
    assert len(sizes) > 5
    assert all(95 <= words <= 150 for words in sizes)


def test_abbreviations_end_no_sentence() -> None:
    text = "It was Dr. Stein and J. S. Bach who met at St. Gallen, cf. fig. 3 there. Then both left."
    assert chunks(text, 18) == [text[: text.index(" Then")], "Then both left."]


@pytest.mark.parametrize(
    "text",
    [
        "." * 200_000 + "x",
        "\n" * 200_000,
        ("\n" + " " * 50) * 5_000 + "x",
        ".\n" * 50_000,
        "a" * 500_000,
        '."' * 99_999,
    ],
    ids=["dots", "lines", "blanks", "dotted lines", "one word", "quotes"],
)
def test_degenerate_texts_take_linear_time(text: str) -> None:
    start = time.monotonic()
    chunks(text)
    assert time.monotonic() - start < 30  # in quadratic time it would be hours


def test_headings_become_sentences_of_their_own() -> None:
    assert closed_blocks("# Silk\n\nIt shone.\n \nBales:\n\nRed \n\n blue\nand green") == (
        "# Silk.\n\nIt shone.\n \nBales:\n\nRed. \n\n blue\nand green"
    )


@settings(max_examples=80, deadline=None)
@given(st.one_of(PROSE, st.text(max_size=200)))
def test_closing_blocks_only_adds_full_stops_and_only_once(text: str) -> None:
    closed = closed_blocks(text)
    assert closed_blocks(closed) == closed
    left = iter(closed)
    assert all(char in left for char in text)  # the text is a subsequence of it
    assert len(closed) - len(text) == closed.count(".") - text.count(".")
