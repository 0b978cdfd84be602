"""What the judges of an experiment are opened with, and what is said when they cannot be."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

from judge_llm import FakeModel
from servers import Reply
from test_experiments import CACHE, JUDGING, command, config_file, data, described, run

from storm_bench.experiments import Experiment, ExperimentConfig
from storm_pipeline.interfaces.batch import open_executor

__all__ = ["data"]  # a fixture


def judged(model: FakeModel, **values: Any) -> ExperimentConfig:
    """One article, graded by the model that writes it."""
    return described(model, "direct", metrics=["rubric"], **values).with_overrides(topics=1)


def unheard() -> str:
    """A model whose grades no cache holds."""
    return f"openai/{uuid4().hex}"


def test_judges_use_the_configured_number_of_attempts(data: Path, tmp_path: Path) -> None:
    for attempts, graded in ((1, False), (2, True)):
        busy = Reply(status=503, headers={"Retry-After": "0"}, body={"error": {"message": "busy"}})
        with FakeModel(JUDGING, faults={"GradeOneToFive": [busy]}) as model:
            config = judged(model, resources={"judge_lm": f"{unheard()}@{model.url}"})
            (article,) = run(
                config.with_overrides(settings={"call_attempts": attempts}), tmp_path / str(attempts)
            ).results
            assert ("interest" in article.values) == graded


def test_a_judge_that_is_also_the_writer_uses_the_same_endpoint(data: Path, tmp_path: Path) -> None:
    name = unheard()
    with FakeModel(JUDGING) as model:
        config = judged(model, resources={"judge_lm": name})
        elsewhere = config.with_overrides(settings={"lm": name, "api_base": model.url})
        (article,) = run(elsewhere, tmp_path / "out").results
        assert model.of("GradeOneToFive")
    assert article.values["interest"] == 3


def test_one_cap_holds_for_the_judges_of_all_processes_and_sessions(data: Path, tmp_path: Path) -> None:
    cap, method, words = 4000, {"human": True, "name": "human"}, 900
    long = json.dumps({"feedback": "Fine. " * words, "score": 3})
    with FakeModel(JUDGING | {"GradeOneToFive": long}) as model:
        resources = {"judge_lm": f"{unheard()}@{model.url}"}
        config = described(model, "human", metrics=["rubric"], methods=[method], resources=resources)
        config = config.model_copy(update={"caps": {"max_tokens": cap}})
        for _ in range(2):
            with (
                open_executor(processes=2) as executor,
                Experiment(config, tmp_path / "out", executor, cache=CACHE) as experiment,
            ):
                experiment.run()
                assert experiment.unscored
        assert 1 < len(model.asked) <= cap // words


def test_what_judges_have_spent_is_read_from_the_folder(data: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    account = tmp_path / "out" / "judging.json"
    said = {9000: "all 9000 tokens", -1: "is damaged: a number", None: "is damaged: 'tokens'"}
    with FakeModel(JUDGING) as model:
        for kept, why in said.items():
            account.write_text(json.dumps({"format": 1, "dollars": 0.0, "tokens": kept}), "utf-8")
            config = judged(model, resources={"judge_lm": f"{unheard()}@{model.url}"})
            results = run(config.model_copy(update={"caps": {"max_tokens": 9000}}), tmp_path / "out")
            assert not model.of("GradeOneToFive")
            assert any(why in note for note in results.notes), results.notes


def test_the_price_of_a_judge_may_be_given(data: Path, tmp_path: Path) -> None:
    name = unheard()
    with FakeModel(JUDGING) as model:
        config = judged(model, resources={"judge_lm": f"{name}@{model.url}"})
        config = config.with_overrides(
            settings={"prices": (f"{name}=1/1", f"{model.lm.partition('@')[0]}=0/0"), "max_cost": 1.0}
        )
        config = config.model_copy(update={"caps": {"max_cost": 1.0}})
        (article,) = run(config, tmp_path / "out").results
    assert article.values["interest"] == 3
    assert json.loads((tmp_path / "out" / "judging.json").read_text("utf-8"))["dollars"] > 0


def test_failed_scores_end_the_command_with_an_error(data: Path, tmp_path: Path) -> None:
    broken = Reply(status=400, body={"error": {"message": "no such model"}})
    with FakeModel(JUDGING, faults={"GradeOneToFive": [broken] * 9}) as model:
        file = config_file(model, tmp_path)
        file.write_text(file.read_text("utf-8").replace('"shape"]', '"rubric"]'), "utf-8")
        arguments = (
            "run",
            str(file),
            "--size",
            "smoke",
            "--judge-lm",
            f"{unheard()}@{model.url}",
            "--call-attempts",
            "1",
        )
        done = command(*arguments, "--out", str(tmp_path / "out"), "--cache", str(CACHE))
    assert done.exit_code == 1
    assert "error: 1 articles lack scores (see the report); the same command retries them" in done.output
    assert "Traceback" not in done.output


def test_an_unknown_judge_fails_before_anything_is_written(data: Path, tmp_path: Path) -> None:
    with FakeModel() as model:
        file = config_file(model, tmp_path)
        file.write_text(file.read_text("utf-8").replace('"shape"]', '"citation_alce"]'), "utf-8")
        there = ("--out", str(tmp_path / "out"), "--cache", str(CACHE))
        done = command("run", str(file), "--judge", "scren", *there)
        assert not model.asked
    assert done.exit_code == 2
    assert "unknown judge 'scren'" in done.output
    assert "Traceback" not in done.output
