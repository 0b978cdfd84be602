"""The lead: written from the numbered sentences of the body, and cited by what these cite."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from articles import cites
from contexts import Told, run
from hypothesis import given
from hypothesis import strategies as st
from strategies import HOSTILE

from storm_pipeline.errors import ModelError
from storm_pipeline.evidence.judges.language_model import LanguageModelJudge
from storm_pipeline.method.writers.writing import write_lead
from storm_pipeline.types import Citation, Paragraph, Section, Sentence, Snippet

BODY = [
    "Two thousand men built the Orrin Dam of concrete from 1931 until 1936.",
    "Char live in the cold lake behind the wall, 40 kilometres long.",
    "Four hundred families lost their farms to the water.",
]
SECTIONS = (
    Section("History", (Paragraph((Sentence(BODY[0], (Citation("a", "a1"), Citation("b", "b1"))),)),)),
    Section("Lake", (), (Section("Fish", (Paragraph((Sentence(BODY[1], (Citation("c", "c1"),)),)),)),)),
    Section("People", (Paragraph((Sentence(BODY[2], (Citation("a", "a1"),)),)),)),
)
GOOD = "The Orrin Dam is a wall of concrete that two thousand men built between 1931 and 1936 [1]."


def lead(*replies: str | ModelError, topic: str = "Orrin Dam") -> tuple[list[Sentence], Told, list[Mapping[str, Any]]]:
    """The sentences of the lead, what was told, and what the model was asked."""
    asked: list[Mapping[str, Any]] = []

    def reply(inputs: Mapping[str, Any]) -> dict[str, Any]:
        asked.append(inputs)
        own = replies[len(asked) - 1]
        if isinstance(own, ModelError):
            raise own
        return {"text" if "remarks" in inputs else "lead": own}

    with run((), {"WriteLead": reply, "AnswerRemarks": reply}, topic) as (ctx, told):
        paragraphs = write_lead(ctx, SECTIONS)
    return [sentence for paragraph in paragraphs for sentence in paragraph.sentences], told, asked


def test_a_sentence_cites_all_that_its_body_sentences_cite() -> None:
    sentences, _, (asked,) = lead(f"{GOOD} Families lost farms, and char live in the cold lake [2][3].")
    assert [[c.snippet_id for c in own.citations] for own in sentences] == [["a1", "b1"], ["c1", "a1"]]
    assert f"# Lake\n## Fish\n[2] {BODY[1]}" in asked["article"]
    assert asked["words"] == 60


@pytest.mark.parametrize(
    ("verdict", "is_named"), [("1: supported [1]", True), ("1: partly - no concrete", False), ("", False)]
)
def test_a_sentence_keeps_the_sources_that_a_language_model_names(verdict: str, is_named: bool) -> None:
    dam, works = (Snippet(f"https://{name}.org", name, text) for name, text in (("dam", BODY[0]), ("works", "Cement.")))
    sections = (Section("History", (Paragraph((cites(BODY[0], dam, works),)),)),)
    verdicts = iter(("1: supported", verdict, verdict))
    replies = {"WriteLead": lambda _: {"lead": GOOD}, "CheckSentences": lambda _: {"verdicts": next(verdicts)}}
    with run((dam, works), replies) as (plain, _):
        ctx = replace(plain, judge=LanguageModelJudge(partial(plain.ask, "judge"), "one", plain.programs.check))
        ((own,),) = (paragraph.sentences for paragraph in write_lead(ctx, sections))
    assert [citation.snippet_id for citation in own.citations] == [dam.id] + [works.id] * (not is_named)


def test_a_summary_cites_sentences_that_share_one_rare_word_with_it() -> None:
    summary = (
        "It was finished in 1936 after five years of work by thousands of men, a lake with fish took the place of the "
        "valley, and many households had to give up what they lived on and move to towns without compensation for it, "
        "losing their farms [1][2][3]."
    )
    sentences, told, _ = lead(f"{GOOD} {summary}")
    assert [c.snippet_id for c in sentences[1].citations] == ["a1", "b1", "c1"]
    assert not told.revised()


@pytest.mark.parametrize("topic", ["C++", "D&D", "M*A*S*H", "It", "π", "서울", "Orrin Dam"])
def test_a_good_first_sentence_is_not_returned_whatever_the_topic_is_called(topic: str) -> None:
    first = "It is a wall of concrete that two thousand men built between 1931 and 1936 [1]."
    sentences, told, asked = lead(first, topic=topic)
    assert [own.text for own in sentences] == [first.replace(" [1]", "")]
    assert len(asked) == 1
    assert not told.revised()


@pytest.mark.parametrize(
    "line",
    [
        *("Topic: Orrin Dam", "Orrin Dam", "**Orrin Dam**", "# Orrin Dam", "Orrin Dam\n=========", "== Orrin Dam =="),
        *("<h2>Orrin Dam</h2>", "Words: 60", "Article:", "# Lake", "Lake", f"[1] {BODY[0]}"),
        f"Article:\n# History\n[1] {BODY[0]}",
    ],
)
def test_a_heading_or_a_line_of_the_prompt_is_not_text(line: str) -> None:
    for text in (f"{line}\n{GOOD}", f"{line}\n\n{GOOD}\n", f"{GOOD}\n\n{line}"):
        sentences, told, asked = lead(text)
        assert [own.text for own in sentences] == [GOOD.replace(" [1]", "")], text
        assert len(asked) == 1
        assert not told.revised()


WRITTEN = st.lists(
    st.sampled_from([GOOD, "Char live there [2].", "It is 90 km long [7].", "Penguins waltz.", "## H", *HOSTILE]),
    max_size=5,
).map("\n".join)


@given(WRITTEN, WRITTEN)
def test_a_lead_cites_only_what_the_body_cites(first: str, second: str) -> None:
    sentences, _, _ = lead(first, f"1: {second}")
    held = {citation for section in SECTIONS for own in section.sentences() for citation in own.citations}
    assert {citation for own in sentences for citation in own.citations} <= held
    assert all(own.citations for own in sentences)
