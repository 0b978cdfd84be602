"""Sentences, words, scripts and overlap."""

import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from citation_forms import FORMS, STAYS
from hypothesis import given, settings
from hypothesis import strategies as st

from storm_pipeline.errors import SettingsError
from storm_pipeline.evidence.cleaning import clean, has_sentences
from storm_pipeline.method.context import validate_topic as validated
from storm_pipeline.method.writers.drafts import read_draft
from storm_pipeline.output.articles.markdown import markdown_article
from storm_pipeline.output.articles.pages import AvailablePages, Reference
from storm_pipeline.output.render.markdown import to_markdown
from storm_pipeline.sources.reliable.ground_truth import folded_title
from storm_pipeline.sources.search.queries import bare_words
from storm_pipeline.text import sentences
from storm_pipeline.text import words as t
from storm_pipeline.text.formatting import is_printable, printable
from storm_pipeline.text.identity import normalised_text
from storm_pipeline.text.languages import stem_set
from storm_pipeline.text.lexical import terms
from storm_pipeline.text.markers import mark_citations, without_markers
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
        *(["The inns (some large. Others small.) stood apart."], ['He wrote "it ended. Nobody came." and left.']),
        *(["Use .NET now.", "Version 2.0.1 is out."], ['He said "Go."', "Then he left."]),
        *(["A hard\nwrapped line.", "And more."], ["He said no.", "She left."]),
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


SHOWN = 14


@pytest.mark.parametrize("text", STAYS)
def test_brackets_that_cite_nothing_stay_in_a_draft_and_an_imported_article(text: str) -> None:
    draft = read_draft(text, SHOWN)
    told = [claim.text for claim in draft.claims()]
    assert " ".join(told) == re.sub(r" ?\[1\](?=[.]?$)", "", text)
    assert draft.invented == 0
    assert {position for claim in draft.claims() for position in claim.cited} <= {0}
    if "`" in text or "$" in text:  # marks of Markdown
        return
    sources = "\n\n## References\n" + "".join(f"{n}. [Page](https://a.example/{n})\n" for n in range(1, SHOWN + 1))
    pages = AvailablePages([Reference(f"https://a.example/{n}", "Page", text) for n in range(1, SHOWN + 1)])
    article = pages.cite(markdown_article("Dam", text + sources))
    again = pages.cite(markdown_article("Dam", to_markdown(article)))
    for own in (article, again):
        assert [sentence.text for sentence in own.sentences()] == told


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        *(("The city [3] was founded in 1900 [4].", (2, 3)), ("The city[3] was founded in 1900[4].", (2, 3))),
        *(("The city [3] was founded in 1900.", (2,)), ("The city [1]–[3] was founded [1]–[3].", (0, 1, 2))),
        *(("该市[3]建于1900年[4]。", (2, 3)), ("댐[3]은 1936년에 완공되었다[4].", (2, 3))),
    ],
)
def test_a_single_number_within_a_clause_cites(text: str, cited: tuple[int, ...]) -> None:
    (claim,) = read_draft(text, SHOWN, "ko" if "댐" in text else "zh" if "市" in text else "en").claims()
    assert claim.cited == cited


WORDS = st.lists(st.sampled_from(["dam", "of", "1936", "it", "Orrin", "km", "long", "(old)", "5–8", "C"]), min_size=4)
SENTENCES = st.tuples(WORDS, st.lists(st.integers(4, SHOWN), min_size=1, max_size=3, unique=True))


@given(st.lists(SENTENCES, min_size=1, max_size=5), st.sampled_from(sorted(FORMS)))
@settings(max_examples=3 * settings().max_examples)
def test_any_sentences_are_read_alike_in_every_form(sentences: list[tuple[list[str], list[int]]], form: str) -> None:
    texts = [f"So {' '.join(words)} stood there" for words, _ in sentences]
    cited = [" ".join(f"[{number}]" for number in numbers) for _, numbers in sentences]
    reply = " ".join(f"{text} {numbers}." for text, numbers in zip(texts, cited, strict=True))
    expected = read_draft(reply, SHOWN)
    assert [claim.cited for claim in expected.claims()] == [tuple(n - 1 for n in own) for _, own in sentences]
    assert read_draft(FORMS[form](reply), SHOWN).claims() == expected.claims()


@given(st.text(alphabet="ab 1[]()²<>.,\n\\{}^$`", max_size=40), st.integers(0, 3))
@settings(max_examples=3 * settings().max_examples)
def test_nothing_but_markers_is_lost(text: str, shown: int) -> None:
    read = mark_citations(text, shown)
    assert not set(re.sub("[\ufde0-\ufdea]", "", read)) - set(text)
    assert sorted(re.sub("[^ab]", "", read)) == sorted(re.sub("[^ab]", "", text)) or "[" in text or "<" in text
    assert len(without_markers(text, "\0")) == len(text)


def test_brackets_and_reserved_digits_without_end_are_read_once() -> None:
    text = "[" + r"\[]" * 40 + "!"  # each in two ways takes a week
    assert without_markers(text) == mark_citations(text, 1) == text
    text = "\ufde0" * 1_000_000  # from each of them takes an hour
    assert without_markers(text) == text


JOINED = ["می‌خواهم", "क्‍ष", "👩‍🚀 in space", "خانه‌ها"]
NEWER = "\U0001fae9 \U0003fffd"
"""Emoji that are newer than the tables of Python."""


@pytest.mark.parametrize("topic", [*JOINED, NEWER])
def test_a_topic_may_hold_what_joins_letters_and_any_emoji(topic: str) -> None:
    assert validated(f" {topic} ") == topic
    assert topic == NEWER or printable(topic) == topic


@pytest.mark.parametrize(
    "topic", ["a\x00b", "a\x1b[31m", "a\u202eb", "a\u200bb", "a\ud83d", "\u200d", "\u200c \u200d", " "]
)
def test_a_topic_may_not_hold_controls_or_nothing(topic: str) -> None:
    with pytest.raises(SettingsError):
        validated(topic)


@given(st.text(st.characters(exclude_categories=()), max_size=40))
def test_what_is_shown_is_printable_and_on_one_line(text: str) -> None:
    shown = printable(text)
    assert is_printable(shown)
    assert printable(shown) == shown
    assert not {"\x1b", "\x07", "\n", "\u202e"} & set(shown)
