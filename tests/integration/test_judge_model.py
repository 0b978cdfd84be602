"""A run that a language model judges: which model is asked, at what cost, and nothing twice when it goes on."""

from pathlib import Path

import pytest
from llm import FakeModel
from test_pipeline import folder
from test_resume import storm

from storm_pipeline.interfaces.estimate import estimate
from storm_pipeline.settings import Settings


@pytest.mark.parametrize("own", [False, True])
def test_the_chosen_model_judges_and_a_resumed_run_asks_nothing(steady: FakeModel, tmp_path: Path, own: bool) -> None:
    with FakeModel() as other:
        given = {"judge_lm": other.lm} if own else {}
        article = storm(steady, tmp_path, **given).write("Silk Road")
        assert bool(steady.of("CheckSentences")) != own and bool(other.of("CheckSentences")) == own
        support = article.support
        assert support is not None and support.judge == f"model:{steady.lm.partition('@')[0]}"
        assert support.recall == 1.0
        asked = len(steady.asked), len(other.asked)
        (folder(tmp_path) / "article.json").unlink()
        again = storm(steady, tmp_path, **given).resume(folder(tmp_path))
        assert again.support == support
        assert (len(steady.asked), len(other.asked)) == asked


def test_a_judge_takes_at_most_15_percent_more_prompt_tokens() -> None:
    given = {"lm": "openai/gpt-4o", "perspectives": 3, "turns": 3}
    rows = estimate(Settings.build(given), "Silk Road").rows
    judged = sum(row.tokens_in.likely for row in rows if row.role == "judge")
    assert 0 < judged <= 0.15 * sum(row.tokens_in.likely for row in rows if row.role != "judge")
