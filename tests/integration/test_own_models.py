"""Models that are given as objects, and what DSPy's own tools see of a run."""

import io
import json
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.clients.base_lm import GLOBAL_HISTORY
from dspy.utils.callback import BaseCallback
from llm import FakeModel, completion
from servers import Reply
from test_pipeline import folder
from test_resume import answers, stopped, storm, text

from storm_pipeline.errors import SettingsError
from storm_pipeline.models.asking import LanguageModels
from storm_pipeline.models.model_objects import Model
from storm_pipeline.models.open_models import open_models
from storm_pipeline.models.programs import Programs
from storm_pipeline.models.prompt_adapter import PromptAdapter
from storm_pipeline.run.events import CallbackSink, CallFinished, Event
from storm_pipeline.run.journal import Journal
from storm_pipeline.settings import Settings
from storm_pipeline.types import Price

KEY = "secret-key-1"


class Watch(BaseCallback):
    """Notes the calls of language models."""

    def __init__(self) -> None:
        self.models: list[str] = []

    def on_lm_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        self.models.append(instance.model)


def own(server: FakeModel, **options: Any) -> dspy.LM:
    given = {"api_base": server.url, "api_key": KEY, "cache": False, "num_retries": 0}
    return dspy.LM("openai/mine", **(given | options))


def test_a_model_of_ones_own_is_asked_with_its_own_parameters(tmp_path: Path) -> None:
    with FakeModel(answers()) as server:
        article = storm(server, tmp_path, lm=own(server, temperature=0.3, max_tokens=999)).write("Silk Road")
    assert {(one.body["temperature"], one.body["max_completion_tokens"]) for one in server.asked} == {(0.3, 999)}
    assert not any("top_p" in one.body for one in server.asked)
    assert {row.model for row in article.usage.rows} == {"openai/mine"}
    run = folder(tmp_path)
    assert json.loads((run / "settings.json").read_text())["lm"] == "object:openai/mine"
    assert not any(KEY in path.read_text() for path in run.rglob("*") if path.is_file())


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


def test_a_run_with_an_object_wants_it_again(tmp_path: Path) -> None:
    with FakeModel(answers()) as server:
        whole = storm(server, tmp_path / "whole").write("Silk Road")
        asked = len(server.asked)
        run = stopped(server, tmp_path, 6, lm=own(server))
        with pytest.raises(SettingsError, match=r"lm was an object, openai/mine, .* pass it again with Storm\(lm=…\)"):
            storm(server, tmp_path, lm=None).resume(run)
        article = storm(server, tmp_path, lm=own(server)).resume(run)
    assert text(article) == text(whole)
    assert len(server.asked) == 2 * asked


@pytest.mark.parametrize(
    ("changed", "again"), [({"timeout": 7.0, "api_key": "another"}, False), ({"stop": ["%"]}, True)]
)
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


def test_an_object_may_be_replaced_by_a_named_model(tmp_path: Path) -> None:
    with FakeModel(answers()) as server:
        run = stopped(server, tmp_path, 6, models={"asker": own(server)})
        with pytest.raises(SettingsError, match=r'asker_lm was .* Storm\(models=\{"asker": …\}\)'):
            storm(server, tmp_path).resume(run)
        storm(server, tmp_path, models={"asker": server.lm}).resume(run)
        assert json.loads((run / "settings.json").read_text())["asker_lm"] == server.lm


def test_the_history_of_ones_own_model_is_dspys(tmp_path: Path) -> None:
    with FakeModel(answers()) as server:
        lm = own(server)
        before = len(GLOBAL_HISTORY)
        storm(server, tmp_path, lm=lm).write("Silk Road")
        asked = len(server.asked)
    assert len(lm.history) == len(GLOBAL_HISTORY) - before == asked
    assert lm.history[-1]["usage"]["prompt_tokens"] == 100
    for inspect in (lm.inspect_history, dspy.inspect_history):
        with redirect_stdout(io.StringIO()) as shown:
            inspect()
        assert server.asked[-1].user.splitlines()[0] in shown.getvalue()


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
