"""Cleaning of passages: marks, addresses and damaged letters; lines without a sentence; what is made of sentences."""

import pytest

from storm_pipeline.evidence.cleaning import clean, has_sentences

TOLD = "The dam was begun in 1931 above the village."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            'The [dam](https://a.org/d_(x) "Dam") is high.[[93]](https://a.org#n) It [holds](/w).',
            "The dam is high. It holds.",
        ),
        ("![A dam](https://a.org/d.jpg) It is high, says https://a.org/wall today.", "It is high, says today."),
        ("It **holds** a _deep_ lake.", "It holds a _deep_ lake."),
        ("The cafÃ© is old.", "The café is old."),
        (f"Home\nNews\n{TOLD}\nRead more", TOLD),
        (f"# The Orrin Dam ---- {TOLD} ## See also", TOLD),
        (
            f"{TOLD} Its wall carries a road and is guarded by 34",
            f"{TOLD} Its wall carries a road and is guarded by 34",
        ),
        (f"{TOLD} Add to basket", TOLD),
        ("Home\nNews", "Home News"),
        ("หน้าแรก\nเขื่อนนี้สร้างขึ้นเหนือหมู่บ้านในปีหนึ่งพันเก้าร้อยสามสิบเอ็ด", "เขื่อนนี้สร้างขึ้นเหนือหมู่บ้านในปีหนึ่งพันเก้าร้อยสามสิบเอ็ด"),
    ],
)
def test_marks_addresses_and_lines_without_a_sentence_are_left_out(text: str, expected: str) -> None:
    assert clean(text) == expected


@pytest.mark.parametrize(
    ("text", "whether"),
    [
        (TOLD, True),
        (f"Home News Sport {TOLD} Its wall is 34 metres high and carries a road.", True),
        ("Home News Sport Weather Business Culture Travel Video Newsletters Sign in", False),
        (f"{TOLD} " + "January 2012 February 2012 March 2012 " * 5, False),
        ("Name. Age. See p. 3. All rights reserved.", False),
        ("大坝始建于1931年，位于村庄上方。", True),
        ("เขื่อนนี้สร้างขึ้นเหนือหมู่บ้านในปีหนึ่งพันเก้าร้อยสามสิบเอ็ด", True),
        ("หน้าแรก ข่าว กีฬา บันเทิง ติดต่อเรา", False),
    ],
)
def test_sentences_are_told_from_menus_and_lists(text: str, whether: bool) -> None:
    assert has_sentences(text) is whether
