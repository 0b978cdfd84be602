"""Which passages and findings each section gets: whatever a finding cites reaches one, unless it is left out."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from contexts import Told, run
from hypothesis import given, settings
from hypothesis import strategies as st

from storm_pipeline.errors import ModelError
from storm_pipeline.evidence.evidence import NO_NOTES, Evidence, FindingNotes
from storm_pipeline.method.writers.allocation import allocate
from storm_pipeline.method.writers.findings import place_findings
from storm_pipeline.signatures.shapes import Place
from storm_pipeline.types import Citation, Conversation, Heading, Outline, Perspective, Sentence, Snippet, Turn

SUBJECTS = {
    "Wells": "The salt wells of the Silk Road were dug by hand",
    "Monks": "Monks carried scrolls along the Silk Road to temples",
    "Camels": "Camels of the Silk Road ate barley at the inns",
    "Law": "Courts judged merchants of the Silk Road by local law",
}


def page(subject: str, number: int, words: int = 40) -> Snippet:
    filler = " ".join(f"{subject.lower()}{number}x{i}" for i in range(words))
    return Snippet(
        f"https://example.org/{subject}/{number}", subject, f"{SUBJECTS[subject]} {number}00 times. {filler}."
    )


PAGES = [page(subject, number) for subject in SUBJECTS for number in range(1, 5)]
LONG = page("Wells", 9, 120).text.split()
ALIKE = [  # of one page, overlapping; one within another; and copies of a page on other ones
    *(Snippet("https://example.org/long", "Wells", " ".join(LONG[at : at + 40])) for at in range(0, 120, 25)),
    Snippet("https://example.org/long", "Wells", " ".join(LONG[5:20])),
    *(Snippet(f"https://mirror{n}.example.net/", "Monks", page("Monks", 1).text.replace("x7", "y7")) for n in (1, 2)),
]
OUTLINE = Outline("Silk Road", tuple(Heading(subject) for subject in SUBJECTS))


def said(*snippets: Snippet, text: str = "") -> Sentence:
    told = text or snippets[0].text.partition(".")[0] + "."
    return Sentence(told, tuple(Citation(own.source_id, own.id) for own in snippets))


def interview(*sentences: Sentence) -> Conversation:
    return Conversation(Perspective("Editor", ""), (Turn("What?", (), tuple(sentences)),))


def allocated(
    outline: Outline,
    conversations: Sequence[Conversation],
    pages: Sequence[Snippet] = (*PAGES, *ALIKE),
    places: Sequence[Place] | ModelError = (),
    same: Sequence[list[int]] = (),
    notes: FindingNotes = NO_NOTES,
    **given: int,
) -> tuple[Evidence, Told]:
    def reply(inputs: object) -> dict[str, object]:
        if isinstance(places, ModelError):
            raise places
        return {"places": list(places), "same": list(same)}

    with run(pages, {"PlaceFindings": reply}, outline.topic, **given) as (ctx, told):
        return allocate(ctx, outline, conversations, notes), told


def cited(conversations: Sequence[Conversation]) -> set[str]:
    """Ids of the snippets cited."""
    return {c.snippet_id for own in conversations for turn in own.turns for s in turn.answer for c in s.citations}


TITLES = st.sampled_from([*SUBJECTS, "Silk Road", "History", "Music and art", "A", "", "Ünïcode 文"])
HEADINGS = st.builds(Heading, TITLES, st.lists(st.builds(Heading, TITLES), max_size=2).map(tuple))
OUTLINES = st.builds(Outline, st.just("Silk Road"), st.lists(HEADINGS, max_size=5).map(tuple))
TEXTS = st.sampled_from(["The wells were deep.", "Camels ate barley.", "Nothing like it was ever seen.", "", "中文。"])
SAID = st.builds(
    lambda own, text: said(*own, text=text),
    st.lists(st.sampled_from(PAGES), min_size=1, max_size=3, unique=True),
    TEXTS,
)
INTERVIEWS = st.lists(st.lists(SAID, max_size=5).map(lambda own: interview(*own)), max_size=3)

NUMBERS = st.lists(st.integers(-1, 12), max_size=6)
PLACES = st.lists(st.builds(Place, section=st.integers(-1, 7), findings=NUMBERS))
IN_SECTIONS = st.lists(st.builds(Place, section=st.sampled_from([-1, *range(1, 8)]), findings=NUMBERS))
SAME = st.lists(NUMBERS, max_size=4)


@settings(max_examples=50)
@given(OUTLINES, INTERVIEWS, st.sampled_from([200, 3000]), IN_SECTIONS | PLACES, SAME)
def test_whatever_an_interview_cites_reaches_a_section_and_each_finding_one_where_it_can_be_cited(
    outline: Outline, conversations: list[Conversation], words: int, places: list[Place], same: list[list[int]]
) -> None:
    evidence, run_of = allocated(outline, conversations, evidence=words, places=places, same=same)
    assert len(evidence.sections) == len(evidence.outline.sections)
    told = [finding for own in evidence.sections for finding in own.findings]
    assert len(told) == len({finding.text for finding in told} if all(f.text for f in told) else told)
    for own in evidence.sections:
        for finding in own.findings:
            assert {c.snippet_id for c in finding.citations} & own.snippet_ids()
    if outline.sections and not run_of.counted("left_out"):
        assert cited(conversations) == {c.snippet_id for finding in told for c in finding.citations}
        assert cited(conversations) <= evidence.snippet_ids()


def test_a_finding_with_a_number_of_its_own_is_not_merged() -> None:
    first, other = said(PAGES[0], text="The wells were deep."), said(PAGES[1], text="The wells were 30 metres deep.")
    evidence, _ = allocated(OUTLINE, [interview(first, other)], same=[[1, 2]])
    assert sum(len(own.findings) for own in evidence.sections) == 2
    evidence, _ = allocated(OUTLINE, [interview(first, other)], same=[[2, 1]])
    assert [f.text for own in evidence.sections for f in own.findings] == [other.text]


def test_the_numbers_of_a_finding_are_compared_with_those_of_few_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storm_pipeline.method.writers.findings._BATCH", 1)
    told = (said(PAGES[0], text=f"The wells were dug {n} times{end}") for n, end in ((1, "."), (2, "."), (2, ".\n")))
    assert sum(len(own.findings) for own in allocated(OUTLINE, [interview(*told)])[0].sections) == 3


def test_what_is_off_the_topic_is_told_nowhere_and_counted() -> None:
    away = Snippet("https://other.org/", "Wells of another road", "Wells of another road were dug there long before.")
    told_of = [said(page("Wells", 1)), said(page("Camels", 1)), said(away)]
    places = [Place(section=1, findings=[1]), Place(section=3, findings=[2]), Place(section=0, findings=[3])]
    for own, notes in ((places, NO_NOTES), ([], FindingNotes(left_out=(told_of[2].text,)))):
        evidence, told = allocated(OUTLINE, [interview(*told_of)], (*PAGES, away), own, notes=notes, evidence=200)
        assert {f.text for own in evidence.sections for f in own.findings} == {one.text for one in told_of[:2]}
        assert away.id not in evidence.snippet_ids()
        assert told.counted("left_out") == 1


@pytest.mark.parametrize(("number", "batches"), [(120, [120]), (121, [61, 60]), (250, [84, 83, 83])])
def test_many_findings_are_placed_in_batches_and_each_sees_what_is_placed(number: int, batches: list[int]) -> None:
    asked: list[Mapping[str, Any]] = []

    def place(inputs: Mapping[str, Any]) -> dict[str, object]:
        asked.append(inputs)
        numbers = [int(n) for n in re.findall(r"^\[(\d+)\]", inputs["findings"], re.M)]
        return {"places": [Place(section=2, findings=numbers[:-1])], "same": []}

    own = PAGES[0]
    findings = [said(own, text=f"Finding number {n} of the Silk Road.") for n in range(number)]
    with run([replace(own, published="2019")], {"PlaceFindings": place}, "Silk Road") as (ctx, _):
        notes = place_findings(ctx, OUTLINE, findings, NO_NOTES)
    assert [one["findings"].count("\n") + 1 for one in asked] == batches
    assert "[1] Finding number 0 of the Silk Road. (Wells, 2019)" in asked[0]["findings"]
    assert [bool(one["placed"]) for one in asked] == [False, *[True] * (len(batches) - 1)]
    assert asked[-1]["placed"].count("[") == (sum(batches[:-1]) - len(batches) + 1 if batches[1:] else 0)
    assert set(notes.sections.values()) == {"Monks"}
    assert len(findings) - len(notes.sections) == len(batches)


def test_a_model_that_leaves_nearly_everything_out_is_not_believed() -> None:
    wells, camels = said(page("Wells", 1)), said(page("Camels", 1))
    evidence, _ = allocated(OUTLINE, [interview(wells, camels)], places=[Place(section=0, findings=[1, 2])])
    assert [[f.text for f in own.findings] for own in evidence.sections] == [[wells.text], [], [camels.text], []]


def test_what_headings_retrieve_is_shown_unless_what_sections_lack_was_looked_up() -> None:
    cited, uncited = [page("Wells", number, 110) for number in range(1, 4)], page("Wells", 5)
    finding, other = said(*cited), said(PAGES[4])
    pages, held = [*cited, uncited, *PAGES[4:]], [interview(finding, other)]
    placed = [Place(section=1, findings=[1]), Place(section=2, findings=[2])]
    by_model, _ = allocated(OUTLINE, held, pages, placed)
    assert uncited.id in by_model.sections[0].snippet_ids()
    notes = FindingNotes(sections={finding.text: "Wells", other.text: "Monks"})
    by_points, _ = allocated(OUTLINE, held, pages, ModelError("nobody is asked"), notes=notes)
    assert by_points.sections[0].snippet_ids() == {own.id for own in cited}


def test_a_heading_without_anything_becomes_a_part_of_its_neighbour_and_that_is_told() -> None:
    few = [page("Wells", 1, 80), page("Monks", 1, 80), page("Camels", 1, 5)]
    outline = Outline("Silk Road", (Heading("Camels"), Heading("Wells"), Heading("Monks")))
    conversations = [interview(*map(said, few))]
    evidence, told = allocated(outline, conversations, few, evidence=200)
    titles = [own.title for own in evidence.outline.sections]
    merged = set(outline.titles()) - set(titles)
    assert len(told.degraded()) == len(merged)
    assert all(any(repr(title) in line for line in told.degraded()) for title in merged)
    assert set(evidence.outline.titles()) == set(outline.titles())
    assert cited(conversations) <= evidence.snippet_ids()


def test_what_nobody_cites_is_shown_only_if_its_page_bears_on_the_topic() -> None:
    here, away, foreign = (
        Snippet(f"https://example.org/{name}", "", text)
        for name, text in (
            ("here", "Nobody knows how old the law in Selby is, but its judges still wear grey."),
            ("away", "Barley beer was sold at every fair, where camels were judged by their teeth."),
            ("foreign", "Die Gerichte in Norwegen sind alt, und die Richter tragen noch immer Schwarz."),
        )
    )
    outline = Outline("Law in Selby", (Heading("Courts"), Heading("Judges")))
    evidence, _ = allocated(outline, [], [here, away, foreign], evidence=200)
    assert {passage.text for own in evidence.sections for passage in own.passages} == {here.text, foreign.text}
    evidence, _ = allocated(outline, [], [away], evidence=200)
    assert away.text in {passage.text for own in evidence.sections for passage in own.passages}
