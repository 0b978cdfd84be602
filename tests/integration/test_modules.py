"""Programs of several predictors in place of the package's own: every call is journalled, none is bought twice."""

import json
from pathlib import Path
from typing import Any

import dspy
import pytest
from llm import FakeModel, completion
from servers import Reply
from test_resume import answers, stopped, storm, text

from storm_pipeline.models.asking import LanguageModels
from storm_pipeline.models.open_models import open_models
from storm_pipeline.models.programs import Program, Programs
from storm_pipeline.settings import Settings
from storm_pipeline.signatures import research


class AskThenReword(dspy.Module):
    """Two predictors, the second of which reads what the first one wrote."""

    def __init__(self) -> None:
        super().__init__()
        self.draft = dspy.Predict(research.AskQuestion)
        self.reword = dspy.Predict(research.AskPlainQuestion)

    def forward(self, **inputs: object) -> dspy.Prediction:
        drafted = self.draft(**inputs).question
        return dspy.Prediction(question=self.reword(topic=inputs["topic"], language="", conversation=drafted).question)


def reworded(user: str) -> str:
    return "Tell me: " + user.rsplit("Conversation:", maxsplit=1)[-1].strip()


def reasoned(user: str) -> str:
    return json.dumps({"reasoning": "It is not known yet.", "question": answers()["AskQuestion"](user)})


MODULES: dict[str, tuple[type[dspy.Module] | Any, dict[str, Any]]] = {
    "two predictors": (AskThenReword, {"AskPlainQuestion": reworded}),
    "chain of thought": (lambda: dspy.ChainOfThought(research.AskQuestion), {"AskQuestion": reasoned}),
}


def programs(kind: str) -> Programs:
    return Programs().replace(question=Program(MODULES[kind][0]()))


@pytest.mark.parametrize("kind", MODULES)
@pytest.mark.parametrize("calls", [3, 4, 11])
def test_a_run_with_a_module_of_ones_own_is_stopped_and_resumed(tmp_path: Path, kind: str, calls: int) -> None:
    with FakeModel(answers() | MODULES[kind][1]) as server:
        whole = storm(server, tmp_path / "whole", programs=programs(kind)).write("Silk Road")
        once = [asked.prompt for asked in server.asked]
        run = stopped(server, tmp_path, calls, programs=programs(kind))
        article = storm(server, tmp_path, programs=programs(kind)).resume(run)
    assert sorted(asked.prompt for asked in server.asked) == sorted(once * 2)
    assert text(article) == text(whole)
    assert article.usage.calls == len(once)  # type: ignore[union-attr]


def test_only_the_predictor_whose_reply_does_not_parse_is_asked_again() -> None:
    empty = [Reply(body=completion(" ")), Reply(body=completion("<think>Well"))]
    with FakeModel(answers() | {"AskPlainQuestion": reworded}, faults={"AskPlainQuestion": empty}) as server:
        chosen = Settings(lm=server.lm, lm_timeout=5)
        asking = LanguageModels.outside_a_run(open_models(chosen), chosen)
        reply = asking.ask("asker", Program(AskThenReword()), topic="Silk Road", perspective="", conversation="")
        asked = [one.signature for one in server.asked]
    assert reply.question == "Tell me: What is known about aspect 1 of Silk Road?"
    assert asked == ["AskQuestion", "AskPlainQuestion", "AskPlainQuestion", "AskPlainQuestion"]
