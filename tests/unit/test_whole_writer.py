"""The writer for capable models: answers, sections and articles from passages, each in one call."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from contexts import run
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.references.screen import Claim
from storm_pipeline.run.context import RunContext
from storm_pipeline.run.writer import Material, Writing
from storm_pipeline.types import Citation, Heading, Outline, Paragraph, Section, Sentence, Snippet
from storm_pipeline.writers.changes import Change, changed

DAM = Snippet(
    "https://a.org/dam", "Orrin Dam", "Two thousand men built the Orrin Dam of concrete from 1931 until 1936."
)
FLOOD = Snippet(
    "https://b.org/flood", "Floods", "A flood came over the wall in 1952 and took away the mill of the town."
)
COPY = Snippet("https://mirror.net/dam", "Orrin Dam", DAM.text)
OUTLINE = Outline("Orrin Dam", (Heading("History", (Heading("Floods"), Heading("Repairs"))), Heading("Lake")))
BUILT = "The dam of concrete was built by two thousand men from 1931 until 1936 [1]."
FLOODED = "Which flood came over the wall in 1952 and took away the mill of the town?"
CAME = "In 1952 a flood came over the wall and took the mill of the town [2]."


def evidence_of(ctx: RunContext, heading: Heading, found: Sequence[Snippet]) -> Any:
    """The evidence of a section from these snippets alone."""
    return ctx.writer.gather(ctx, Material(Outline(OUTLINE.topic, (heading,)), only=found)).sections[0]


def texts(section: Section) -> list[str]:
    return [sentence.text for sentence in section.sentences()]


def section(reply: str, remarks: str = "") -> Section:
    def write(inputs: Mapping[str, Any]) -> dict[str, str]:
        return {"text": remarks if inputs["remarks"] else reply}

    with run([DAM, FLOOD], {"WriteSection": write}) as (ctx, _):
        evidence = evidence_of(ctx, OUTLINE.sections[0], [DAM, FLOOD])
        return ctx.writer.write(ctx, Writing(OUTLINE, evidence))


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


def test_a_reviser_sees_the_section_as_it_stands_and_what_is_new() -> None:
    asked: list[Mapping[str, Any]] = []

    def revise(inputs: Mapping[str, Any]) -> dict[str, str]:
        asked.append(inputs)
        return {"text": f"## Floods\n{CAME.replace('[2]', '[1]')}"}

    old = Snippet("https://c.org/x", "Roads", "A road of gravel leads from the station up to the wall in many bends.")
    with run([DAM, FLOOD, old], {"ReviseSection": revise}) as (ctx, _):
        before = evidence_of(ctx, OUTLINE.sections[0], [DAM, old])
        evidence = evidence_of(ctx, OUTLINE.sections[0], [FLOOD, DAM, old])
        written = section(BUILT)
        revised = ctx.writer.write(ctx, Writing(OUTLINE, evidence, before=(written, before)))
    assert asked[0]["written"] == "(1) " + BUILT.replace("[1]", "[2]").replace(" [2].", ". [2]")
    assert "A flood came" in asked[0]["passages"]
    assert "A road of gravel" not in asked[0]["passages"]
    assert [len(texts(own)) for own in (revised, *revised.subsections)] == [2, 1]


def test_a_reviser_sees_what_is_new_and_keeps_the_passages_that_the_section_cites() -> None:
    asked: list[Mapping[str, Any]] = []

    def revise(inputs: Mapping[str, Any]) -> dict[str, str]:
        asked.append(inputs)
        return {"text": f"after 1: {CAME.replace('[2]', '[1]')}"}

    road = Snippet("https://c.org/x", "Roads", "A road of gravel leads from the station up to the wall in many bends.")
    with run([DAM, FLOOD, road], {"ReviseSection": revise}) as (ctx, _):
        before = evidence_of(ctx, OUTLINE.sections[0], [DAM])
        finding = Sentence(CAME.removesuffix(" [2]."), (Citation(FLOOD.source_id, FLOOD.id),))
        found = evidence_of(ctx, OUTLINE.sections[0], [FLOOD, road])
        evidence = replace(found, findings=(finding,), own=1)
        own = ctx.writer.write(ctx, Writing(OUTLINE, evidence, before=(section(BUILT), before)))
    assert asked[0]["written"].startswith("(1) " + BUILT.partition(" [")[0])
    assert asked[0]["words"] == len(finding.text.split())
    assert FLOOD.text in asked[0]["passages"]
    assert DAM.text not in asked[0]["passages"]
    assert road.text not in asked[0]["passages"]
    assert [own.citations[0].source_id for own in own.sentences()] == [DAM.source_id, FLOOD.source_id]


def revised(reply: str, stands: str = BUILT, remarks: str = "") -> Section:
    def revise(inputs: Mapping[str, Any]) -> dict[str, str]:
        return {"text": remarks if inputs["remarks"] else reply}

    with run([DAM, FLOOD], {"ReviseSection": revise}) as (ctx, _):
        before = evidence_of(ctx, OUTLINE.sections[0], [DAM])
        evidence = evidence_of(ctx, OUTLINE.sections[0], [DAM, FLOOD])
        return ctx.writer.write(ctx, Writing(OUTLINE, evidence, before=(section(stands), before)))


def test_a_revision_may_add_one_subheading_for_matter_of_its_own() -> None:
    three = f"{CAME} {CAME} {CAME}"
    own = revised(f"## Mills\n{three}\n## Towns\n{three}")
    assert [(below.heading, len(texts(below))) for below in own.subsections] == [("Mills", 6)]
    own = revised(f"## Mills\n{CAME}")
    assert not own.subsections
    assert len(texts(own)) == 2


def test_a_subheading_that_stands_takes_what_is_written_under_it_again() -> None:
    stands = f"{BUILT}\n## Floods\n{CAME}"
    own = revised("## Floods\nThe mill of the town was taken away by the flood [2].", stands)
    assert [(below.heading, len(texts(below))) for below in own.subsections] == [("Floods", 2)]


DAMS, FLOODS = BUILT.removesuffix(" [1].") + ".", CAME.removesuffix(" [2].") + "."


@pytest.mark.parametrize(
    ("reply", "left"),
    [
        (f"after 1: {CAME}", [DAMS, FLOODS]),
        (f"after 0: {CAME}", [FLOODS, DAMS]),
        (f"- **After 9:** {CAME}", [DAMS, FLOODS]),
        (f"1: {CAME}", [FLOODS]),
        (f"(1): {CAME}\nafter 1: {BUILT}", [FLOODS, DAMS]),
        (f"[1]: {CAME}\nafter [1]: {BUILT}", [FLOODS, DAMS]),
        (f"1: delete\nafter 1: {CAME}", [FLOODS]),
        ("1: Penguins waltz beneath Antarctic moonlight [2].", [DAMS]),  # unsupported: what stands stays
        ("after 1: Penguins waltz beneath Antarctic moonlight [2].", [DAMS]),
        ("none", [DAMS]),
        (f"{BUILT} {CAME}", [DAMS, FLOODS]),  # a writer that repeats the section
        (f"{CAME}\n{BUILT}", [DAMS, FLOODS]),
    ],
)
def test_a_revision_changes_the_sentences_that_it_names(reply: str, left: list[str]) -> None:
    assert texts(revised(reply, remarks="1: delete")) == left


def test_what_a_revision_does_not_name_keeps_its_place_and_its_citations() -> None:
    stands = f"{BUILT}\n\n{CAME}\n## Floods\n{CAME}"
    before, after = section(stands), revised("after 2: The flood took the mill of the town away [2].", stands)
    assert after.subsections == before.subsections
    assert after.paragraphs[0] == before.paragraphs[0]
    assert [len(own.sentences) for own in after.paragraphs] == [1, 2]


@given(st.lists(st.tuples(st.integers(0, 12), st.booleans(), st.booleans()), max_size=6))
def test_changes_lose_no_sentence_that_they_do_not_name(named: list[tuple[int, bool, bool]]) -> None:
    old = [Sentence(f"Old {number}.") for number in range(1, 6)]
    stands = Section(
        "History", (Paragraph(tuple(old[:2])), Paragraph((old[2],))), (Section("Below", (Paragraph(tuple(old[3:])),)),)
    )
    changes = [Change(at, is_replacement, (Claim("New.", ()),) * claims) for at, is_replacement, claims in named]
    kept = [Section("", (Paragraph((Sentence(f"New {i}."),)),) * bool(own.claims)) for i, own in enumerate(changes)]
    sentences = list(changed(stands, changes, kept).sentences())
    replaced = {min(own.at, 5) for own in changes if own.is_replacement}
    assert [one for one in sentences if one in old] == [one for n, one in enumerate(old, 1) if n not in replaced]
    put_in = {f"New {i}." for i, own in enumerate(changes) if own.claims and not own.is_replacement}
    assert put_in <= {one.text for one in sentences}


def test_findings_of_other_sections_are_named_as_such() -> None:
    asked: list[Mapping[str, Any]] = []

    def write(inputs: Mapping[str, Any]) -> dict[str, str]:
        asked.append(inputs)
        return {"text": BUILT}

    own, other = (Sentence(text, (Citation(DAM.source_id, DAM.id),)) for text in ("It is of concrete.", "It holds."))
    with run([DAM], {"WriteSection": write}) as (ctx, _):
        shown = evidence_of(ctx, OUTLINE.sections[0], [DAM])
        ctx.writer.write(ctx, Writing(OUTLINE, replace(shown, findings=(own, other), own=1)))
    first, between, last = asked[0]["findings"].splitlines()
    assert (first, last) == ("- It is of concrete. [1]", "- It holds. [1]")
    assert "other sections" in between


def test_an_article_has_a_summary_and_the_sections_that_its_writer_gave_it() -> None:
    def write(inputs: Mapping[str, Any]) -> dict[str, str]:
        return {"text": f"{BUILT}\n## History\n{BUILT}\n## Empty\n## Floods\n{CAME}"}

    with run([DAM, FLOOD], {"WriteArticle": write}) as (ctx, _):
        evidence = evidence_of(ctx, Heading("Overview"), [DAM, FLOOD])
        whole = ctx.writer.write(ctx, Writing(Outline(OUTLINE.topic), evidence))
    assert [len(paragraph.sentences) for paragraph in whole.paragraphs] == [1]
    assert [own.heading for own in whole.subsections] == ["History", "Floods"]


@pytest.mark.parametrize(
    "reply", ["The sources do not say.", "The passages do not mention this.", "**The sources do not say.**"]
)
def test_an_answer_may_be_that_nothing_is_said(reply: str) -> None:
    with run(replies={"AnswerFromPassages": lambda inputs: {"answer": reply}}) as (ctx, _):
        answer = ctx.writer.answer(ctx, "Orrin Dam", "Who paid?", [DAM])
    assert answer.sentences == ()
    assert answer.shown == (DAM,)


def test_an_answer_keeps_what_is_supported_and_counts_the_rest() -> None:
    reply = f"{BUILT} Penguins waltz beneath Antarctic moonlight [2]. {CAME.replace('[2]', '[2][7]')}"
    with run(replies={"AnswerFromPassages": lambda inputs: {"answer": reply}}) as (ctx, told):
        answer = ctx.writer.answer(ctx, "Orrin Dam", FLOODED, [DAM, FLOOD])
        known = [ctx.store.snippet(c.snippet_id) for own in answer.sentences for c in own.citations]
    assert [own.text for own in answer.sentences] == [text.rpartition(" [")[0] + "." for text in (BUILT, CAME)]
    assert known == [DAM, FLOOD]
    assert (told.counted("invented_citations"), told.counted("dropped_unsupported")) == (1, 1)


def test_an_unchecked_answer_keeps_what_it_cites() -> None:
    reply = f"{BUILT} Penguins waltz beneath Antarctic moonlight [2]. Nobody knows."
    with run(replies={"AnswerFromPassages": lambda inputs: {"answer": reply}}, uncited="unchecked") as (ctx, told):
        answer = ctx.writer.answer(ctx, "Orrin Dam", FLOODED, [DAM, FLOOD])
        known = [ctx.store.snippet(c.snippet_id) for own in answer.sentences for c in own.citations]
    assert [own.text for own in answer.sentences][1:] == ["Penguins waltz beneath Antarctic moonlight."]
    assert known == [DAM, FLOOD]
    assert told.counted("dropped_unsupported") == 1


def test_an_answer_cites_one_of_two_copies_and_it_can_be_looked_up() -> None:
    with run(replies={"AnswerFromPassages": lambda inputs: {"answer": BUILT}}) as (ctx, _):
        (own,) = ctx.writer.answer(ctx, "Orrin Dam", "Who built it?", [DAM, COPY]).sentences
        assert [ctx.store.snippet(c.snippet_id).url for c in own.citations] == [DAM.url]


def test_without_anything_found_nobody_is_asked() -> None:
    with run() as (ctx, _):
        assert ctx.writer.answer(ctx, "Orrin Dam", "Who paid?", []).sentences == ()
