"""The one way to a model: any DSPy code run with it is journalled and capped, and OpenAI's client carries it."""

import asyncio
import subprocess
import sys
from pathlib import Path

import dspy
import pytest
from llm import FakeModel, completion
from servers import Reply, ScriptedServer
from test_models import models, related

from storm_pipeline.errors import BudgetSpentError, ModelError
from storm_pipeline.models.asking import LanguageModels
from storm_pipeline.models.open_models import open_models
from storm_pipeline.models.programs import Program
from storm_pipeline.run.journal import Journal
from storm_pipeline.settings import Settings
from storm_pipeline.signatures import research

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


def test_a_reply_is_not_asked_for_elsewhere() -> None:
    with FakeModel() as other:
        moved = Reply(307, "", {"Location": f"{other.url}/chat/completions"})
        with ScriptedServer(moved) as server, pytest.raises(ModelError):
            related(models(f"openai/fake@{server.url}/v1", call_attempts=1))
        assert not other.asked


def test_a_server_of_openais_protocol_needs_no_litellm() -> None:
    """It takes seconds to import."""
    with FakeModel() as server:
        code = (
            "import sys\nfrom storm_pipeline.models.asking import LanguageModels\n"
            "from storm_pipeline.models.open_models import open_models\n"
            "from storm_pipeline.models.programs import Programs\nfrom storm_pipeline.settings import Settings\n"
            f"settings = Settings.build({{'lm': {server.lm!r}}})\n"
            "asking = LanguageModels.outside_a_run(open_models(settings), settings)\n"
            "asking.ask('asker', Programs().related, topic='Silk Road')\nassert 'litellm' not in sys.modules\n"
        )
        subprocess.run([sys.executable, "-W", "error:Passing:DeprecationWarning", "-c", code], timeout=120, check=True)
        assert len(server.asked) == 1
