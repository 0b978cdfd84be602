"""Cutting text into passages: nothing lost, order kept, limits held, in scripts with and without spaces."""

import re
from collections.abc import Callable

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from storm_pipeline.evidence.joining import join_snippets
from storm_pipeline.text.chunks import (
    FEWEST_SHARED,
    MOST_SHARED,
    chunks,
    count_words,
    overlapping,
    punctuated_blocks,
    token_chunks,
)
from storm_pipeline.types import Snippet

PROSE = st.lists(
    st.sampled_from(
        [
            *("the silk road", "Dr. Li", "said", "no. 7", "。", "北京是首都。", "走れ！", "…", "?!", ".", ". ", "\n\n"),
            *("x" * 95, "ไทย"),
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


@given(st.one_of(PROSE, st.text(max_size=200)), st.integers(1, 40))
@example("", 1)
@example(" \n ", 5)
@example("a\x85b\u2028c. d", 2)
def test_nothing_is_lost_and_no_passage_exceeds_the_limit(text: str, limit: int) -> None:
    passages = chunks(text, limit)
    assert "".join("".join(passages).split()) == "".join(text.split())
    assert all(passage and passage == " ".join(passage.split()) for passage in passages)
    assert all(size(passage) <= limit for passage in passages)


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


BROKEN = "She is also the author of one of our\n\nbooks of the year"


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        (
            "# Silk\n\nIt shone.\n \nBales:\n\nRed \n\n blue\nand green",
            "# Silk.\n\nIt shone.\n \nBales:\n\nRed. \n\n blue\nand green",
        ),
        (f"{BROKEN}\n\nReviews\n\nof readers\n\n", f"{BROKEN}.\n\nReviews.\n\nof readers.\n\n"),
    ],
)
def test_headings_become_sentences_of_their_own_and_blocks_go_on_in_the_next(text: str, closed: str) -> None:
    assert punctuated_blocks(text) == closed


@given(st.one_of(PROSE, st.text(max_size=200)))
def test_closing_blocks_only_adds_full_stops_and_only_once(text: str) -> None:
    closed = punctuated_blocks(text)
    assert punctuated_blocks(closed) == closed
    left = iter(closed)
    assert all(char in left for char in text)  # the text is a subsequence of it
    assert len(closed) - len(text) == closed.count(".") - text.count(".")


COUNTS: dict[str, Callable[[str], int]] = {
    "pieces of words": lambda text: sum(-(-len(word) // 4) for word in re.findall(r"\w+|[^\w\s]", text)),
    "bytes": lambda text: len(text.encode("utf-8", "surrogatepass")),
    "not additive": lambda text: len(text) + len(text) // 7 * 3,
    "with two more": lambda text: len(text) + 2,
}


@given(st.one_of(PROSE, st.text(max_size=200)), st.integers(6, 60), st.sampled_from(sorted(COUNTS)))
@example("x" * 500, 7, "bytes")
@example("東" * 500, 7, "bytes")
def test_no_passage_has_more_tokens_than_the_limit_and_nothing_is_lost(text: str, limit: int, counted: str) -> None:
    passages = token_chunks(text, limit, COUNTS[counted])
    assert "".join("".join(passages).split()) == "".join(text.split())
    assert all(passage and passage == " ".join(passage.split()) for passage in passages)
    assert all(COUNTS[counted](passage) <= limit for passage in passages)


@pytest.mark.parametrize(
    ("sentence", "between"),
    [
        ("The caravan reached the oasis at noon. ", "."),
        ("商队在中午到达了绿洲。", "。"),
        ("隊商は正午にオアシスに着いた。", "。"),
    ],
    ids=["English", "Chinese", "Japanese"],
)
def test_passages_in_tokens_end_with_sentences_and_are_even(sentence: str, between: str) -> None:
    def count(text: str) -> int:  # as BERT does: a token a Han character, pieces of other words
        return sum(
            1 if "\u4e00" <= part <= "\u9fff" else -(-len(part) // 3)
            for part in re.findall(r"[一-鿿]|[^\s一-鿿]+", text)
        )

    passages = token_chunks(sentence * 300, 100, count)
    assert all(passage.endswith(between) for passage in passages)
    assert all(60 <= count(passage) <= 100 for passage in passages)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ["." * 200_000 + "x", "a" * 200_000, "word " * 100_000, "東" * 200_000, "A b. " * 50_000]
)
def test_degenerate_texts_are_measured_in_bounded_work(text: str) -> None:
    measured = 0

    def count(part: str) -> int:
        nonlocal measured
        measured += len(part)
        return len(part)

    token_chunks(text, 256, count)
    assert measured < 20 * len(text)


@given(st.lists(st.lists(st.integers(0, 10**6), min_size=1, max_size=40), min_size=1, max_size=30), st.integers(20, 60))
def test_overlapping_passages_are_joined_to_the_text_again(sentences: list[list[int]], limit: int) -> None:
    numbers = iter(range(10**6))
    text = " ".join(" ".join(f"w{next(numbers)}" for _ in own) + "." for own in sentences)
    cut = chunks(text, limit)
    assume(all(count_words(one) >= FEWEST_SHARED for one in cut))  # by fewer words none is known again
    passages = list(overlapping(cut))
    assert all(count_words(one) <= limit + MOST_SHARED for one in passages)
    found = join_snippets([Snippet("https://a.org", "", one) for one in reversed(passages)])
    assert [piece.text for piece in found] == [text]


def test_no_passage_begins_amid_a_sentence() -> None:
    long = "The lock was " + " ".join(f"so{n}" for n in range(60)) + "."
    passages = list(overlapping(chunks(" ".join([long, "Short one here.", long, long]), 80)))
    assert len(passages) > 1
    assert all(own.startswith(("The lock", "Short")) for own in passages)
