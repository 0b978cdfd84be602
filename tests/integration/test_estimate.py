"""What an estimate says for settings without a run, on the command line too, and how near to it scripted runs lie."""

import dataclasses
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import pytest
from commands import run_storm
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import Result

from storm_benchmarks.estimate_fit import made_up_web
from storm_benchmarks.estimate_fit import run as run_of
from storm_benchmarks.frozen_web import FrozenWeb
from storm_pipeline.interfaces.estimate import REASONING, Estimate, EstimateRow, estimate
from storm_pipeline.recipes import DEFAULT, EXTRACTS, RECIPES
from storm_pipeline.settings import Settings
from storm_pipeline.types import Price, Range

GPT = "openai/gpt-4o"
SMALL: dict[str, Any] = {"perspectives": 1, "turns": 2, "queries": 2}
NUMBERS: list[Callable[[Any], Range]] = [lambda it: it.calls, lambda it: it.tokens_in, lambda it: it.tokens_out]


@lru_cache(64)
def of(topic: str = "Silk Road", recipe: str = "storm", *, outline_only: bool = False, **given: Any) -> Estimate:
    return estimate(Settings.build({"lm": GPT} | given), topic, recipe=recipe, outline_only=outline_only)


def row(made: Estimate, stage: str, role: str) -> EstimateRow:
    (only,) = (r for r in made.rows if (r.stage, r.role) == (stage, role))
    return only


def test_the_default_run_with_a_hosted_model() -> None:
    made = of(recipe=DEFAULT)
    assert {(r.stage, r.role) for r in made.rows} >= {
        *(("related topics", "asker"), ("conversations", "expert"), ("points", "outliner"), ("look-ups", "expert")),
        *(("sections", "judge"), ("editing", "reviewer")),
    }
    assert row(made, "conversations", "asker").calls == Range(20, 30, 30), "no more turns than the settings say"
    assert made.searches.likely >= 90
    assert made.dollars is not None
    assert made.dollars.likely == pytest.approx(sum(r.dollars.likely for r in made.rows if r.dollars))


def test_the_estimate_is_near_runs_that_were_answered_by_hand() -> None:
    made = of(recipe=DEFAULT, perspectives=3, turns=3, judge="auto")
    for calls, tokens_in in ((87, 278_195), (95, 266_666), (92, 236_504)):
        assert made.calls.likely == pytest.approx(calls, rel=0.3)
        assert made.tokens_in.likely == pytest.approx(tokens_in, rel=0.3)
        assert made.tokens_in.low < tokens_in < made.tokens_in.high


def test_what_is_not_asked_is_not_counted() -> None:
    made = of(perspectives=0, turns=1, related_topics=0, judge="off", editing="off")
    assert not {"related topics", "perspectives", "editing"} & {r.stage for r in made.rows}
    assert "judge" not in {r.role for r in made.rows}


def test_an_extract_asks_nobody() -> None:
    for chosen in ({"writing": "sentences"}, {"lm": "embedded"}):
        made = of(**SMALL | chosen, recipe=DEFAULT)
        assert (made.rows, made.calls) == ((), Range(0, 0, 0))
        assert made.searches == Range(1, 1, 1)
        assert len(made.notes) == 1
        assert "an extract asks no language model" in made.notes[0]


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_recipe_has_an_estimate(recipe: str) -> None:
    made = of(recipe=recipe, writing="whole", **SMALL)
    assert made.recipe == recipe
    assert len(made.notes) == 1, "nothing went wrong"
    stages = {r.stage for r in made.rows}
    assert stages & {"sections", "article"}
    assert (made.searches.high == 0) == (recipe in {"direct", "rr-no-documents"})


def test_each_role_has_its_model_and_its_price() -> None:
    made = of(writer_lm="openai/mine@http://localhost:1/v1", prices=("openai/mine=1/2",), **SMALL)
    assert {(r.role, r.model) for r in made.rows if r.role in ("writer", "asker")} == {
        ("asker", GPT),
        ("writer", "openai/mine@http://localhost:1/v1"),
    }
    section = row(made, "sections", "writer")
    assert section.dollars is not None
    assert section.dollars.high == pytest.approx(
        Price(1, 1, 2).cost(section.tokens_in.high, 0, section.tokens_out.high), rel=0.01
    )


def test_a_price_that_is_unknown_leaves_the_sum_unknown_and_says_what_to_do() -> None:
    made = of(writer_lm="openai/mine@http://localhost:1/v1", **SMALL)
    assert made.dollars is None
    assert [name for name, price in made.prices.items() if price is None] == ["openai/mine@http://localhost:1/v1"]
    assert row(made, "sections", "writer").dollars is None
    assert row(made, "conversations", "expert").dollars is not None
    assert made.known_dollars.likely > 0
    assert any("--price 'openai/mine@http://localhost:1/v1=IN/OUT'" in note for note in made.notes)


def test_an_endpoint_of_ones_own_is_priced_by_nobody_else() -> None:
    assert of(api_base="http://localhost:4000/v1", recipe="direct").dollars is None
    assert of(api_base="http://localhost:4000/v1", recipe="direct", prices=(f"{GPT}=1/1",)).dollars is not None
    assert of(api_base="http://localhost:4000/v1", recipe="direct", lm="embedded").dollars == Range(0, 0, 0)


def test_a_model_that_thinks_is_dearer_and_that_is_said() -> None:
    thinking, plain = of(lm="openai/gpt-5-mini", **SMALL), of(**SMALL)
    thought = thinking.tokens_out.likely - plain.tokens_out.likely
    assert thought == pytest.approx(REASONING[1] * plain.calls.likely, rel=0.05)
    assert any("may reason" in note for note in thinking.notes)
    assert not any("may reason" in note for note in plain.notes)


def test_another_language_may_take_more_tokens() -> None:
    german, english = of(source_language="de", recipe="rag"), of(source_language="en", recipe="rag")
    assert german.tokens_in.high > 1.5 * english.tokens_in.high
    assert german.tokens_in.likely == english.tokens_in.likely
    assert any("languages" in note for note in german.notes)


def test_an_estimate_is_the_same_in_every_process_and_loads_no_model() -> None:
    script = (
        "import sys\n"
        "from storm_pipeline.interfaces.estimate import estimate\n"
        "from storm_pipeline.settings import Settings\n"
        f"made = estimate(Settings.build({{'lm': {GPT!r}, **{SMALL!r}}}), 'Silk Road')\n"
        "assert not {'torch', 'litellm', 'sentence_transformers', 'faiss'} & set(sys.modules)\n"
        "print(hash(made.tokens_in), hash(made.tokens_out), hash(made.dollars))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    made = of(recipe=DEFAULT, **SMALL)
    assert done.stdout.split() == [str(hash(own)) for own in (made.tokens_in, made.tokens_out, made.dollars)]


@settings(max_examples=50)
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
    assert made.calls.low >= 1 or (recipe in EXTRACTS and Settings.build(given_settings).is_extract)
    assert 0 <= made.searches.low <= made.searches.likely <= made.searches.high
    json.dumps(dataclasses.asdict(made))


SHORT = ("--perspectives", "1", "--turns", "2", "--queries", "1")
"""For what does not depend on a run's length."""


def run(*arguments: str) -> Result:
    return run_storm("estimate", *arguments)


def test_a_table_by_stage_and_role_with_totals() -> None:
    result = run("Silk Road", "--lm", "openai/gpt-4o")
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert lines[0].split() == ["stage", "role", "calls", "tokens", "in", "tokens", "out", "dollars"]
    (asker,) = (line for line in lines if line.split()[:2] == ["conversations", "asker"])
    assert asker.split()[2] == "30"
    (total,) = (line for line in lines if line.startswith("total"))
    assert "$" in total
    (price,) = (line for line in lines if line.startswith("openai/gpt-4o"))
    assert price.endswith(
        "(asker, expert, reader, outliner, writer, judge, reviewer): $2.5 in, $1.25 cached, $10 out per million tokens"
    )
    (told,) = (line for line in lines if line.startswith("Silk Road: "))
    assert re.search(r" calls, \d+ \(\d+–\d+\) searches, ", told)
    assert ", $" in told
    assert max(map(len, lines[: lines.index("")])) <= 120


def test_json_holds_the_same() -> None:
    told = json.loads(run("Silk Road", "--lm", "openai/gpt-4o", "--turns", "2", "--json").stdout)
    assert told["topic"] == "Silk Road"
    assert told["prices"] == {"openai/gpt-4o": {"fresh": 2.5, "cached": 1.25, "output": 10.0}}
    assert told["calls"]["likely"] == sum(row["calls"]["likely"] for row in told["rows"])
    (asker,) = (row for row in told["rows"] if (row["stage"], row["role"]) == ("conversations", "asker"))
    assert asker["calls"] == {"low": 8, "likely": 12, "high": 12}
    assert told["dollars"]["low"] < told["dollars"]["likely"] < told["dollars"]["high"]


def test_control_characters_of_a_topic_do_not_reach_the_terminal() -> None:
    assert "\x1b" not in run("Silk\x1b[2J Road", *SHORT).stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("Silk Road", "--price", "openai/gpt-4o=cheap"), "MODEL=IN/OUT"),
        (("Silk Road", "--turns", "0"), "'turns'"),
        ((" ",), "the topic is empty"),
        (("Silk Road", "--recipe", "stormm"), "choose one of storm, storm-iterative, storm-no-perspective, "),
    ],
)
def test_what_cannot_be_is_one_line_and_exit_code_2(arguments: tuple[str, ...], says: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert says in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_topic_is_read_whatever_the_locale() -> None:
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    options = ("--lm", "openai/gpt-4o", *SHORT, "--json")
    command = [sys.executable, "-m", "storm_pipeline", "estimate", "Zürich b", *options]
    done = subprocess.run(command, env={**os.environ, **plain}, capture_output=True, timeout=120, check=True)
    assert json.loads(done.stdout)["topic"] == "Zürich b"


@pytest.fixture(scope="module")
def web() -> FrozenWeb:
    return made_up_web(30)


@pytest.mark.parametrize(
    ("recipe", "settings"),
    [
        (DEFAULT, {"perspectives": 2, "turns": 2}),
        (DEFAULT, {"perspectives": 0, "turns": 3, "judge": "off", "length": "short"}),
        ("orag", {}),
    ],
)
def test_a_run_is_within_30_percent_of_its_estimate(recipe: str, settings: Mapping[str, Any], web: FrozenWeb) -> None:
    used = run_of(settings, web, recipe=recipe)
    made = estimate(Settings.build({"lm": "openai/gpt-4o", **settings}), "Silk Road", recipe=recipe)
    for what, likely in (("calls", made.calls), ("in", made.tokens_in), ("out", made.tokens_out)):
        seen = sum(number for (*_, counted), number in used.usage.items() if counted == what)
        assert seen == pytest.approx(likely.likely, rel=0.3), what
        assert seen in likely, what
    assert used.searches == pytest.approx(made.searches.likely, rel=0.3)
    rows = {(row.stage, row.role) for row in made.rows}
    assert {(stage, role) for stage, role, _ in used.usage} <= rows
