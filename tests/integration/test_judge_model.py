"""A run that a language model judges: which model is asked, behind which prompts, and nothing twice when it goes on."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from llm import FakeModel
from test_pipeline import folder
from test_resume import answers, storm

from storm_pipeline.configuration import renamed
from storm_pipeline.errors import SettingsError
from storm_pipeline.estimate.scenarios import USUAL
from storm_pipeline.estimate.simulation import Call, simulate
from storm_pipeline.estimate.tokens import count_shared, count_tokens
from storm_pipeline.models.programs import Programs
from storm_pipeline.recipes import DEFAULT, RECIPES
from storm_pipeline.run.context import UserPieces
from storm_pipeline.run.events import CallbackSink, Event, Noted
from storm_pipeline.settings import Settings


@pytest.mark.parametrize("own", [False, True])
def test_the_model_of_the_setting_judges_and_a_resumed_run_asks_nothing_again(tmp_path: Path, own: bool) -> None:
    with FakeModel(answers()) as server, FakeModel() as other:
        given = {"judge": "model"} | ({"judge_lm": other.lm} if own else {})
        article = storm(server, tmp_path, **given).write("Silk Road")
        judged = [one for one in server.asked if "\nCheck:" in one.prompt]
        assert bool(judged) != own and bool(other.of("CheckSentences")) == own
        assert {one.signature for one in judged} <= {"WriteSection", "WriteLead", "CheckSentences"}
        support = article.support
        assert support is not None and support.judge == f"model:{other.lm if own else server.lm}"
        assert support.recall == 1.0
        asked = len(server.asked), len(other.asked)
        (folder(tmp_path) / "article.json").unlink()
        again = storm(server, tmp_path).resume(folder(tmp_path))
        assert again.support == support
        assert (len(server.asked), len(other.asked)) == asked


def test_a_recorded_judge_that_is_gone_is_named_and_the_screen_judges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeModel(answers()) as server:
        storm(server, tmp_path, judge="model").write("Silk Road")
        monkeypatch.setitem(renamed.GONE["judge"], "model", "use screen")
        assert storm(server, tmp_path).resume(folder(tmp_path)).support is not None  # a finished article is loaded
        (folder(tmp_path) / "article.json").unlink()
        events: list[Event] = []
        again = storm(server, tmp_path, sinks=[CallbackSink(events.append)]).resume(folder(tmp_path))
        assert "judge model is gone: the run goes on with judge screen" in [
            e.detail for e in events if isinstance(e, Noted)
        ]
        assert again.support is None or not again.support.judge.startswith("model:")
    with pytest.raises(SettingsError, match="there is no such judge any more: use screen"):
        Settings.build({"judge": "small"})


def test_a_judge_takes_at_most_30_percent_more_prompt_tokens_of_which_its_prefix_is_70_percent() -> None:
    """In a usual simulated run, its revisions and the writer's answers to doubts included."""

    def calls(judge: str) -> tuple[Call, ...]:
        settings = Settings.build({"lm": "openai/gpt-4o", "judge": judge})
        return simulate(RECIPES[DEFAULT], settings, "Silk Road", Programs(), USUAL, user_pieces=UserPieces()).calls

    alone, judged = calls("screen"), calls("model")
    more = sum(count_tokens(one.messages) for one in judged) / sum(count_tokens(one.messages) for one in alone) - 1
    assert 0 < more <= 0.3
    sent = served = 0.0

    def shared(some: Sequence[Call]) -> list[float]:
        return count_shared([one.messages for one in some])

    for program in ("section", "revise", "lead"):
        own = [one for one in judged if one.program == program]
        behind = [one for one in own if "\nCheck:" in one.messages[-1]]
        sent += sum(count_tokens(one.messages) for one in behind)
        served += sum(shared(own)) - sum(shared([one for one in own if one not in behind]))
    assert served >= 0.7 * sent > 0
