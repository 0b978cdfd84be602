"""What counts, cuts, stems and compares texts, in languages other than English; English is untouched."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.evidence.citations import parse_cited
from storm_pipeline.method.outlines import parse_outline
from storm_pipeline.method.writers.drafts import read_draft, read_replies
from storm_pipeline.text.languages import (
    join_sentences,
    length_in_words,
    references_heading,
    scripts_of,
    windows,
)
from storm_pipeline.text.words import foreign_script_share
from storm_pipeline.types import Citation

HAN = "丝绸之路是古代连接东西方的商贸路线起源于西汉时期经甘肃新疆到中亚西亚并联结地中海各国"
MIXED = st.text(HAN + "。，、シルクロード は。ab 1", max_size=300)


@given(MIXED, st.integers(2, 40))
def test_windows_of_any_text_are_short_and_lose_nothing(text: str, size: int) -> None:
    parts = windows(text, size, size)
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert all(length_in_words(part) <= size + 1 for part in parts)


@pytest.mark.parametrize(
    ("language", "text", "told"),
    [
        ("zh", "它建于1871年[1]。设计者是林国强[2]，后来改建。", ["它建于1871年。", "设计者是林国强，后来改建。"]),
        ("zh", "灯塔[1]建于1871年。", ["灯塔建于1871年。"]),
        ("ar", "من بناها [1]؟ بناها أحمد سالم [2]، ثم رممت.", ["من بناها؟", "بناها أحمد سالم، ثم رممت."]),
        ("fr", "Qui l’a bâti [1] ? Il dit : « Moi ! » [2]", ["Qui l’a bâti ?", "Il dit : « Moi ! »"]),
        ("en", "Who built it [1] ? He did [2] .", ["Who built it?", "He did."]),
    ],
)
def test_markers_leave_no_trace_in_the_text(language: str, text: str, told: list[str]) -> None:
    assert [s.text for s in parse_cited(text, [Citation("a", "1"), Citation("b", "2")], language).sentences] == told


@pytest.mark.parametrize(
    ("language", "reply", "sentence"),
    [
        ("zh", "1：它建于1871年。它很高。[1]｜“建于1871年”", "它建于1871年。它很高。"),
        ("zh", "1、它建于1871年。[1]", "它建于1871年。"),
        ("ar", "١: بني عام 1871.[1]", "بني عام 1871."),
        ("de", "1. Er wurde 1871 gebaut.[1]", "Er wurde 1871 gebaut."),
        ("zh", "1：delete", None),
        ("ar", "١: delete", None),
    ],
)
def test_replies_to_remarks_are_read_in_any_language(language: str, reply: str, sentence: str | None) -> None:
    claim = read_replies(reply, 2, language)[1].claim
    assert (claim.text if claim else None) == sentence


@pytest.mark.parametrize(
    ("language", "outline", "left"),
    [
        ("de", "# Einleitung\n# Geschichte\n# Fazit\n# Einzelnachweise\n# Weblinks", ["Geschichte"]),
        ("ru", "# Введение\n# История\n# Примечания\n# Литература", ["История"]),
        ("zh", "# 引言\n# 第一章 历史\n# 二、技术\n# 参考文献", ["历史", "技术"]),
        ("zh", "1、历史\n2、技术\n3、参考资料", ["历史", "技术"]),
        ("zh", "# 第一次世界大战\n# 三国时代", ["第一次世界大战", "三国时代"]),
        ("ja", "# 概要\n# 歴史\n# 脚注", ["歴史"]),
    ],
)
def test_headings_of_no_sections_are_known_in_every_language(language: str, outline: str, left: list[str]) -> None:
    assert [heading.title for heading in parse_outline(outline, f"x {language}").sections] == left


def test_the_letters_of_the_articles_language_are_never_foreign() -> None:
    assert foreign_script_share("東京は日本の首都である。", "東京", scripts_of("ja")) == 0.0
    assert foreign_script_share("Айфон — смартфон.", "iPhone", scripts_of("ru")) == 0.0
    assert foreign_script_share("故宫位于北京。", "Дворец", scripts_of("ru")) == 1.0


@pytest.mark.parametrize(
    ("language", "line", "text"),
    [
        ("de", "1. September 1939 war ein Freitag.", "1. September 1939 war ein Freitag."),
        ("de", "1. Der Turm steht am Hafen.", "Der Turm steht am Hafen."),
        ("en", "1. September 1939 was warm.", "September 1939 was warm."),
        ("zh", "1、灯塔建于港口。", "灯塔建于港口。"),
    ],
)
def test_a_date_that_opens_a_line_is_no_number_of_a_list(language: str, line: str, text: str) -> None:
    assert [claim.text for claim in read_draft(line, 1, language).claims()] == [text]


def test_sentences_are_joined_as_the_language_writes() -> None:
    assert join_sentences(["甲。", "乙。"], "zh") == "甲。乙。"
    assert join_sentences(["A.", "B."], "de") == "A. B."
    assert references_heading("de") == "Einzelnachweise"
    assert references_heading("xx") == references_heading("en") == "References"
