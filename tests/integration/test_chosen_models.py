"""Which model a run asks: the predictor's own, that of ``Storm``, that of DSPy's settings; and that nothing else is."""

import asyncio
import io
import json
import pickle
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import cloudpickle
import dspy
import pytest
from dspy.clients.base_lm import GLOBAL_HISTORY
from dspy.utils.callback import BaseCallback
from llm import FakeModel, completion
from servers import Reply
from test_models import models, related
from test_pipeline import folder
from test_resume import answers, stopped, storm, text

from storm_pipeline import Article, Storm
from storm_pipeline.errors import BudgetSpentError, ModelError, SettingsError
from storm_pipeline.models import llama_server
from storm_pipeline.models.asking import LanguageModels
from storm_pipeline.models.model_objects import Model
from storm_pipeline.models.open_models import open_models
from storm_pipeline.models.programs import Program, Programs
from storm_pipeline.models.prompt_adapter import PromptAdapter
from storm_pipeline.run.events import CallbackSink, CallFinished, Event, Noted
from storm_pipeline.run.journal import Journal
from storm_pipeline.settings import Settings
from storm_pipeline.signatures import research
from storm_pipeline.types import ModelChoice, Price

TOPIC = "Silk Road"


def own(server: FakeModel, name: str = "mine", **options: Any) -> dspy.LM:
    given = {"api_base": server.url, "api_key": "x", "cache": False, "num_retries": 0}
    return dspy.LM(f"openai/{name}", **(given | options))


def saying(word: str) -> dict[str, Any]:
    """Answers of a model whose outlines name it."""
    outline = json.dumps({"sections": [{"title": f"{word} {n}", "subsections": []} for n in range(3)]})
    return answers() | {"DraftOutline": outline, "RefineOutline": outline, "PlanOutline": outline}


def headings(made: Any) -> set[str]:
    return {section.heading.split()[0] for section in made.article.sections}


def without_model(server: FakeModel, tmp_path: Path, **changes: Any) -> Storm:
    """A ``Storm`` for which nobody chose a model; the embedded one would not be found."""
    one = storm(server, tmp_path, lm=None, **changes)
    assert one.settings.lm == "embedded"
    return one


@pytest.fixture(autouse=True)
def _no_embedded_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def started(*_: object) -> None:
        raise AssertionError("the embedded model is opened")

    monkeypatch.setattr(llama_server, "runtime", started)


Two = tuple[FakeModel, FakeModel]


@pytest.fixture
def two() -> Iterator[Two]:
    with FakeModel(saying("One")) as first, FakeModel(saying("Two")) as second:
        yield first, second


Way = Callable[[Storm, dspy.LM], Any]


def by_set_lm(one: Storm, lm: dspy.LM) -> Any:
    program = one.program
    program.set_lm(lm)
    return program(topic=TOPIC)


def by_context(one: Storm, lm: dspy.LM) -> Any:
    with dspy.context(lm=lm):
        return one.program(topic=TOPIC)


def by_configuration(one: Storm, lm: dspy.LM) -> Any:
    dspy.configure(lm=lm)
    try:
        return one.program(topic=TOPIC)
    finally:
        dspy.configure(lm=None)


def by_context_around_all(one: Storm, lm: dspy.LM) -> Any:
    with dspy.context(lm=lm):
        return dspy.Prediction(article=one.write(TOPIC))


def by_context_of_a_stream(one: Storm, lm: dspy.LM) -> Any:
    with dspy.context(lm=lm):
        stream = one.stream(TOPIC)
    with stream:
        list(stream)
        return dspy.Prediction(article=stream.article)


WAYS: dict[str, tuple[Way, str]] = {
    "set_lm": (by_set_lm, "program"),
    "the call's lm": (lambda one, lm: one.program(topic=TOPIC, lm=lm), "program"),
    "dspy.context": (by_context, "dspy.settings.lm"),
    "dspy.configure": (by_configuration, "dspy.settings.lm"),
    "dspy.context, write": (by_context_around_all, "dspy.settings.lm"),
    "dspy.context, stream": (by_context_of_a_stream, "dspy.settings.lm"),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_model_chosen_dspys_way_is_asked_everything(tmp_path: Path, two: Two, way: str) -> None:
    chosen, by = WAYS[way]
    made = chosen(without_model(two[0], tmp_path), own(two[1]))
    assert headings(made) == {"Two"}
    assert (len(two[0].asked), len(two[1].asked)) == (0, made.article.usage.calls)
    assert {(one.model, one.chosen_by) for one in made.article.report.models} == {("openai/mine", by)}


@pytest.mark.parametrize("way", ["set_lm", "the call's lm"])
def test_a_predictors_own_model_is_before_storms(tmp_path: Path, two: Two, way: str) -> None:
    made = WAYS[way][0](storm(two[0], tmp_path), own(two[1]))
    assert headings(made) == {"Two"}
    assert not two[0].asked


def test_a_model_that_storm_was_given_comes_before_dspys_and_that_is_said_once(tmp_path: Path, two: Two) -> None:
    events: list[Event] = []
    with dspy.context(lm=own(two[1])):
        article = storm(two[0], tmp_path, sinks=[CallbackSink(events.append)]).write(TOPIC)
    said = [one.detail for one in events if isinstance(one, Noted) and "dspy.settings" in one.detail]
    assert said == [
        "the model of dspy.settings, openai/mine, is not used: Storm(…) was given openai/fake; "
        "to use it, give it as Storm(lm=…)"
    ]
    assert said[0] in (folder(tmp_path) / "events.jsonl").read_text()
    assert not two[1].asked
    assert {(it.role, it.model, it.chosen_by) for it in article.report.models} >= {("writer", "openai/fake", "Storm")}


def test_two_threads_have_the_models_of_their_contexts(tmp_path: Path, two: Two) -> None:
    one = without_model(two[0], tmp_path).program
    together = threading.Barrier(2)

    def write(lm: dspy.LM) -> set[str]:
        with dspy.context(lm=lm):
            together.wait()
            return headings(one(topic=TOPIC))

    with ThreadPoolExecutor(2) as threads:
        made = list(threads.map(write, [own(server) for server in two]))
    assert made == [{"One"}, {"Two"}]


def with_own_section(lm: dspy.LM | None) -> Programs:
    programs = Programs()
    programs.section.set_lm(lm)
    return programs


def test_a_single_programs_model_is_asked_by_it_alone_and_that_of_all_programs_judges(tmp_path: Path, two: Two) -> None:
    article = storm(two[0], tmp_path, programs=with_own_section(own(two[1]))).write(TOPIC)
    assert {one.signature for one in two[1].asked} == {"WriteSection"}
    assert two[0].of("CheckSentences") and not two[0].of("WriteSection")
    assert ModelChoice("section", "openai/mine", "program") in article.report.models
    assert json.loads((folder(tmp_path) / "run.json").read_text())["models"] == {"section": "openai/mine"}
    two[0].asked.clear()
    program = storm(two[0], tmp_path).program
    program.set_lm(own(two[1]))
    made = program(topic=TOPIC)
    assert two[1].of("CheckSentences")
    assert made.article.support.judge == "model:openai/mine"
    assert not two[0].asked


def with_own_programs(lm: dspy.LM) -> Programs:
    programs = Programs()
    programs.set_lm(lm)
    return programs


GIVEN: dict[str, tuple[Callable[[dspy.LM], dict[str, Any]], str]] = {
    "a program's": (
        lambda lm: {"programs": with_own_section(lm)},
        r"section asked a model of its own, openai/mine, .* programs\.section\.set_lm",
    ),
    "all programs'": (
        lambda lm: {"lm": None, "programs": with_own_programs(lm)},
        r"lm was an object, openai/mine, .*dspy\.context",
    ),
    "Storm's": (lambda lm: {"lm": lm}, r"lm was an object, openai/mine, .* pass it again with Storm\(lm=…\)"),
    "a role's": (lambda lm: {"models": {"asker": lm}}, r'asker_lm was .* Storm\(models=\{"asker": …\}\)'),
}
"""Whose the model is → what a ``Storm`` is given, and what is said where a resumed run lacks it."""


@pytest.mark.parametrize("whose", GIVEN)
def test_a_resumed_run_wants_its_model_again_and_buys_nothing_twice(tmp_path: Path, two: Two, whose: str) -> None:
    given, said = GIVEN[whose]
    whole = storm(two[0], tmp_path / "whole", **given(own(two[1]))).write(TOPIC)
    calls = len(two[0].asked) + len(two[1].asked)
    run = stopped(two[0], tmp_path, calls - 2, **given(own(two[1])))
    with pytest.raises(SettingsError, match=said):
        storm(two[0], tmp_path, lm=two[0].lm if "lm" not in given(own(two[1])) else None).resume(run)
    article = storm(two[0], tmp_path, **given(own(two[1]))).resume(run)
    assert text(article) == text(whole)
    assert len(two[0].asked) + len(two[1].asked) == 2 * calls


def test_a_resumed_run_wants_the_model_of_dspys_settings_again_or_a_named_one(tmp_path: Path, two: Two) -> None:
    events: list[Event] = []
    with dspy.context(lm=own(two[1])):
        run = stopped(two[0], tmp_path, 5, lm=None)
        for other in (None, own(two[1], "another")):
            with dspy.context(lm=other), pytest.raises(SettingsError, match="lm was an object, openai/mine"):
                without_model(two[0], tmp_path).resume(run)
        article = without_model(two[0], tmp_path).resume(run, Article)
    assert article.usage.calls == len(two[1].asked)
    assert not two[0].asked
    named = stopped(two[0], tmp_path / "named", 5)
    two[1].asked.clear()
    with dspy.context(lm=own(two[1])):
        writer = without_model(two[0], tmp_path / "named", sinks=[CallbackSink(events.append)])
        writer.resume(named, user=Settings(lm=two[0].lm))
    assert not two[1].asked
    assert any("the run was begun with openai/fake" in one.detail for one in events if isinstance(one, Noted))


def test_an_object_may_be_replaced_by_a_named_model(tmp_path: Path, two: Two) -> None:
    run = stopped(two[0], tmp_path, 6, models={"asker": own(two[1])})
    storm(two[0], tmp_path, models={"asker": two[0].lm}).resume(run)
    assert json.loads((run / "settings.json").read_text())["asker_lm"] == two[0].lm


def test_caps_and_prices_hold_for_models_of_dspys(tmp_path: Path, two: Two) -> None:
    programs = with_own_section(own(two[1]))
    with pytest.raises(SettingsError, match="that of openai/mine"):
        storm(two[0], tmp_path, programs=programs, max_cost=1.0, prices=("openai/fake=1/1",)).write(TOPIC)
    with dspy.context(lm=own(two[1])), pytest.raises(SettingsError, match="that of openai/mine"):
        without_model(two[0], tmp_path, max_cost=1.0).write(TOPIC)
    assert not two[0].asked
    with dspy.context(lm=own(two[1])), pytest.raises(ModelError, match="--max-tokens"):
        without_model(two[0], tmp_path, max_tokens=100).write(TOPIC)
    assert not two[1].asked


def test_a_saved_state_holds_no_model_and_is_not_pickled(tmp_path: Path, two: Two) -> None:
    one = storm(two[0], tmp_path)
    program = one.program
    program.set_lm(own(two[1], api_base="http://user:secret@host.test/v1"))
    program.save(tmp_path / "state.json")
    assert not any(word in (tmp_path / "state.json").read_text() for word in ("secret", "openai/mine"))
    with pytest.raises(SettingsError, match=r'program\.save\("programs\.json"\)'):
        program.save(tmp_path / "whole", save_program=True)
    assert not (tmp_path / "whole").exists()
    for dumps in (pickle.dumps, cloudpickle.dumps):
        with pytest.raises(TypeError, match="a Storm is not pickled"):
            dumps(one if dumps is pickle.dumps else program)


def test_what_is_no_model_is_refused_before_a_call(tmp_path: Path, two: Two) -> None:
    programs = with_own_section("openai/gpt-4o")  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match=r"the model of section is a str: give set_lm a dspy\.LM"):
        storm(two[0], tmp_path, programs=programs).write(TOPIC)
    with dspy.context(lm=7), pytest.raises(SettingsError, match="is a int: give"):
        without_model(two[0], tmp_path).write(TOPIC)
    assert not two[0].asked


KEY = "secret-key-1"


class Watch(BaseCallback):
    """Notes the calls of language models."""

    def __init__(self) -> None:
        self.models: list[str] = []

    def on_lm_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        self.models.append(instance.model)


def test_a_model_of_ones_own_is_asked_with_its_own_parameters_and_its_history_is_dspys(tmp_path: Path) -> None:
    before = len(GLOBAL_HISTORY)
    with FakeModel(answers()) as server:
        lm = own(server, api_key=KEY, temperature=0.3, max_tokens=999)
        article = storm(server, tmp_path, lm=lm).write("Silk Road")
    assert {(one.body["temperature"], one.body["max_completion_tokens"]) for one in server.asked} == {(0.3, 999)}
    assert not any("top_p" in one.body for one in server.asked)
    assert {row.model for row in article.usage.rows} == {"openai/mine"}
    run = folder(tmp_path)
    assert json.loads((run / "settings.json").read_text())["lm"] == "object:openai/mine"
    assert not any(KEY in path.read_text() for path in run.rglob("*") if path.is_file())
    assert len(lm.history) == len(GLOBAL_HISTORY) - before == len(server.asked)
    assert lm.history[-1]["usage"]["prompt_tokens"] == 100
    for inspect in (lm.inspect_history, dspy.inspect_history):
        with redirect_stdout(io.StringIO()) as shown:
            inspect()
        assert server.asked[-1].user.splitlines()[0] in shown.getvalue()


def test_roles_may_have_models_of_their_own(tmp_path: Path) -> None:
    events: list[Event] = []
    with FakeModel(answers()) as server, FakeModel(answers()) as other:
        given = {
            "writer": own(other),
            "expert": Model(own(other), PromptAdapter(), "the expert's", "here", Price(1.0, 1.0, 2.0)),
            "asker": f"openai/third@{server.url}",
        }
        storm(server, tmp_path, models=given, sinks=[CallbackSink(events.append)]).write("Silk Road")
    calls = {(e.role, e.model, e.cost is None) for e in events if isinstance(e, CallFinished)}
    assert calls - {("reviewer", "openai/fake", True)} == {
        *(("writer", "openai/mine", True), ("expert", "the expert's", False), ("asker", "openai/third", True)),
        *(("reader", "the expert's", False), ("outliner", "openai/fake", True), ("judge", "openai/fake", True)),
    }


@pytest.mark.parametrize(("changed", "again"), [({"timeout": 7.0, "api_key": "other"}, False), ({"stop": ["%"]}, True)])
def test_replies_are_asked_anew_by_what_decides_them(tmp_path: Path, changed: dict[str, Any], again: bool) -> None:
    record = tmp_path / "journal.jsonl"
    with FakeModel() as server:
        for lm in (own(server), own(server, **changed)):
            with Journal(record) as journal:
                settings = Settings(lm="object:openai/mine")
                table = open_models(settings, objects={"lm": lm})
                LanguageModels.outside_a_run(table, settings, journal=journal).ask(
                    "asker", Programs().related, topic="Silk Road"
                )
        assert len(server.asked) == 1 + again


@pytest.mark.parametrize("way", ["write", "stream"])
def test_callbacks_see_every_call(tmp_path: Path, way: str) -> None:
    around, at_model = Watch(), Watch()
    with FakeModel(answers()) as server:
        one = storm(server, tmp_path, models={"writer": own(server, callbacks=[at_model])})
        with dspy.context(callbacks=[around]), dspy.track_usage() as usage:
            if way == "write":
                one.write("Silk Road")
            else:
                with one.stream("Silk Road") as stream:
                    list(stream)
        asked = len(server.asked)
    assert len(around.models) == asked
    assert around.models.count("openai/mine") == len(at_model.models) > 0
    assert sum(told["prompt_tokens"] for told in usage.get_total_tokens().values()) == 100 * asked


def test_a_cached_reply_that_does_not_parse_is_asked_for_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dspy, "cache", dspy.clients.Cache(False, True, tmp_path))
    bad = [Reply(body=completion("no json"))]
    with FakeModel(faults={"FindRelatedTopics": bad}) as server:
        settings = Settings(lm="object:openai/mine")
        table = open_models(settings, objects={"lm": own(server, cache=True)})
        asking = LanguageModels.outside_a_run(table, settings)
        for _ in range(2):
            found = asking.ask("asker", Programs().related, topic="Silk Road").related_topics
            assert found == ["Caravan", "Spice trade"]
    assert len(server.asked) == 3  # the bad one and its second sample; then the bad one from the cache, and a sample


CHAT = "[[ ## answer ## ]]\nSilk\n\n[[ ## completed ## ]]"


def asking(server: FakeModel, journal: Path | None = None, **changes: object) -> LanguageModels:
    settings = Settings.build({"lm": server.lm, "lm_timeout": 30, **changes})
    return LanguageModels.outside_a_run(open_models(settings), settings, journal=Journal(journal))


@pytest.mark.parametrize("way", ["call", "acall"])
def test_a_module_of_any_kind_is_paid_for_once(tmp_path: Path, way: str) -> None:
    """Under DSPy's own adapter, with a signature that this package does not know."""
    module = dspy.Predict("question -> answer")
    with FakeModel(other=CHAT) as server:
        for _ in range(2):
            with dspy.context(lm=asking(server, tmp_path / "journal").lm("writer", 300), adapter=dspy.ChatAdapter()):
                asked = {"question": "What was sold?"}
                made = module(**asked) if way == "call" else asyncio.run(module.acall(**asked))
            assert made.answer == "Silk"
        assert len(server.asked) == 1


class Awaiting(dspy.Module):
    """A module that asks asynchronously."""

    def __init__(self) -> None:
        super().__init__()
        self.ask = dspy.Predict(research.FindRelatedTopics)

    def forward(self, **inputs: object) -> dspy.Prediction:
        return asyncio.run(self.ask.acall(**inputs))


def test_samples_are_drawn_for_asynchronous_predictors_too() -> None:
    with FakeModel(faults={"FindRelatedTopics": [Reply(body=completion("none"))]}) as server:
        found = asking(server).ask("asker", Program(Awaiting()), topic="Silk Road").related_topics
        assert (found, len(server.asked)) == (["Caravan", "Spice trade"], 2)


def test_a_module_of_any_kind_is_capped() -> None:
    with FakeModel(other=CHAT) as server:
        lm = asking(server, max_tokens=2000).lm("writer", 300)
        with dspy.context(lm=lm, adapter=dspy.ChatAdapter()), pytest.raises(BudgetSpentError, match="--max-tokens"):
            for _ in range(99):
                dspy.Predict("question -> answer")(question="What was sold?")
        assert 0 < len(server.asked) < 20


def test_what_a_copy_changes_reaches_the_model() -> None:
    """As an optimiser does for another draw of the same request."""
    with FakeModel(other="Yes") as server:
        lm = asking(server).lm("writer", 300)
        assert lm("Well?") == lm.copy(rollout_id=3, temperature=0.7)("Well?") == ["Yes"]
        first, second = (one.body for one in server.asked)
    assert (first["temperature"], second["temperature"]) == (1.0, 0.7)
    assert "rollout_id" not in second


def test_nothing_of_the_environment_is_sent(server: FakeModel, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ORG_ID", "PROJECT_ID", "ADMIN_KEY"):
        monkeypatch.setenv(f"OPENAI_{name}", "told-to-nobody")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gateway: told-to-nobody")
    related(models(server.lm))
    assert "told-to-nobody" not in str(server._server.requests[0].headers)
