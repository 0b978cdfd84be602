"""Edits of a finished article: whatever a model names, nothing that the article cites or counts is lost."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from contexts import Told, run
from hypothesis import assume, given
from hypothesis import strategies as st

from storm_pipeline.errors import ModelError
from storm_pipeline.signatures.shapes import Edit
from storm_pipeline.types import Citation, Paragraph, Section, Sentence, Snippet
from storm_pipeline.writers.editing import edit_article


def edited(sections: tuple[Section, ...], edits: Sequence[Edit] | ModelError) -> tuple[tuple[Section, ...], Told]:
    def reply(inputs: object) -> dict[str, object]:
        if isinstance(edits, ModelError):
            raise edits
        return {"edits": list(edits)}

    with run(replies={"EditArticle": reply}) as (ctx, told):
        return edit_article(ctx, "Orrin Dam", sections), told


def test_without_editing_the_model_is_not_asked() -> None:
    with run(replies={}, editing="off") as (ctx, _):
        assert edit_article(ctx, "Orrin Dam", ARTICLE) == ARTICLE


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


def test_a_repeated_sentence_gives_its_citations_to_the_one_that_stays() -> None:
    after, told = edited(ARTICLE, [Edit(kind="cut", sentence=3, other=1)])
    first = next(after[0].sentences())
    assert [c.source_id for c in first.citations] == ["a", "c"]
    assert texts(after) == [text for text in texts(ARTICLE) if "finished" not in text]
    assert told.counted("repeated") == 1
    assert [own.outcome for own in told.revised()] == ["cut by the editor"]


def test_a_sentence_with_a_number_of_its_own_is_not_cut() -> None:
    assert edited(ARTICLE, [Edit(kind="cut", sentence=4, other=1)])[0] == ARTICLE


def test_a_sentence_is_reworded_and_keeps_its_citations() -> None:
    after, told = edited(ARTICLE, [Edit(kind="reword", sentence=2, text="The king\nopened it  himself [3].")])
    assert list(after[0].sentences())[1] == sentence("The king opened it himself.", "b")
    assert [own.outcome for own in told.revised()] == ["reworded by the editor"]


@pytest.mark.parametrize(
    "text",
    [
        "The dam was built in 1937.",
        "The dam was built in 1936 and 1940.",
        "In 1936.",
        "",
        "The dam, which was built in 1936, was",
        "The dam was built in 1936 by a great many men who had come from all over the land to find work there at last.",
    ],
)
def test_a_rewording_that_changes_what_is_said_is_not_made(text: str) -> None:
    assert edited(ARTICLE, [Edit(kind="reword", sentence=1, text=text)])[0] == ARTICLE


def test_a_stray_sentence_is_moved_behind_another_one() -> None:
    after, told = edited(ARTICLE, [Edit(kind="move", sentence=6, other=1)])
    assert texts(after)[:3] == ["The dam was built in 1936.", "The lake is 40 km long.", "He opened it himself."]
    assert [own.outcome for own in told.revised()] == ["moved by the editor"]


def test_a_run_of_sentences_is_moved_before_another_one() -> None:
    after, told = edited(ARTICLE, [Edit(kind="move_before", sentence=5, last=6, other=1)])
    assert texts(after)[:3] == ["Char live there.", "The lake is 40 km long.", "The dam was built in 1936."]
    assert [section.heading for section in after] == ["History"]
    assert [own.outcome for own in told.revised()] == ["moved by the editor"] * 2


def test_a_run_is_not_moved_into_itself() -> None:
    assert edited(ARTICLE, [Edit(kind="move", sentence=1, last=3, other=2)])[0] == ARTICLE


def test_two_sentences_become_one_with_the_citations_of_both() -> None:
    text = "The lake is 40 km long, and char live there."
    after, told = edited(ARTICLE, [Edit(kind="join", sentence=6, other=5, text=text)])
    assert list(after[1].sentences()) == [sentence(text, "f", "e")]
    assert [own.outcome for own in told.revised()] == ["joined by the editor"]


@pytest.mark.parametrize(
    "text", ["", "Char live in the lake, which is long.", "The lake, 40 km long in 1936, has char."]
)
def test_sentences_are_not_joined_to_one_that_says_less_or_more(text: str) -> None:
    assert edited(ARTICLE, [Edit(kind="join", sentence=6, other=5, text=text)])[0] == ARTICLE


def test_a_sentence_may_not_leave_out_what_no_other_says() -> None:
    assert edited(ARTICLE, [Edit(kind="reword", sentence=4, text="A flood came later.")])[0] == ARTICLE


def test_a_sentence_may_leave_out_what_another_one_says() -> None:
    text = "The wall was finished then."
    after, _ = edited(ARTICLE, [Edit(kind="reword", sentence=3, text=text)])
    assert texts(after)[2] == text


def test_a_heading_is_changed_to_fit_its_text() -> None:
    after, told = edited(ARTICLE, [Edit(kind="heading", sentence=2, text="## Floods of the valley")])
    assert after[0].subsections[0].heading == "Floods of the valley"
    assert [own.outcome for own in told.revised()] == ["renamed by the editor"]


@pytest.mark.parametrize("text", ["", "**", "lake", "Orrin Dam", "Floods of 1999", "a b c d e f g h i j k l m"])
def test_a_heading_stays_distinct_short_and_true(text: str) -> None:
    assert edited(ARTICLE, [Edit(kind="heading", sentence=2, text=text)])[0] == ARTICLE


def test_a_section_that_nothing_is_left_of_goes_with_its_heading() -> None:
    after, _ = edited(ARTICLE, [Edit(kind="move", sentence=4, other=2)])
    assert not after[0].subsections
    assert sorted(texts(after)) == sorted(texts(ARTICLE))


def in_passes(sections: tuple[Section, ...], *passes: list[Edit]) -> tuple[tuple[Section, ...], list[str]]:
    """The article after passes of edits, and the remarks with which each was asked for."""
    remarks: list[str] = []

    def reply(inputs: Mapping[str, Any]) -> dict[str, object]:
        remarks.append(inputs["remarks"])
        return {"edits": passes[len(remarks) - 1]}

    with run(replies={"EditArticle": reply}) as (ctx, _):
        return edit_article(ctx, "Orrin Dam", sections), remarks


def test_edits_that_cannot_be_made_come_back_once_with_the_reason() -> None:
    wrong = Edit(kind="reword", sentence=1, text="The dam was built in 1937.")
    right = Edit(kind="reword", sentence=1, text="Building of the dam ended in 1936.")
    moved = Edit(kind="move", sentence=2, other=3)
    after, remarks = in_passes(ARTICLE, [wrong, moved], [right])
    assert texts(after)[:3] == [right.text, "The wall was finished in 1936.", "He opened it himself."]
    assert remarks[0] == ""
    (line,) = remarks[1].splitlines()
    assert line.startswith("- reword [1] “The dam was built in 1937.”: it would add a number or a date")


def test_what_cannot_be_made_twice_is_left() -> None:
    wrong = Edit(kind="cut", sentence=6, other=5)
    after, remarks = in_passes(ARTICLE, [wrong], [wrong])
    assert after == ARTICLE
    assert len(remarks) == 2


def test_a_sentence_on_a_source_is_dropped_but_not_one_after_another() -> None:
    drops = [Edit(kind="drop", sentence=number) for number in (5, 6)]
    after, remarks = in_passes(ARTICLE, drops, [])
    assert texts(after) == [text for text in texts(ARTICLE) if text != "Char live there."]
    assert remarks[1] == "- drop [6]: enough sentences have been dropped"


def test_a_cut_names_the_sentence_that_says_the_same() -> None:
    after, remarks = in_passes(ARTICLE, [Edit(kind="cut", sentence=5)], [])
    assert after == ARTICLE
    assert "name the sentence that says the same" in remarks[1]


def test_edits_that_can_all_be_made_are_asked_for_once() -> None:
    _, remarks = in_passes(ARTICLE, [Edit(kind="move", sentence=2, other=3)])
    assert remarks == [""]


def test_a_rewording_may_say_a_number_that_the_sentences_source_says() -> None:
    source = Snippet("https://example.org/dam", "Dam", "The dam of 1936 was the 4th on the river.")
    first = Sentence("The dam was built in 1936.", (Citation(source.source_id, source.id),))
    article = (Section("History", (Paragraph((first, sentence("It is long.", "b"))),)),)
    new = "The dam, the 4th on the river, was built in 1936."
    edit = Edit(kind="reword", sentence=1, text=new)
    with run([source], replies={"EditArticle": lambda _: {"edits": [edit]}}) as (ctx, _):
        assert texts(edit_article(ctx, "Orrin Dam", article))[0] == new


def test_a_model_that_fails_leaves_the_article_as_it_is() -> None:
    after, told = edited(ARTICLE, ModelError("the endpoint is down"))
    assert after == ARTICLE
    assert "not edited" in told.degraded()[0]


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
        kind=st.sampled_from(["cut", "reword", "join", "move", "move_before", "heading"]),
        sentence=NUMBER,
        other=NUMBER,
        last=NUMBER,
        text=st.sampled_from(
            [
                "",
                "The dam was built in 1936.",
                "It was 1931 [2].",
                "A flood of water came in 1952.",
                "x\n## y",
                "In 1936",
                "The dam was built in 1936, and the wall stood until 1952.",
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


@given(SECTIONS, EDITS)
def test_rewording_and_cutting_alone_keep_the_order_of_sections(
    sections: tuple[Section, ...], edits: list[Edit]
) -> None:
    assume(len(set(texts(sections))) == len(texts(sections)))
    after, _ = edited(sections, [edit for edit in edits if edit.kind == "reword"])
    assert len(texts(after)) == len(texts(sections))
    assert [own.heading for own in after] == [own.heading for own in sections]
