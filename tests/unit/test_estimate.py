"""What an estimate says for settings, without a run."""

import dataclasses
from collections.abc import Callable
from typing import Any

import dspy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokens import gpt_4_tokens

from signatures import outline
from signatures.shapes import OutlineSection
from storm_pipeline.errors import SettingsError
from storm_pipeline.estimate import (
    Estimate,
    EstimateRow,
    Range,
    courses,
    estimate,
    judging,
    material,
    planning,
    prompts,
    writing,
)
from storm_pipeline.estimate.recipes import RECIPES
from storm_pipeline.evaluation import statements
from storm_pipeline.evaluation.judges import language_model
from storm_pipeline.evaluation.metrics import ib_score, rubric, support_errors, wikigen_quality
from storm_pipeline.evaluation.metrics.registry import METRICS
from storm_pipeline.outlines import outline_to_markdown
from storm_pipeline.prices import Price, cost
from storm_pipeline.programs import Program, Programs
from storm_pipeline.recipes import RECIPES as METHODS
from storm_pipeline.settings import Settings
from storm_pipeline.steps import outline as refining
from storm_pipeline.steps import sections as written
from storm_pipeline.types import Heading, Outline
from storm_pipeline.writers import lead, replies, rewording

GPT = "openai/gpt-4o"
NUMBERS: list[Callable[[Any], Range]] = [
    lambda it: it.calls,
    lambda it: it.tokens_in,
    lambda it: it.tokens_cached,
    lambda it: it.tokens_out,
]


def of(topic: str = "Silk Road", recipe: str = "storm", **given: Any) -> Estimate:
    return estimate(Settings.build({"lm": GPT} | given), topic, recipe=recipe)


def row(made: Estimate, program: str, stage: str = "") -> EstimateRow:
    (only,) = (r for r in made.rows if r.program == program and stage in r.stage)
    return only


def test_the_default_run_with_a_hosted_model() -> None:
    made = of()
    asked = {(r.stage, r.role, r.program): r.calls.likely for r in made.rows}
    assert asked == {
        ("related topics", "asker", "related"): 1,
        ("perspectives", "asker", "perspectives"): 1,
        ("conversations", "asker", "question"): 30,
        ("conversations", "expert", "queries"): 30,
        ("conversations", "expert", "answer"): 30,
        ("draft outline", "outliner", "draft"): 1,
        ("outline", "outliner", "refine"): 1,
        ("sections", "writer", "section"): 6,
        ("sections", "writer", "reword"): asked["sections", "writer", "reword"],
        ("polish", "reviewer", "repeated"): 1,
        ("lead", "writer", "lead"): 1,
        ("lead", "writer", "reword"): asked["lead", "writer", "reword"],
    }
    assert made.searches.likely == 90
    assert row(made, "question").why == "6 conversations × 5 turns; fewer where a writer ends it"
    assert made.dollars is not None
    assert made.dollars.likely == pytest.approx(sum(r.dollars.likely for r in made.rows if r.dollars))


def test_calls_follow_the_settings() -> None:
    made = of(perspectives=0, turns=1, related_topics=0, max_sections=2)
    assert not {"related", "perspectives"} & {r.program for r in made.rows}
    assert {r.calls.likely for r in made.rows if r.stage == "conversations"} == {1}
    assert row(made, "question").why == "1 conversation × 1 turn"
    assert row(made, "section").calls == Range(1, 2, 2)
    more = of(perspectives=9, turns=10, queries=2)
    assert row(more, "answer").calls.likely == 100
    assert more.searches.likely == 200


def test_ways_of_writing_ask_for_different_things() -> None:
    whole, by_sentence = of(), of(writing="sentences")
    assert {r.program for r in whole.rows if r.stage in ("sections", "lead")} == {"section", "lead", "reword"}
    assert {r.program for r in by_sentence.rows if r.stage in ("sections", "lead")} == {"reword", "heading"}
    assert row(by_sentence, "heading").calls == row(whole, "section").calls
    assert row(by_sentence, "reword", "sections").calls.likely > row(whole, "section").calls.likely
    shorter = of(writing="sentences", section_words=40)
    assert row(shorter, "reword", "sections").calls.high < row(by_sentence, "reword", "sections").calls.high


@pytest.mark.parametrize(
    ("program", "more"),
    [
        ("question", {"turns": 10}),
        ("answer", {"answer_facts": 20}),
        ("perspectives", {"related_topics": 8}),
        ("refine", {"outline_words": 4000}),
        ("section", {"section_facts": 40}),
        ("lead", {"section_words": 600, "section_facts": 60}),
    ],
)
def test_a_setting_that_lengthens_a_prompt_lengthens_its_estimate(program: str, more: dict[str, Any]) -> None:
    def tokens(made: Estimate) -> float:
        return row(made, program).tokens_in.high / row(made, program).calls.high

    assert tokens(of(**more)) > 1.1 * tokens(of())


def test_the_programs_own_instructions_and_examples_are_counted() -> None:
    class Wordy(dspy.Signature):
        __doc__ = "Write the outline. " * 500
        topic: str = dspy.InputField()
        sections: list[str] = dspy.OutputField()

    example = dspy.Example(topic="x" * 4300, sections=[OutlineSection(title=title) for title in "abc"])
    plain = dataclasses.replace(Programs(), draft=Program(outline.DraftOutline))
    wordy = dataclasses.replace(Programs(), draft=Program(Wordy))
    shown = dataclasses.replace(Programs(), draft=Program(outline.DraftOutline, [example]))
    in_plain, in_wordy, in_shown = (
        row(estimate(Settings.build({"lm": GPT}), "Silk Road", own), "draft").tokens_in.likely
        for own in (plain, wordy, shown)
    )
    assert in_wordy > in_plain + 2000
    assert 1000 < in_shown - in_plain < 1060


def programs(recipe: str, **given: Any) -> dict[str, list[str]]:
    """Stage → programs asked in it."""
    told: dict[str, list[str]] = {}
    for r in of(recipe=recipe, **given).rows:
        told.setdefault(r.stage, []).append(r.program)
    return told


def test_every_recipe_has_an_estimate() -> None:
    assert list(RECIPES) == list(METHODS)
    for recipe in METHODS:
        assert of(recipe=recipe).recipe == recipe


def test_an_unknown_recipe_is_refused_and_those_that_exist_are_named() -> None:
    with pytest.raises(SettingsError, match=f"no recipe 'stormm': choose one of {', '.join(METHODS)}"):
        of(recipe="stormm")


def test_what_each_recipe_asks() -> None:
    whole_article = {"article": ["article", "reword"]}
    sections = {"sections": ["section", "reword"]}
    writing_stage = sections | {"polish": ["repeated"], "lead": ["lead", "reword"]}
    research = {"related topics": ["related"], "perspectives": ["perspectives"]}
    interviews = {"conversations": ["question", "queries", "answer"]}
    outlines = {"draft outline": ["draft"], "outline": ["refine"]}
    assert programs("storm") == research | interviews | outlines | writing_stage
    assert programs("storm-no-perspective") == interviews | outlines | writing_stage
    at_once = {"conversations": ["questions", "queries", "answer"]}
    assert programs("storm-no-conversation") == research | at_once | outlines | writing_stage
    assert programs("storm-no-outline") == research | interviews | whole_article
    assert programs("direct") == {"draft outline": ["draft"], "article": ["memory"]}
    assert programs("rag") == {"outline": ["plan"]} | whole_article
    assert programs("orag") == programs("rprr") == {"outline": ["plan"]} | sections
    assert programs("rr") == whole_article


def test_sentence_by_sentence_every_recipe_with_sources_says_their_sentences_again() -> None:
    for recipe in ("rag", "orag", "rprr"):
        assert programs(recipe, writing="sentences") == {"outline": ["plan"], "sections": ["reword", "heading"]}
    assert programs("rr", writing="sentences") == {"sections": ["reword"]}
    assert programs("storm-no-outline", writing="sentences")["sections"] == ["reword"]
    assert programs("direct", writing="sentences") == programs("direct")


def test_how_often_each_recipe_searches() -> None:
    searches = {recipe: of(recipe=recipe, perspectives=1, turns=2, queries=2).searches for recipe in METHODS}
    assert searches["direct"] == Range(0, 0, 0)
    assert searches["rr"] == searches["rag"] == Range(1, 1, 1)
    assert searches["orag"] == searches["rprr"] == Range(2, 7, 9)
    assert searches["storm-no-outline"] == Range(2, 8, 8)
    assert searches["storm"].likely == 8
    assert searches["storm"].high == 8 + 8 * 4, "sections and subheadings that the interviews passed by"
    assert {searches[r] for r in METHODS if r.startswith("storm") and r != "storm-no-outline"} == {searches["storm"]}


def test_without_conversation_there_are_as_many_answers_and_a_call_of_the_writer_each() -> None:
    made, full = of(recipe="storm-no-conversation"), of()
    assert row(made, "questions").calls == Range(6, 6, 6)
    assert row(made, "answer").calls == row(full, "answer").calls
    assert row(made, "answer").why == "6 conversations × 5 questions"


def test_prompts_without_a_perspective_are_shorter() -> None:
    made, full = of(recipe="storm-no-perspective"), of()
    assert row(made, "question").calls == row(full, "question").calls
    assert row(made, "question").tokens_in.likely < row(full, "question").tokens_in.likely


@pytest.mark.parametrize(
    ("recipe", "program", "more", "number"),
    [
        ("storm-no-conversation", "questions", {"turns": 20}, "tokens_out"),
        ("storm-no-outline", "article", {"turns": 10}, "tokens_in"),
        ("direct", "memory", {"section_words": 400}, "tokens_out"),
        ("rag", "article", {"section_words": 800}, "tokens_out"),
        ("rr", "article", {"section_words": 800}, "tokens_out"),
    ],
)
def test_a_setting_that_lengthens_a_recipe_lengthens_its_estimate(
    recipe: str, program: str, more: dict[str, Any], number: str
) -> None:
    longer, usual = (row(of(recipe=recipe, top_k=9, **given), program) for given in (more, {}))
    for end in ("likely", "high"):
        assert getattr(getattr(longer, number), end) > 1.2 * getattr(getattr(usual, number), end)


@pytest.mark.parametrize(
    ("recipe", "program"), [("rag", "plan"), ("rag", "article"), ("rr", "article"), ("rprr", "section")]
)
def test_more_pages_make_longer_prompts_where_passages_are_shown(recipe: str, program: str) -> None:
    more, usual = (row(of(recipe=recipe, top_k=k), program).tokens_in for k in (6, 3))
    assert more.likely > 1.4 * usual.likely


def test_each_role_has_its_model_and_its_price() -> None:
    made = of(writer_lm="openai/mine@http://localhost:1/v1", prices=("openai/mine=1/2",))
    assert {(r.role, r.model) for r in made.rows if r.role in ("writer", "asker")} == {
        ("asker", GPT),
        ("writer", "openai/mine@http://localhost:1/v1"),
    }
    section = row(made, "section")
    assert section.dollars is not None
    assert section.dollars.high == pytest.approx(
        cost(Price(1, 1, 2), section.tokens_in.high, 0, section.tokens_out.high), rel=0.01
    )


def test_a_price_that_is_unknown_leaves_the_sum_unknown_and_says_what_to_do() -> None:
    made = of(writer_lm="openai/mine@http://localhost:1/v1")
    assert made.dollars is None
    assert made.unpriced == ("openai/mine@http://localhost:1/v1",)
    assert row(made, "section").dollars is None
    assert row(made, "answer").dollars is not None
    assert made.known_dollars.likely > 0
    assert any("--price 'openai/mine@http://localhost:1/v1=IN/OUT'" in note for note in made.notes)


def test_an_endpoint_of_ones_own_is_priced_by_nobody_else() -> None:
    assert of(api_base="http://localhost:4000/v1").dollars is None
    assert of(api_base="http://localhost:4000/v1", prices=(f"{GPT}=1/1",)).dollars is not None
    assert of(api_base="http://localhost:4000/v1", lm="embedded").dollars == Range(0, 0, 0)


def test_the_embedded_model_costs_nothing_but_time() -> None:
    made = of(lm="embedded")
    assert made.dollars == Range(0, 0, 0)
    assert "embedded runs on this machine and costs nothing but time" in made.notes
    assert made.tokens_cached.likely > made.tokens_in.likely / 3
    for r in made.rows:
        token_limit = getattr(Programs(), r.program).token_limit
        assert r.tokens_out.high <= token_limit * r.calls.high, f"{r.program} ends after {token_limit} tokens"


def test_replies_end_at_the_limit_that_is_set() -> None:
    made = of(reply_tokens=16)
    assert all(r.tokens_out.high <= 16 * r.calls.high for r in made.rows)


def test_a_model_that_thinks_is_dearer_and_that_is_said() -> None:
    thinking, plain = of(lm="openai/gpt-5-mini"), of()
    assert thinking.tokens_out.likely > 3 * plain.tokens_out.likely
    assert any("may think" in note for note in thinking.notes)
    assert not any("may think" in note for note in plain.notes)


def test_what_a_cache_serves() -> None:
    assert of().tokens_cached.likely == 0, "prompts are too short for OpenAI's cache"
    assert row(of(turns=20), "question").tokens_cached.likely > 0, "those of long conversations are not"
    assert of(lm="anthropic/claude-sonnet-4-5").tokens_cached.high == 0, "Claude caches only what it is told to"
    assert all(r.tokens_cached == Range(0, 0, 0) for r in of().rows if r.calls.high == 1)


def test_another_language_may_take_more_tokens() -> None:
    german, english = of(language="de"), of(language="en")
    assert german.tokens_in.high > 1.5 * english.tokens_in.high
    assert german.tokens_in.likely == english.tokens_in.likely
    assert any("languages" in note for note in german.notes)


def test_a_price_that_cannot_be_read() -> None:
    with pytest.raises(SettingsError, match="MODEL=IN/OUT"):
        of(prices=("cheap",))


@pytest.mark.parametrize("topic", ["", " \n "])
def test_an_empty_topic(topic: str) -> None:
    with pytest.raises(SettingsError, match="topic is empty"):
        of(topic)


def test_bounds_are_those_of_the_steps() -> None:
    assert planning.TITLES_SHOWN == refining._TITLES
    assert planning.PASSAGE_SHOWN == refining._PASSAGE
    assert writing.LONGEST_ARTICLE == lead._LONGEST_ARTICLE
    assert judging.LONGEST_GRADED == rubric.LONGEST
    assert {wikigen_quality.LONGEST, ib_score.LONGEST} == {judging.LONGEST_READ}
    assert judging.LONGEST_SOURCES == support_errors.LONGEST_SOURCES
    assert judging.WINDOW == language_model.WINDOW
    assert (judging.STATEMENT_PASSAGE, judging.STATEMENT_PASSAGES) == (statements.WORDS, statements.LOOKED_AT)
    assert {name for name in METRICS if name in judging.ASKS_MODEL} == set(judging.ASKS_MODEL)
    assert writing.UNTITLED_SECTIONS == replies.UNTITLED_SECTIONS
    assert material.FEWEST_FACTS == written._FEWEST_FACTS
    assert courses.LONG.tries <= rewording.TRIES
    assert courses.SHORT.sentence > rewording.LONGEST_RUN


def test_the_outline_shown_is_rendered_as_the_steps_do() -> None:
    shown = outline_to_markdown(Outline("x", (Heading("A", (Heading("B"),)),) * 2))
    assert shown.count("# ") == 4


@settings(max_examples=90)
@given(
    st.sampled_from(list(METHODS)),
    st.fixed_dictionaries(
        {
            "lm": st.sampled_from([GPT, "embedded", "openai/gpt-5-mini", "anthropic/claude-sonnet-4-5"]),
            "writing": st.sampled_from(["auto", "whole", "sentences"]),
            "perspectives": st.integers(0, 20),
            "turns": st.integers(1, 20),
            "queries": st.integers(1, 5),
            "top_k": st.integers(1, 50),
            "related_topics": st.integers(0, 20),
            "max_sections": st.integers(1, 50),
            "outline_depth": st.integers(1, 6),
            "answer_facts": st.integers(1, 100),
            "section_facts": st.integers(1, 200),
            "section_words": st.integers(30, 5000),
            "outline_words": st.integers(100, 5000),
            "reply_tokens": st.none() | st.integers(16, 4000),
        }
    ),
)
def test_whatever_the_settings_ranges_are_in_order(recipe: str, given_settings: dict[str, Any]) -> None:
    made = of(recipe=recipe, **given_settings)
    everything: tuple[EstimateRow | Estimate, ...] = (*made.rows, made)
    for it in everything:
        for number in (*(read(it) for read in NUMBERS), it.dollars):
            assert number is not None
            assert 0 <= number.low <= number.likely <= number.high < float("inf")
        assert it.tokens_cached.high <= it.tokens_in.high
        assert it.tokens_cached.likely <= it.tokens_in.likely
    assert made.calls.low >= (5 if recipe == "storm" else 1)
    assert 0 <= made.searches.low <= made.searches.likely <= made.searches.high
    assert (made.searches.high == 0) == (recipe == "direct")


def test_tokens_are_near_those_of_gpt_4() -> None:
    """Within 14 % for every program: characters a token differ with the kind of text."""
    cl100k = gpt_4_tokens()
    for name in {asked.program for recipe in METHODS for asked in of(recipe=recipe).rows}:
        program: Program = getattr(Programs(), name)
        rendered = prompts._render(program, {})
        assert len(rendered) / prompts.CHARACTERS_A_TOKEN == pytest.approx(cl100k(rendered), rel=0.14), name
