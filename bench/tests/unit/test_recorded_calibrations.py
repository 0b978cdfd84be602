"""What an experiment records of its metrics' judges."""

from pathlib import Path

from storm_bench.experiments import ExperimentConfig, jobs
from storm_bench.experiments.provenance import judged_in, metric_facts
from storm_bench.metrics.statements import STATED
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder


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
