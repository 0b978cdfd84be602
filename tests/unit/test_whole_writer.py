"""The writer for capable models: answers, sections and articles from passages, each in one call."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from contexts import run

from storm_pipeline.run.context import RunContext
from storm_pipeline.types import Citation, Heading, Outline, Section, Sentence, Snippet
from storm_pipeline.writers.passage_answers import answer_from_passages
from storm_pipeline.writers.whole import evidence_from, write_whole

DAM = Snippet(
    "https://a.org/dam", "Orrin Dam", "Two thousand men built the Orrin Dam of concrete from 1931 until 1936."
)
FLOOD = Snippet(
    "https://b.org/flood", "Floods", "A flood came over the wall in 1952 and took away the mill of the town."
)
OUTLINE = Outline("Orrin Dam", (Heading("History", (Heading("Floods"), Heading("Repairs"))), Heading("Lake")))
BUILT = "The dam of concrete was built by two thousand men from 1931 until 1936 [1]."
FLOODED = "Which flood came over the wall in 1952 and took away the mill of the town?"
CAME = "In 1952 a flood came over the wall and took the mill of the town [2]."


def evidence_of(ctx: RunContext, heading: Heading, found: Sequence[Snippet]) -> Any:
    """The evidence of a section from these snippets alone."""
    return evidence_from(ctx, Outline(OUTLINE.topic, (heading,)), found).sections[0]


def texts(section: Section) -> list[str]:
    return [sentence.text for sentence in section.sentences()]


def section(reply: str, remarks: str = "") -> Section:
    replies: dict[str, Any] = {"WriteSection": lambda _: {"text": reply}, "AnswerRemarks": lambda _: {"text": remarks}}
    with run([DAM, FLOOD], replies) as (ctx, _):
        evidence = evidence_of(ctx, OUTLINE.sections[0], [DAM, FLOOD])
        return write_whole(ctx, OUTLINE, evidence)


def test_planned_subheadings_become_subsections() -> None:
    own = section(f"{BUILT}\n\n## Floods\n{CAME}\n")
    assert own.heading == "History"
    assert [len(paragraph.sentences) for paragraph in own.paragraphs] == [1]
    assert [(below.heading, len(texts(below))) for below in own.subsections] == [("Floods", 1)]


def test_text_under_a_heading_that_is_not_planned_belongs_to_what_is_before_it() -> None:
    assert [
        len(texts(own)) for own in section(f"## Early days\n{BUILT}\n## FLOODS\n{CAME}\n## More\n{BUILT}").subsections
    ] == [2]
    assert not section(f"# History\n{BUILT}\n## Other\n{CAME}").subsections


def test_nothing_of_a_subsection_without_support_is_left() -> None:
    own = section(f"{BUILT}\n## Repairs\nPenguins waltz beneath Antarctic moonlight [2].", "1: delete")
    assert not own.subsections
    assert len(texts(own)) == 1


def test_findings_of_other_sections_are_named_as_such() -> None:
    asked: list[Mapping[str, Any]] = []

    def write(inputs: Mapping[str, Any]) -> dict[str, str]:
        asked.append(inputs)
        return {"text": BUILT}

    own, other = (Sentence(text, (Citation(DAM.source_id, DAM.id),)) for text in ("It is of concrete.", "It holds."))
    with run([DAM], {"WriteSection": write}) as (ctx, _):
        shown = evidence_of(ctx, OUTLINE.sections[0], [DAM])
        write_whole(ctx, OUTLINE, replace(shown, findings=(own, other), own=1))
    first, between, last = asked[0]["findings"].splitlines()
    assert (first, last) == ("- It is of concrete. [1]", "- It holds. [1]")
    assert "other sections" in between


def test_an_article_has_a_summary_and_the_sections_that_its_writer_gave_it() -> None:
    def write(inputs: Mapping[str, Any]) -> dict[str, str]:
        return {"text": f"{BUILT}\n## History\n{BUILT}\n## Empty\n## Floods\n{CAME}"}

    with run([DAM, FLOOD], {"WriteArticle": write}) as (ctx, _):
        evidence = evidence_of(ctx, Heading("Overview"), [DAM, FLOOD])
        whole = write_whole(ctx, Outline(OUTLINE.topic), evidence)
    assert [len(paragraph.sentences) for paragraph in whole.paragraphs] == [1]
    assert [own.heading for own in whole.subsections] == ["History", "Floods"]


@pytest.mark.parametrize(
    "reply", ["The sources do not say.", "The passages do not mention this.", "**The sources do not say.**"]
)
def test_an_answer_may_be_that_nothing_is_said(reply: str) -> None:
    with run(replies={"AnswerFromPassages": lambda inputs: {"answer": reply}}) as (ctx, _):
        answer = answer_from_passages(ctx, "Orrin Dam", "Who paid?", [DAM])
    assert answer.sentences == ()
    assert answer.shown == (DAM,)


def test_an_answer_keeps_what_is_supported_and_counts_the_rest() -> None:
    reply = f"{BUILT} Penguins waltz beneath Antarctic moonlight [2]. {CAME.replace('[2]', '[2][7]')}"
    with run(replies={"AnswerFromPassages": lambda inputs: {"answer": reply}}) as (ctx, told):
        answer = answer_from_passages(ctx, "Orrin Dam", FLOODED, [DAM, FLOOD])
        known = [ctx.store.snippet(c.snippet_id) for own in answer.sentences for c in own.citations]
    assert [own.text for own in answer.sentences] == [text.rpartition(" [")[0] + "." for text in (BUILT, CAME)]
    assert known == [DAM, FLOOD]
    assert (told.counted("invented_citations"), told.counted("dropped_unsupported")) == (1, 1)


def test_an_unchecked_answer_keeps_what_it_cites() -> None:
    reply = f"{BUILT} Penguins waltz beneath Antarctic moonlight [2]. Nobody knows."
    with run(replies={"AnswerFromPassages": lambda inputs: {"answer": reply}}, uncited="unchecked") as (ctx, told):
        answer = answer_from_passages(ctx, "Orrin Dam", FLOODED, [DAM, FLOOD])
        known = [ctx.store.snippet(c.snippet_id) for own in answer.sentences for c in own.citations]
    assert [own.text for own in answer.sentences][1:] == ["Penguins waltz beneath Antarctic moonlight."]
    assert known == [DAM, FLOOD]
    assert told.counted("dropped_unsupported") == 1
