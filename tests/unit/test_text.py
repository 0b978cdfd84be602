"""Sentences, words, scripts and overlap."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.sources.reliable.ground_truth import folded_title
from storm_pipeline.sources.search.queries import bare_words
from storm_pipeline.text import sentences
from storm_pipeline.text import words as t
from storm_pipeline.text.identity import normalised_text
from storm_pipeline.text.languages import stem_set
from storm_pipeline.text.lexical import terms
from storm_pipeline.text.plain import readable_title


@pytest.mark.parametrize(
    "pieces",
    [
        ["A b.[1]", "The d. [2]"],
        ["It ran. [1].", "It fell."],
        ["See No. 12847 there.", "It is."],
        ["Bhatia et al. (2019) found 3.5 cases.", "J. R. Smith agreed."],
        ["Born c. 1920 in St. Louis, he left."],
        ["Raised in Rome c. AD 675, he left."],
        ["It began at 12 a.m. Pacific Daylight Time."],
        ["It began at 12 a.m.", "The game ended."],
        ["He fled the U.S. Army.", "He was of the U.S.", "They met."],
        ["The inns (some large. Others small.) stood apart."],
        ['He wrote "it ended. Nobody came." and left.'],
        ["Use .NET now.", "Version 2.0.1 is out."],
        ['He said "Go."', "Then he left."],
        ["A hard\nwrapped line.", "And more."],
        ["He said no.", "She left."],
        ["He spoke of it.", "It was of the 1980s, by UFA (a firm).", 'Films that "run".', "She is left-handed.", "So."],
        ["That was in May 4, 1980.", "The Dr. Smith (UFA).", "It is."],
        ["Prof. Ȣ ȸ ran.", "Dr. Who fell."],
    ],
)
def test_sentences_joined_by_spaces_are_split_again(pieces: list[str]) -> None:
    assert sentences.split_sentences(" ".join(pieces)) == pieces


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It fell at 8:18 p.m.[3] OSHA came.[4]", ["It fell at 8:18 p.m.[3]", "OSHA came.[4]"]),
        ("It was Dr.[3] Smith of the U.S. Army.", ["It was Dr.[3] Smith of the U.S. Army."]),
        ("It ran.[1]It fell.[2][3] Then", ["It ran.[1]", "It fell.[2][3]", "Then"]),
        ("It ran.\n[4]\nIt fell [5]. [6] Go.", ["It ran.\n[4]", "It fell [5]. [6]", "Go."]),
        ("[1] It ran.\n[2] It fell.", ["[1] It ran.", "[2] It fell."]),
        ("第一句。第二句！“好。”他说。", ["第一句。", "第二句！", "“好。”", "他说。"]),
        ("One line\n\nanother", ["One line", "another"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_split_sentences(text: str, expected: list[str]) -> None:
    assert sentences.split_sentences(text) == expected


LATIN = st.text(st.sampled_from("aZ9é²ªºʼ’'‘“”–—…._,- \n\u200b\u2070"), max_size=20)


@given(st.one_of(LATIN, st.text(st.characters(max_codepoint=0x20FF)), st.text()))
def test_words_do_not_depend_on_what_else_a_text_holds(text: str) -> None:
    assert t.words(f"{text} か") == [*t.words(text), "か"]
    assert t.has_word(text) == bool(t.words(text))


@pytest.mark.parametrize(
    ("sentence", "complete"),
    [
        *(("It ran.", True), ("It ran.[1][2]", True), ('He said "go."', True), ("他走了。", True), ("Why?”", True)),
        *(("And so on…", True), ("It ran (fast).)", True), ("He said no.", True), ("It ran", False)),
        *(("It ran (and", False), ("It ran (and.", False), ("such as e.g.", False)),
        *(("It was led by faculty, among them Drs.", False), ("He died in Dec.", True), ("", False)),
        *(("...", False), ("List:", False), ("من بناها؟", True), ("هذه جملة تامة.", True), ("هذه جملة", False)),
        *(("Er sagte: „Das ist alles.“", True), ("»Das ist alles.«", True), ("« C’est tout. »", True)),
        *(("它建于一八七一年。", True), ("它建于", False), ("灯台は立っている。」", True), ("यह एक वाक्य है।", True)),
    ],
)
def test_is_complete(sentence: str, *, complete: bool) -> None:
    assert sentences.is_complete(sentence) is complete


def test_foreign_script_share() -> None:
    english = "The Forbidden City stands in Beijing. " * 10
    assert t.foreign_script_share("A plain text, naïve café.", english) == 0.0
    assert t.foreign_script_share("故宫位于北京。", english) == 1.0
    assert t.foreign_script_share("abcd北京", english + "故宫") == pytest.approx(2 / 6)
    assert t.foreign_script_share("故宫位于北京。", "北京 Beijing") == 0.0
    assert t.foreign_script_share("Кот", "cat") == 1.0
    assert t.foreign_script_share("123", english) == t.foreign_script_share("abc", "123") == 0.0


WORDY = st.lists(st.sampled_from(["a", "b", "C", "d,", "e."]), max_size=12).map(" ".join)


@given(st.text(st.characters()))
def test_tidy_is_one_writable_line(text: str) -> None:
    once = t.tidy(text)
    assert t.tidy(once) == once
    assert len(once.splitlines()) <= 1
    once.encode()


@pytest.mark.parametrize(
    ("title", "readable"),
    [
        ("TWlkbmlnaHQgU3VuIGJ5IFphcmEgTGFyc3Nvbg==", "Midnight Sun by Zara Larsson"),
        ("VGhlIExBIFNldGxpc3Q6IE9jdC4gNy0xMywgMjAyNA==", "The LA Setlist: Oct. 7-13, 2024"),
        ("U3BlYWsgTm93", "Speak Now"),
        ("Photographer", "Photographer"),
        ("Microsoft Word - Final Report 2022.docx", "Final Report 2022"),
        ("The%20Dam%20of%20Selby", "The Dam of Selby"),
        ("~Contents", "Contents"),
        ("Racing academy launched – www.example-karting.com", "Racing academy launched"),
        ("www.example.com – Academy Program", "Academy Program"),
        ("What is www.example.com", "What is www.example.com"),
        ("Honorificabilitudinitatibus", "Honorificabilitudinitatibus"),
        ("MicrosoftOfficeSuiteTwentyTwenty", "MicrosoftOfficeSuiteTwentyTwenty"),
        (None, ""),
    ],
)
def test_titles_as_people_read_them(title: str | None, readable: str) -> None:
    assert readable_title(title) == readable


@pytest.mark.parametrize(
    "reads", [t.folded_words, terms, stem_set, normalised_text, folded_title, bare_words], ids=lambda one: one.__name__
)
def test_very_many_marks_on_one_letter_take_no_long_time(reads: Callable[[str], Any]) -> None:
    begun = time.process_time()
    assert reads("丝绸之路 a" + "\u0301\u0323" * 40_000)
    assert time.process_time() - begun < 5


@given(WORDY, WORDY, st.integers(1, 5))
def test_overlap(a: str, b: str, n: int) -> None:
    assert 0.0 <= t.overlap(a, b, n) <= 1.0
    assert t.overlap(a, f"{b} {a} {b}", n) == (1.0 if t.words(a) else 0.0)
