"""Edits of a finished article: whatever a model names, nothing that the article cites or counts is lost."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, get_args

import pytest
from articles import cites
from contexts import Told, run
from hypothesis import assume, given
from hypothesis import strategies as st

from storm_pipeline.errors import ModelError
from storm_pipeline.method.writers.editing import edit_article
from storm_pipeline.signatures.shapes import Edit, Lookup
from storm_pipeline.sources.search.result import SearchResult
from storm_pipeline.types import Citation, Paragraph, Section, Sentence, Snippet


def edited(sections: tuple[Section, ...], edits: Sequence[Edit] | ModelError) -> tuple[tuple[Section, ...], Told]:
    passes = iter([edits])

    def reply(inputs: object) -> dict[str, object]:
        given = next(passes, ())
        if isinstance(given, ModelError):
            raise given
        return {"edits": list(given)}

    with run(replies={"EditArticle": reply}) as (ctx, told):
        return edit_article(ctx, sections), told


def test_without_editing_the_model_is_not_asked() -> None:
    with run(replies={}, editing="off") as (ctx, _):
        assert edit_article(ctx, ARTICLE) == ARTICLE


def texts(sections: Sequence[Section]) -> list[str]:
    return [sentence.text for section in sections for sentence in section.sentences()]


def citations(sections: Sequence[Section]) -> set[Citation]:
    return {c for section in sections for sentence in section.sentences() for c in sentence.citations}


def numbers(sections: Sequence[Section]) -> set[str]:
    return set(re.findall(r"\d+", " ".join(texts(sections))))


def sentence(text: str, *cited: str) -> Sentence:
    return Sentence(text, tuple(Citation(source, f"{source}-1") for source in cited))


ARTICLE = (
    Section(
        "History",
        (
            Paragraph((sentence("The dam was built in 1936.", "a"), sentence("He opened it himself.", "b"))),
            Paragraph((sentence("The wall was finished in 1936.", "c"),)),
        ),
        (Section("Floods", (Paragraph((sentence("A flood came in 1952.", "d"),)),)),),
    ),
    Section("Lake", (Paragraph((sentence("Char live there.", "e"), sentence("The lake is 40 km long.", "f"))),)),
)


JOINT = "The lake is 40 km long, and char live there."
ONE = [
    (Edit(kind="cut", sentence=3, other=1), {1: sentence("The dam was built in 1936.", "a", "c"), 3: None}, "cut"),
    (Edit(kind="reword", sentence=2, text="[2] A\nking did  it."), {2: sentence("A king did it.", "b")}, "reworded"),
    (Edit(kind="trim", sentence=4, text="A flood came."), {4: sentence("A flood came.", "d")}, "reworded"),
    (Edit(kind="join", sentence=6, other=5, text=JOINT), {5: None, 6: sentence(JOINT, "f", "e")}, "joined"),
]  # fmt: skip
"""An edit, the sentences that it changes or takes away by their numbers, and what is recorded."""


@pytest.mark.parametrize(("edit", "changed", "outcome"), ONE)
def test_a_sentence_changes_and_no_citation_is_lost(
    edit: Edit, changed: dict[int, Sentence | None], outcome: str
) -> None:
    after, told = edited(ARTICLE, [edit])
    numbered = enumerate((own for section in ARTICLE for own in section.sentences()), 1)
    expected = [changed.get(number, own) for number, own in numbered]
    assert [own for section in after for own in section.sentences()] == [own for own in expected if own]
    assert [own.outcome for own in told.revised()] == [f"{outcome} by the editor"]
    assert told.counted("repeated") == (outcome == "cut")
    reasons = [own.reason for own in told.revised()]
    assert (reasons == ["has detail that the topic does not need"]) == (edit.kind == "trim")


REWORDED = (
    *("The dam was built in 1937.", "The dam was built in 1936 and 1940.", "In 1936", ""),
    *("The dam, which was built in 1936, was", "The dam was built in 1936 by Karl Selby."),
)
JOINED = ("", "Char live in the lake, which is long.", "The lake, 40 km long in 1940, has char.")
REFUSED = {
    "a trimmed sentence says more": [Edit(kind="trim", sentence=4, text="A flood came in 1999.")],
    "a number of its own is cut": [Edit(kind="cut", sentence=4, other=1)],
    "something else is said": [Edit(kind="reword", sentence=1, text=text) for text in REWORDED],
    "what no other says is left out": [Edit(kind="reword", sentence=4, text="A flood came later.")],
    "less or more is said of two": [Edit(kind="join", sentence=6, other=5, text=text) for text in JOINED],
    "a run is moved into itself": [Edit(kind="move", sentence=1, last=last, other=2) for last in (3, 10**18)],
    "a heading is not distinct, short and true": [
        Edit(kind="heading", sentence=2, text=text)
        for text in ("", "**", "lake", "L" * 121, "Orrin Dam", "Floods of 1999")
    ],
    "a section is moved into itself": [Edit(kind="section", sentence=1, other=n) for n in (1, 2)],
    "a section with others goes below one": [Edit(kind="section_into", sentence=1, other=3)],
    "a section goes below a subsection": [Edit(kind="section_into", sentence=3, other=2)],
    "there is no such section": [Edit(kind="section", sentence=9, other=1)],
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_edit_is_not_made_where(name: str) -> None:
    for edit in REFUSED[name]:
        assert edited(ARTICLE, [edit])[0] == ARTICLE, edit


def test_a_sentence_becomes_two_which_cite_what_it_cited_and_what_each_names() -> None:
    text = "Char live there. They came from the lake [6]."
    second = Edit(kind="move", sentence=6, other=1)
    after, (_, asked) = in_passes(ARTICLE, [Edit(kind="reword", sentence=5, text=text)], [second])
    assert list(after[1].sentences()) == [
        sentence("Char live there.", "e"),
        sentence("They came from the lake.", "e", "f"),
    ]
    assert asked["article"].splitlines()[-1] == (
        "[5] Char live there. [7] They came from the lake. [6] The lake is 40 km long."
    )
    assert texts(after)[1] == "The lake is 40 km long."
    one_wrong = Edit(kind="reword", sentence=5, text="Char live there. They came in 1999.")
    assert edited(ARTICLE, [one_wrong])[0] == ARTICLE


def test_a_reworded_sentence_may_take_a_date_of_another_one_and_its_sources_with_it() -> None:
    new = "After the flood of 1952 he opened it himself."
    refused, _ = edited(ARTICLE, [Edit(kind="reword", sentence=2, text=new)])
    assert refused == ARTICLE
    after, _ = edited(ARTICLE, [Edit(kind="reword", sentence=2, other=4, text=new)])
    (own,) = [one for one in after[0].sentences() if one.text == new]
    assert [c.source_id for c in own.citations] == ["b", "d"]


def in_passes(
    sections: tuple[Section, ...], *passes: list[Edit], snippets: Sequence[Snippet] = ()
) -> tuple[tuple[Section, ...], list[Mapping[str, Any]]]:
    """The article after passes of edits, and the inputs with which each was asked for."""
    asked: list[Mapping[str, Any]] = []

    def reply(inputs: Mapping[str, Any]) -> dict[str, object]:
        asked.append(inputs)
        return {"edits": passes[len(asked) - 1]}

    with run(snippets, replies={"EditArticle": reply}) as (ctx, _):
        return edit_article(ctx, sections), asked


def test_edits_that_cannot_be_made_come_back_once_with_the_reason() -> None:
    wrong = Edit(kind="reword", sentence=1, text="The dam was built in 1937.")
    right = Edit(kind="reword", sentence=1, text="Building of the dam ended in 1936.")
    moved = Edit(kind="move", sentence=2, other=3)
    after, (first, second) = in_passes(ARTICLE, [wrong, moved], [right])
    assert texts(after)[:3] == [right.text, "The wall was finished in 1936.", "He opened it himself."]
    assert first["remarks"] == ""
    (line,) = second["remarks"].splitlines()
    assert line == "- reword [1] “The dam was built in 1937.”: “1937” is neither in the sentence nor in its sources"


LONG = (
    Section("History", tuple(Paragraph((sentence(f"Matter {x} was told there.", "a"),)) for x in "BCDEFGHIJK")),
    Section("Trains", (Paragraph(tuple(sentence(f"Train {letter} ran there.", "b") for letter in "BCDEFGHIJK")),)),
)


def test_sentences_off_the_topic_go_but_no_more_than_15_of_100() -> None:
    off = [Edit(kind="drop", sentence=number) for number in (11, 12)]
    repeated = [Edit(kind="cut", sentence=number, other=1) for number in (2, 3)]
    moved = [Edit(kind=kind, sentence=1, last=9, other=20) for kind in ("move", "move_before")] * 9
    after, (_, second) = in_passes(LONG, [*off, *repeated, *moved], [Edit(kind="drop", sentence=13)])
    assert len(texts(after)) == 20 - 3
    assert not {"Train B ran there.", "Train C ran there.", "Matter C was told there."} & set(texts(after))
    uncut, *unmoved = second["remarks"].splitlines()
    assert (uncut, len(unmoved)) == ("- cut [3] and [1]: as many sentences as may go have been cut and dropped", 15)


def outline(sections: Sequence[Section]) -> dict[str, list[str]]:
    return {section.heading: [own.heading for own in section.subsections] for section in sections}


OUTLINE: dict[str, list[str]] = {"History": ["Floods"], "Lake": []}
APART: dict[str, list[str]] = {"History": [], "Floods": [], "Lake": []}
RENAMED: dict[str, list[str]] = {"History": ["Deep water"], "Lake": []}
MADE = [
    (Edit(kind="move", sentence=6, other=1), [1, 6, 2, 3, 4, 5], OUTLINE, "The lake is 40 km long."),
    (Edit(kind="move_before", sentence=5, last=6, other=1), [5, 6, 1, 2, 3, 4], {"History": ["Floods"]}, None),
    (Edit(kind="move", sentence=4, other=2), [1, 2, 4, 3, 5, 6], {"History": [], "Lake": []}, "A flood came in 1952."),
    (Edit(kind="paragraph", sentence=5, last=6, other=1), [1, 2, 5, 6, 3, 4], {"History": ["Floods"]}, None),
    (Edit(kind="heading", sentence=2, text="## Deep water"), [1, 2, 3, 4, 5, 6], RENAMED, "Floods"),
    (Edit(kind="section_into", sentence=2, other=3), [1, 2, 3, 5, 6, 4], {"History": [], "Lake": ["Floods"]}, "Floods"),
    (Edit(kind="section_into", sentence=3, other=1), [1, 2, 3, 4, 5, 6], {"History": ["Floods", "Lake"]}, "Lake"),
    (Edit(kind="section", sentence=1, other=3), [5, 6, 1, 2, 3, 4], {"Lake": [], "History": ["Floods"]}, "History"),
    (Edit(kind="section_before", sentence=3, other=2), [1, 2, 3, 5, 6, 4], {"History": ["Lake", "Floods"]}, "Lake"),
    (Edit(kind="section", sentence=2, other=1), [1, 2, 3, 4, 5, 6], APART, "Floods"),
]  # fmt: skip
"""An edit, the numbers of the sentences in their new order, the outline then, and what is recorded as changed."""


@pytest.mark.parametrize(("edit", "order", "left", "before"), MADE)
def test_sentences_and_sections_are_moved_with_all_below_them(
    edit: Edit, order: list[int], left: dict[str, list[str]], before: str | None
) -> None:
    after, told = edited(ARTICLE, [edit])
    assert texts(after) == [texts(ARTICLE)[number - 1] for number in order]
    assert list(outline(after).items()) == list(left.items())
    verb = "renamed" if edit.kind == "heading" else "moved"
    assert {own.outcome for own in told.revised()} == {f"{verb} by the editor"}
    assert [own.before for own in told.revised()] == ([before] if before else texts(ARTICLE)[4:6])


PAPER = Snippet(
    "https://example.org/dam",
    "The dam",
    "Karl Selby, chief engineer of the dam, said it was 90 m high.",
    published="1936-05-02",
)
BOOK = Snippet("https://example.com/book", "Dams", "The dam of the valley is 100 m high and was built by hand.")
REPORT = (
    Section(
        "Dam", (Paragraph((cites("Selby said that the dam was 90 m high.", PAPER), sentence("It is long.", "b"))),)
    ),
    Section("Valley", (Paragraph((cites("The dam in it is 100 m high.", BOOK),)),)),
)


def test_the_editor_sees_what_each_sentence_rests_on() -> None:
    _, (first,) = in_passes(REPORT, [], snippets=[PAPER, BOOK])
    assert first["sources"].splitlines() == ["The dam (example.org, 1936-05-02): 1", "Dams (example.com): 3"]


def test_a_name_is_introduced_from_what_the_sentence_cites_and_from_nowhere_else() -> None:
    known = "Karl Selby, chief engineer of the dam, said that it was 90 m high."
    unknown = "Karl Otto Selby said that the dam was 90 m high."
    edits = [Edit(kind="reword", sentence=1, text=text) for text in (unknown, known)]
    after, (_, second) = in_passes(REPORT, edits, [], snippets=[PAPER, BOOK])
    assert texts(after)[0] == known
    assert second["remarks"] == (
        f"- reword [1] “{unknown}”: “Otto” is neither in the sentence nor in its sources, which have “{PAPER.text}”"
    )


def test_a_new_text_names_the_sentences_whose_sources_it_gets() -> None:
    told = Section("Dam", (Paragraph((cites("It is 100 m high.", BOOK), cites("Karl Selby built it.", PAPER))),))
    named = "Karl Selby's dam is 100 m high."
    after, _ = in_passes((told,), [Edit(kind="reword", sentence=1, text=f"{named} [2][9]")], [], snippets=[PAPER, BOOK])
    first, _ = after[0].sentences()
    assert (first.text, [own.source_id for own in first.citations]) == (named, [BOOK.source_id, PAPER.source_id])


def test_the_editor_asks_who_somebody_is_and_introduces_him_from_what_is_found() -> None:
    known = "Karl Selby, chief engineer of the dam, said that it was 90 m high."
    told = Section("Dam", (Paragraph((cites("Selby said that it was 90 m high.", BOOK),)),))
    asked: list[Mapping[str, Any]] = []

    def reply(inputs: Mapping[str, Any]) -> dict[str, object]:
        asked.append(inputs)
        if len(asked) > 1:
            return {"edits": [Edit(kind="reword", sentence=1, text=f"{known} [3]")]}
        return {"edits": [], "lookups": [Lookup(sentence=1, question="Who is Selby, engineer of the dam?")]}

    engine: Any = SimpleNamespace(
        name="corpus", search=lambda query, _: SearchResult((PAPER,) if "Selby" in query else ()), excluded_ids=set
    )
    finding = cites("Selby, an engineer, built the dam.", BOOK)
    with run([BOOK], replies={"EditArticle": reply}) as (ctx, _):
        (after,) = edit_article(replace(ctx, search=engine), (told,), [finding, *told.sentences()])
    assert [one["found"].splitlines() for one in asked] == [
        [],
        [
            *("Who is Selby, engineer of the dam? ([1])", f"[2] Dams (example.com): {BOOK.text}"),
            f"[3] The dam (example.org, 1936-05-02): {PAPER.text}",
            f"[4] {finding.text} (a finding)",
        ],
    ]
    assert asked[1]["article"] == asked[0]["article"]
    assert list(after.sentences()) == [cites(known, BOOK, PAPER)]


def test_an_undated_sentence_gets_the_date_of_its_page_and_no_other() -> None:
    dated, wrong = (f"Selby said in May {year} that the dam was 90 m high." for year in (1936, 1937))
    assert texts(in_passes(REPORT, [Edit(kind="reword", sentence=1, text=dated)], [], snippets=[PAPER])[0])[0] == dated
    assert in_passes(REPORT, [Edit(kind="reword", sentence=1, text=wrong)], [], snippets=[PAPER])[0] == REPORT


def test_a_conflict_is_told_once_with_both_sides_and_their_sources() -> None:
    both = "The dam was 90 m high according to Selby, and 100 m according to a book."
    after, _ = edited(REPORT, [Edit(kind="join", sentence=1, other=3, text=both)])
    assert [own.heading for own in after] == ["Dam"]
    assert next(after[0].sentences()) == cites(both, PAPER, BOOK)
    one_side = Edit(kind="join", sentence=1, other=3, text="The dam was 90 m high according to Selby.")
    assert edited(REPORT, [one_side])[0] == REPORT


NUMBER = st.integers(-1, 9)
SENTENCES = st.builds(
    lambda what, number, cited: sentence(f"{what} {number}.", *cited),
    st.sampled_from(["The dam was built in", "The wall stood until", "He left the valley in", "A flood came in"]),
    st.sampled_from([1931, 1936, 1952, 40215, 77312]),
    st.sets(st.sampled_from("abcdef"), max_size=2),
)
PARAGRAPHS = st.lists(
    st.lists(SENTENCES, min_size=1, max_size=3).map(lambda own: Paragraph(tuple(own))), min_size=1, max_size=2
).map(tuple)
SUBSECTIONS = st.tuples() | st.tuples(st.builds(Section, st.just("Below"), PARAGRAPHS))
SECTIONS = st.lists(st.builds(Section, st.just("H"), PARAGRAPHS, SUBSECTIONS), min_size=1, max_size=3).map(tuple)
EDITS = st.lists(
    st.builds(
        Edit,
        kind=st.sampled_from([kind for kind in get_args(Edit.model_fields["kind"].annotation) if kind != "drop"]),
        sentence=NUMBER,
        other=NUMBER,
        last=NUMBER,
        text=st.sampled_from(
            [
                *("", "The dam was built in 1936.", "It was 1931 [2].", "A flood of water came in 1952.", "x\n## y"),
                *("In 1936", "The dam was built in 1936, and the wall stood until 1952."),
            ]
        ),
    ),
    max_size=12,
)


@given(SECTIONS, EDITS)
def test_no_edits_lose_a_citation_or_change_a_number(sections: tuple[Section, ...], edits: list[Edit]) -> None:
    after, _ = edited(sections, edits)
    assert citations(after) == citations(sections)
    assert numbers(after) == numbers(sections)
    assert all(paragraph.sentences for section in after for paragraph in section.paragraphs)


@given(SECTIONS, EDITS)
def test_what_is_not_edited_stays_in_its_place(sections: tuple[Section, ...], edits: list[Edit]) -> None:
    before = texts(sections)
    assume(len(set(before)) == len(before))  # what stands twice goes without being asked about
    after, told = edited(sections, edits)
    made = [own.outcome.partition(" ")[0] for own in told.revised()]
    assert len(texts(after)) == len(before) - made.count("cut") - made.count("joined")
    touched = {n for edit in edits for n in (edit.sentence, edit.other, *range(edit.sentence, edit.last + 1))}
    stayed = [text for number, text in enumerate(before, 1) if number not in touched]
    rest = iter(texts(after))
    assert all(text in rest for text in stayed)
