"""Calibration of judges: the tasks, the figures, and what is recorded of the shipped judges."""

from pathlib import Path

import pytest
from judge_doubles import ScriptedSupportJudge

from storm_bench.calibration import calibrate, known_calibration
from storm_bench.datasets.expertqa import EvidencePassage, LabelledClaim
from storm_bench.experiments import ExperimentConfig, jobs
from storm_bench.experiments.provenance import judged_in, metric_facts
from storm_bench.judging_tasks import halves, sampled, tasks
from storm_bench.metrics.resources import Resources
from storm_bench.metrics.statements import STATED
from storm_pipeline.evidence.judges.screen import ScreenJudge
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder


def claim(question: int, number: int, label: str = "Complete") -> LabelledClaim:
    page = EvidencePassage(f"https://example.org/{question}/{number}", f"On {question}: fact {number}.")
    return LabelledClaim(f"q{question}", f"The {number + 10} facts of {question}.", (page,), label)


CLAIMS = [claim(q, n, "Complete" if n else "Partial") for q in range(8) for n in range(3)]


def test_the_tasks() -> None:
    experts, question, source, number = tasks(CLAIMS)
    assert [task.name for task in (experts, question, source, number)] == [
        "experts",
        "another question",
        "another source",
        "changed number",
    ]
    assert (len(experts.items), sum(item.positive for item in experts.items)) == (24, 16)
    for task in (question, source, number):
        assert len(task.items) == 32
        for true, false in zip(task.items[::2], task.items[1::2], strict=True):
            assert (true.positive, false.positive, true.group) == (True, False, false.group)
            topic = true.pair.claim.split()[-1].rstrip(".")
            assert true.pair.passage.startswith(f"On {topic}:")
            assert false.pair.passage.startswith(f"On {topic}:") == (task is not question)
            assert (false.pair.claim == true.pair.claim) == (task is not number)
            assert (false.pair.passage == true.pair.passage) == (task is number)
    assert tasks(CLAIMS) == (experts, question, source, number)
    assert tasks(CLAIMS, seed=1) != (experts, question, source, number)


def test_halves_keep_a_question_whole_and_samples_repeat() -> None:
    learn, held_out = halves(CLAIMS)
    assert len(learn) + len(held_out) == len(CLAIMS)
    assert learn
    assert held_out
    assert not {own.question for own in learn} & {own.question for own in held_out}
    some = sampled(CLAIMS, 5)
    assert len(some) == 5
    assert some == tuple(own for own in CLAIMS if own in some)
    assert sampled(CLAIMS[::-1], 5) == some[::-1]
    assert sampled(CLAIMS, 99) == tuple(CLAIMS)


def test_a_judge_that_knows_and_one_that_always_says_yes() -> None:
    task = tasks(CLAIMS)[1]
    knowing = ScriptedSupportJudge(lambda passage, told: passage.split()[1].rstrip(":") in told.split()[-1])
    row = calibrate(knowing, [task], resamples=50).rows[0]
    assert (row.auc.value, row.auc.low, row.auc.high) == (1, 1, 1)
    assert row.f1.value == row.balanced_accuracy.value == 1
    assert len(knowing.batches) == 1
    assert len(knowing.batches[0]) == len(set(knowing.batches[0]))
    yes = calibrate(ScriptedSupportJudge(lambda *_: 1), tasks(CLAIMS)[:1], resamples=50).rows[0]
    assert yes.auc.value == yes.balanced_accuracy.value == 0.5
    assert yes.f1.value == pytest.approx(yes.always_yes) == pytest.approx(0.8)
    assert yes.positives == pytest.approx(2 / 3)


def test_the_table() -> None:
    found = calibrate(ScriptedSupportJudge(lambda *_: 1, threshold=0.25), tasks(CLAIMS)[:1], resamples=20)
    ((*cells, f1, yes),) = found.cells
    assert cells == ["experts", "24", "67%", "0.50 (0.50–0.50)", "0.50 (0.50–0.50)"]
    assert f1.startswith("0.80 (") and yes == "0.80"


@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "all-MiniLM-L6-v2+int8"])
def test_the_shipped_calibration_is_of_the_shipped_judge_alone(name: str) -> None:
    embedder = HashingEmbedder()
    assert known_calibration(ScreenJudge(embedder)) is None
    embedder.name = name
    found = known_calibration(ScreenJudge(embedder))
    assert found is not None
    assert [row.task for row in found.rows] == [task.name for task in tasks(CLAIMS)]
    assert all(row.auc.low <= row.auc.value <= row.auc.high for row in found.rows)
    assert known_calibration(ScreenJudge(embedder, threshold=0.6)) is None


def test_the_screen_of_statements_has_a_calibration_of_its_own() -> None:
    embedder = HashingEmbedder()
    embedder.name = "all-MiniLM-L6-v2+int8"
    resources = Resources()
    resources.__dict__["vectors"] = embedder  # in place of the pinned one
    found = known_calibration(resources.statement_screen)
    assert found is not None
    assert [row.task for row in found.rows] == ["systems' articles"]
    assert found != known_calibration(ScreenJudge(embedder))
    other = Resources()
    other.__dict__["vectors"] = HashingEmbedder()
    assert known_calibration(other.statement_screen) is None


def test_the_screen_of_statements_is_recorded_with_its_own_calibration(tmp_path: Path) -> None:
    config = ExperimentConfig.model_validate(
        {
            "title": "A trial",
            "baseline": "rr",
            "metrics": ["statement_coverage", "shape"],
            "data": {"set": "wiki_live", "path": "live"},
            "methods": [{"recipe": "rr"}],
        }
    )
    embedder = HashingEmbedder()
    embedder.name = "all-MiniLM-L6-v2"
    jobs.resources_of(config, tmp_path).__dict__["vectors"] = embedder  # in place of the pinned one
    facts = metric_facts(config, tmp_path, {})
    (judged,) = judged_in(facts["statement_coverage"])
    assert judged.measures == ("statement_coverage", "statement_ceiling")
    assert judged.calibration is not None
    assert judged.calibration.parameters["threshold"] == STATED
    assert judged_in(facts["shape"]) == ()
