"""Calibrations of the shipped judges, and how experiments record them."""

from pathlib import Path

from storm_bench.calibration import known_calibration
from storm_bench.experiments import ExperimentConfig, jobs
from storm_bench.experiments.provenance import judged_in, metric_facts
from storm_bench.judges.screen import SimilarityJudge
from storm_bench.metrics.statements import STATED
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder


def test_the_shipped_calibration_is_of_the_shipped_judge_alone() -> None:
    embedder = HashingEmbedder()
    assert known_calibration(SimilarityJudge(embedder)) is None
    embedder.name = "all-MiniLM-L6-v2"
    found = known_calibration(SimilarityJudge(embedder))
    assert found is not None
    assert [row.task for row in found.rows] == ["experts", "another question", "another source", "changed number"]
    assert all(row.auc.low <= row.auc.value <= row.auc.high for row in found.rows)
    assert known_calibration(SimilarityJudge(embedder, threshold=0.6)) is None


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
