"""What an estimate says for settings, without a run."""

import dataclasses
import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import dspy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokens import gpt_4_tokens

from storm_pipeline.errors import SettingsError
from storm_pipeline.estimate import Estimate, EstimateRow, Range, estimate
from storm_pipeline.estimate.made_up_replies import MadeUpReply, TypicalReply
from storm_pipeline.estimate.scenarios import LONG, POOR, SHORT, USUAL, Scenario
from storm_pipeline.estimate.simulation import simulate
from storm_pipeline.estimate.tokens import LIKELY, count_served, count_shared, count_tokens
from storm_pipeline.models.prices import Price, cost
from storm_pipeline.models.programs import Program, Programs
from storm_pipeline.models.prompt_adapter import PromptAdapter
from storm_pipeline.recipes import DEFAULT, EXTRACTS, OUTLINES, RECIPES
from storm_pipeline.run.context import RunContext, UserPieces
from storm_pipeline.settings import Settings
from storm_pipeline.signatures import outline
from storm_pipeline.signatures.shapes import Editor, OutlineSection

GPT = "openai/gpt-4o"
SMALL: dict[str, Any] = {"perspectives": 1, "turns": 2, "queries": 2}
COURSES = {"short": SHORT, "usual": USUAL, "long": LONG, "poor": POOR}
NUMBERS: list[Callable[[Any], Range]] = [
    lambda it: it.calls,
    lambda it: it.tokens_in,
    lambda it: it.tokens_cached,
    lambda it: it.tokens_out,
]


@lru_cache(64)
def of(topic: str = "Silk Road", recipe: str = "storm", *, outline_only: bool = False, **given: Any) -> Estimate:
    return estimate(Settings.build({"lm": GPT} | given), topic, recipe=recipe, outline_only=outline_only)


def row(made: Estimate, program: str, stage: str = "") -> EstimateRow:
    (only,) = (r for r in made.rows if r.program == program and stage in r.stage)
    return only


def test_the_default_run_with_a_hosted_model() -> None:
    made = of()
    calls = {(r.stage, r.role, r.program): r.calls.likely for r in made.rows}
    expected = {
        ("related topics", "asker", "related"): 1,
        ("perspectives", "asker", "perspectives"): 1,
        ("conversations", "asker", "question"): 30,
        ("conversations", "expert", "queries"): 30,
        ("conversations", "expert", "passage_answer"): 30,
        ("draft outline", "outliner", "draft"): 1,
        ("outline", "outliner", "refine"): 1,
        ("editing", "reviewer", "edit"): 2,
    }
    assert calls.items() >= expected.items()
    assert made.searches.likely >= 90
    assert made.dollars is not None
    assert made.dollars.likely == pytest.approx(sum(r.dollars.likely for r in made.rows if r.dollars))
    assert len(made.notes) == 1, "nothing went wrong"


def test_calls_follow_the_settings() -> None:
    made = of(perspectives=0, turns=1, related_topics=0, max_sections=2)
    assert not {"related", "perspectives"} & {r.program for r in made.rows}
    assert {r.calls.likely for r in made.rows if r.stage == "conversations"} == {1}
    assert row(made, "section").calls.likely <= row(made, "section").calls.high <= 2 * 2, (
        "once, and once more to mend it"
    )
    more = of(perspectives=2, turns=6, queries=4)  # so many that each turn finds something new
    assert row(more, "passage_answer").calls.likely == 18
    assert more.searches.likely >= 72


@pytest.mark.parametrize(
    ("name", "less", "more"),
    [("perspectives", 1, 4), ("turns", 2, 5), ("queries", 1, 3), ("max_sections", 2, 5)],
)
def test_more_of_a_setting_takes_more(name: str, less: int, more: int) -> None:
    found = {"turns": 4} if name == "max_sections" else {}  # enough to fill the sections with
    few, many = (of(**SMALL | found | {name: number}) for number in (less, more))
    assert few.tokens_in.likely < many.tokens_in.likely
    assert few.calls.likely + few.searches.likely < many.calls.likely + many.searches.likely


def test_an_extract_asks_nobody() -> None:
    for chosen in ({"writing": "sentences"}, {"lm": "embedded"}):
        made = of(**SMALL | chosen, recipe=DEFAULT)
        assert (made.rows, made.calls) == ((), Range(0, 0, 0))
        assert made.searches == Range(1, 1, 1)
        assert made.notes == ("an extract asks no language model",)


def test_of_a_method_that_makes_no_extract_the_embedded_models_calls_are_foretold() -> None:
    assert of(**SMALL, lm="embedded", recipe="rag").calls.likely
    with pytest.raises(SettingsError, match="rag asks language models"):
        of(**SMALL, writing="sentences", recipe="rag")


@pytest.mark.parametrize(
    ("program", "less", "more"),
    [
        ("question", {"turns": 2}, {"turns": 5}),
        ("passage_answer", {"evidence": 600}, {"evidence": 3000}),
        ("perspectives", {"related_topics": 2}, {"related_topics": 8}),
        ("refine", {"outline_words": 100}, {"outline_words": 1000}),
        ("section", {"evidence": 300}, {"evidence": 1200}),
        ("lead", {"length": 300}, {"length": 1200}),
    ],
)
def test_a_setting_that_lengthens_a_prompt_lengthens_its_estimate(
    program: str, less: dict[str, Any], more: dict[str, Any]
) -> None:
    def tokens(made: Estimate) -> float:
        return row(made, program).tokens_in.high / row(made, program).calls.high

    assert tokens(of(**SMALL | more)) > 1.1 * tokens(of(**SMALL | less))


@pytest.mark.parametrize(
    ("recipe", "program", "less", "more", "number"),
    [
        ("storm-no-conversation", "questions", {"turns": 2}, {"turns": 5}, "tokens_out"),
        ("storm-no-outline", "article", {"turns": 1}, {"turns": 4}, "tokens_in"),
        ("direct", "memory", {"length": 600}, {"length": 1800}, "tokens_out"),
        ("rag", "article", {"length": 100}, {"length": 600}, "tokens_out"),
        ("rr", "article", {"length": 100}, {"length": 600}, "tokens_out"),
        ("orag", "plan", {"top_k": 3}, {"top_k": 9}, "tokens_in"),
        ("rag", "article", {"top_k": 3}, {"top_k": 9}, "tokens_in"),
        ("rr", "article", {"top_k": 3}, {"top_k": 9}, "tokens_in"),
        ("rprr", "section", {"top_k": 3}, {"top_k": 9}, "tokens_in"),
    ],
)
def test_a_setting_that_lengthens_a_recipe_lengthens_its_estimate(
    recipe: str, program: str, less: dict[str, Any], more: dict[str, Any], number: str
) -> None:
    rows = [row(of(recipe=recipe, **SMALL | own), program) for own in (more, less)]
    for end in ("likely", "high"):
        calls = [getattr(own.calls, end) if number == "tokens_in" else 1 for own in rows]  # prompts: the mean of a call
        longer, usual = (getattr(getattr(own, number), end) / n for own, n in zip(rows, calls, strict=True))
        assert longer > 1.2 * usual


def test_the_programs_own_instructions_and_examples_are_counted() -> None:
    class Wordy(dspy.Signature):
        __doc__ = "Write the outline. " * 500
        topic: str = dspy.InputField()
        sections: list[OutlineSection] = dspy.OutputField(desc="sections")

    example = dspy.Example(topic="x" * 4300, sections=[OutlineSection(title=title) for title in "abc"])
    plain = Programs().replace(draft=Program(outline.DraftOutline))
    wordy = Programs().replace(draft=Program(Wordy))
    shown = Programs().replace(draft=Program(outline.DraftOutline, [example]))
    given = Settings.build({"lm": GPT, "max_sections": 1})
    in_plain, in_wordy, in_shown = (
        row(estimate(given, "Silk Road", own, recipe="direct"), "draft").tokens_in.likely
        for own in (plain, wordy, shown)
    )
    assert in_wordy > in_plain + 2000
    assert 1000 < in_shown - in_plain < 1060


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_recipe_can_be_simulated(recipe: str) -> None:
    made = of(recipe=recipe, writing="whole", **SMALL)
    assert made.recipe == recipe
    assert len(made.notes) == 1, "nothing went wrong"
    stages = {r.stage for r in made.rows}
    assert stages & {"sections", "article"}
    assert (made.searches.high == 0) == (recipe in {"direct", "rr-no-documents"})


@pytest.mark.parametrize("recipe", OUTLINES)
def test_an_outline_takes_what_its_recipe_takes_until_then(recipe: str) -> None:
    follows_it = {"rag": "orag"}.get(recipe, recipe)  # RAG's article has no outline
    alone, whole = of(recipe=recipe, outline_only=True, **SMALL), of(recipe=follows_it, **SMALL, writing="whole")
    assert set(alone.rows) == {r for r in whole.rows if r.program in {own.program for own in alone.rows}}
    assert alone.rows[-1].role == "outliner"


def test_an_unknown_recipe_is_refused_and_those_that_exist_are_named() -> None:
    with pytest.raises(SettingsError, match=f"no recipe 'stormm': choose one of {re.escape(', '.join(RECIPES))}"):
        of(recipe="stormm")
    with pytest.raises(SettingsError, match=f"no recipe 'rr': choose one of {', '.join(OUTLINES)}"):
        of(recipe="rr", outline_only=True)


def test_how_often_each_recipe_searches() -> None:
    searches = {recipe: of(recipe=recipe, writing="whole", **SMALL).searches for recipe in RECIPES}
    assert searches["direct"] == searches["rr-no-documents"] == Range(0, 0, 0)
    assert searches["rr"] == searches["rag"] == Range(1, 1, 1)
    assert searches["orag"] == searches["rprr"] == Range(2, 7, 9)
    assert searches["storm-no-outline"].likely == 8
    assert searches["storm-iterative"].high > searches["storm"].high, "a search for each section that has too little"


def test_without_conversation_there_are_as_many_answers_and_a_call_of_the_writer_each() -> None:
    made, full = of(recipe="storm-no-conversation", writing="whole", **SMALL), of(**SMALL)
    assert row(made, "questions").calls == Range(2, 2, 2)
    assert row(made, "passage_answer").calls == row(full, "passage_answer").calls


def test_prompts_without_a_perspective_are_shorter() -> None:
    made, full = of(recipe="storm-no-perspective", writing="whole", **SMALL), of(**SMALL)
    assert row(made, "plain_question").calls == row(full, "question").calls
    assert row(made, "plain_question").tokens_in.likely < row(full, "question").tokens_in.likely


def test_each_role_has_its_model_and_its_price() -> None:
    made = of(writer_lm="openai/mine@http://localhost:1/v1", prices=("openai/mine=1/2",), **SMALL)
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
    made = of(writer_lm="openai/mine@http://localhost:1/v1", **SMALL)
    assert made.dollars is None
    assert made.unpriced == ("openai/mine@http://localhost:1/v1",)
    assert row(made, "section").dollars is None
    assert row(made, "passage_answer").dollars is not None
    assert made.known_dollars.likely > 0
    assert any("--price 'openai/mine@http://localhost:1/v1=IN/OUT'" in note for note in made.notes)


def test_an_endpoint_of_ones_own_is_priced_by_nobody_else() -> None:
    assert of(api_base="http://localhost:4000/v1", recipe="direct").dollars is None
    assert of(api_base="http://localhost:4000/v1", recipe="direct", prices=(f"{GPT}=1/1",)).dollars is not None
    assert of(api_base="http://localhost:4000/v1", recipe="direct", lm="embedded").dollars == Range(0, 0, 0)


def test_the_embedded_model_costs_nothing_but_time() -> None:
    made = of(lm="embedded", perspectives=2, turns=4, queries=1, outline_only=True)
    assert made.dollars == Range(0, 0, 0)
    assert "embedded runs on this machine, free of charge" in made.notes
    assert made.tokens_cached.likely > made.tokens_in.likely / 3
    for r in made.rows:
        token_limit = getattr(Programs(), r.program).token_limit
        assert r.tokens_out.high <= token_limit * r.calls.high, f"{r.program} ends after {token_limit} tokens"


def test_replies_end_at_the_limit_that_is_set() -> None:
    made = of(reply_tokens=16, **SMALL)
    assert all(r.tokens_out.high <= 16 * r.calls.high for r in made.rows)


def test_a_model_that_thinks_is_dearer_and_that_is_said() -> None:
    thinking, plain = of(lm="openai/gpt-5-mini", **SMALL), of(**SMALL)
    assert thinking.tokens_out.likely == plain.tokens_out.likely + LIKELY.reasoning * plain.calls.likely
    assert any("may reason" in note for note in thinking.notes)
    assert not any("may reason" in note for note in plain.notes)


def test_what_a_cache_serves() -> None:
    short, long = (row(of(perspectives=0, turns=turns, queries=1), "question") for turns in (3, 12))
    assert short.tokens_cached.likely == 0, "prompts are too short for OpenAI's cache"
    assert long.tokens_cached.likely > 0, "those of long conversations are not"
    assert of(lm="anthropic/claude-sonnet-4-5", **SMALL).tokens_cached.high == 0, "Claude caches only what it is told"
    rows = of().rows
    others = {r.program for r in rows if r.calls.high > 1}
    assert all(r.tokens_cached == Range(0, 0, 0) for r in rows if r.program not in others)


def test_another_language_may_take_more_tokens() -> None:
    german, english = of(source_language="de", recipe="rag"), of(source_language="en", recipe="rag")
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


def test_caps_do_not_shorten_what_is_estimated() -> None:
    assert of(**SMALL, max_tokens=1, max_cost=0.01, max_minutes=0.001) == of(**SMALL)


def test_an_estimate_is_the_same_every_time_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    threads = set(threading.enumerate())
    given = Settings.build({"lm": GPT} | SMALL)
    assert estimate(given, "Silk Road") == estimate(given, "Silk Road")
    assert set(threading.enumerate()) == threads
    assert not list(tmp_path.iterdir())


def test_an_estimate_is_the_same_in_every_process_and_loads_no_model() -> None:
    script = (
        "import sys\n"
        "from storm_pipeline.estimate import estimate\n"
        "from storm_pipeline.settings import Settings\n"
        f"made = estimate(Settings.build({{'lm': {GPT!r}, **{SMALL!r}}}), 'Silk Road')\n"
        "assert not {'torch', 'litellm', 'sentence_transformers'} & set(sys.modules)\n"
        "print(hash(made.tokens_in), hash(made.tokens_out), hash(made.dollars))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    made = of(recipe=DEFAULT, **SMALL)
    assert done.stdout.split() == [str(hash(own)) for own in (made.tokens_in, made.tokens_out, made.dollars)]


class Translate(dspy.Signature):
    """Translate the text."""

    text: str = dspy.InputField()
    translations: list[Editor] = dspy.OutputField(desc="editors")
    language: Literal["de", "fr"] = dspy.OutputField(desc="one of them")


class More(Programs):
    def __init__(self) -> None:
        super().__init__()
        self.translate = Program(Translate)


@pytest.mark.parametrize("course", COURSES)
def test_a_program_and_a_recipe_that_are_new_can_be_simulated(course: str) -> None:
    def recipe(ctx: RunContext, topic: str) -> None:
        with ctx.events.in_stage("translation"):
            reply = ctx.ask("reviewer", ctx.programs.translate, text=f"About {topic}.")  # type: ignore[attr-defined]
            assert reply.language == "de"
            assert all(editor.name for editor in reply.translations)

    done = simulate(recipe, Settings.build({}), "Silk Road", More(), COURSES[course], user_pieces=UserPieces())
    (call,) = done.calls
    assert (call.stage, call.role, call.program) == ("translation", "reviewer", "translate")
    assert (done.searches, done.failure) == (0, "")


TYPES: list[Any] = [
    str,
    int,
    list[str],
    list[int],
    list[Editor],
    list[OutlineSection],
    Literal["yes", "no"],
    Literal[1],
]


@given(
    st.lists(st.sampled_from(TYPES), min_size=1, max_size=3),
    st.sampled_from(sorted(COURSES)),
    st.text("abc [1]:.\n", max_size=200),
    st.integers(1, 4),
    st.integers(4, 9),
)
def test_a_reply_has_the_form_that_is_asked_for(
    types: list[Any], course: str, text: str, least: int, most: int
) -> None:
    fields: dict[str, Any] = {"text": (str, dspy.InputField())}
    for number, kind in enumerate(types):
        bounds = {"min_length": least, "max_length": most} if kind not in (str, int) and "list" in str(kind) else {}
        fields[f"output_{number}"] = (kind, dspy.OutputField(desc="it", **bounds))
    signature = dspy.make_signature(fields, "Do it.")
    adapter = PromptAdapter()
    prompt = adapter.format(signature, [], {"text": text})[-1]["content"]
    reply = str(MadeUpReply(signature, prompt, TypicalReply(), COURSES[course], 0))
    parsed = adapter.parse(signature, reply)
    for value in parsed.values():
        assert not isinstance(value, list) or least <= len(value) <= most
    assert reply == str(MadeUpReply(signature, prompt, TypicalReply(), COURSES[course], 0))


@given(st.sampled_from([SHORT, USUAL, LONG]), st.integers(20, 400))
def test_a_text_is_as_long_as_the_prompt_wants_and_what_is_shown_allows(course: Scenario, words: int) -> None:
    facts = "\n".join(f"[{number}] Title: {'Some words stand here in a row now. ' * 3}" for number in range(1, 21))
    signature = Programs().section.predict.signature
    told = str(MadeUpReply(signature, f"Words: {words}\nFacts:\n{facts}", TypicalReply(), course, 0))
    assert 0.9 * min(words * course.reply, 480) < len(told.split()) < words * course.reply + 12
    assert all(sentence.endswith("]") for sentence in told.split(".")[:-1])


@given(st.lists(st.text("ab", max_size=8), max_size=8), st.randoms(use_true_random=False))
def test_what_prompts_share_does_not_depend_on_their_order(texts: list[str], random: Any) -> None:
    prompts = [[text] for text in texts]
    shared = count_shared(prompts)
    assert all(own <= count_tokens(prompt) for own, prompt in zip(shared, prompts, strict=True))
    assert count_served(shared) <= sum(shared)
    distinct = {text[:end] for text in texts for end in range(1, len(text) + 1)}
    assert sum(shared) == pytest.approx((sum(map(len, texts)) - len(distinct)) / 4.3)
    random.shuffle(prompts)
    assert sum(count_shared(prompts)) == pytest.approx(sum(shared))


@settings(max_examples=12)
@given(
    st.sampled_from(list(RECIPES)),
    st.fixed_dictionaries(
        {
            "lm": st.sampled_from([GPT, "embedded", "openai/gpt-5-mini", "anthropic/claude-sonnet-4-5"]),
            "writing": st.sampled_from(["auto", "whole"]),
            "perspectives": st.integers(0, 2),
            "turns": st.integers(1, 3),
            "queries": st.integers(1, 5),
            "top_k": st.integers(1, 6),
            "related_topics": st.integers(0, 20),
            "max_sections": st.integers(1, 12),
            "outline_depth": st.integers(1, 6),
            "answer_facts": st.integers(1, 30),
            "section_facts": st.integers(1, 30),
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
    assert made.calls.low >= 1 or (recipe in EXTRACTS and Settings.build(given_settings).is_extract)
    assert 0 <= made.searches.low <= made.searches.likely <= made.searches.high
    json.dumps(dataclasses.asdict(made))


def test_tokens_are_near_those_of_gpt_4() -> None:
    """Within 14 % for every program: characters a token differ with the kind of text."""
    cl100k = gpt_4_tokens()
    for name, program in Programs().named().items():
        for predictor in program.predictors():
            shown = program.shown if predictor is program.predict else predictor.demos
            prompt = PromptAdapter().format(predictor.signature, shown, {})
            messages = [message["content"] for message in prompt]
            counted = count_tokens(messages) - count_tokens([""]) * len(messages)
            assert counted == pytest.approx(cl100k("\n".join(messages)), rel=0.14), name
