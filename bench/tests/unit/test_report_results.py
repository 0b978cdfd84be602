"""The file of an experiment's results: what is written is read again, and damage is told."""

import json
import math
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from experiment_cases import experiment
from hypothesis import given
from hypothesis import strategies as st
from judge_doubles import ScriptedGrader, ScriptedSupportJudge
from strategies import HOSTILE

from storm_bench.calibration import Calibration, CalibrationRow, known_calibrations
from storm_bench.errors import ExperimentError
from storm_bench.judges.model_judge import open_judge
from storm_bench.metrics.base import Measure
from storm_bench.metrics.citations import citation_alce, support_errors
from storm_bench.metrics.grades import wikigen_quality
from storm_bench.metrics.overlap import bleu
from storm_bench.reporting import (
    ExperimentResults,
    JudgedMeasures,
    Result,
    judges_of,
    load_results,
    save_results,
    topic_means,
)

KNOWN = known_calibrations()

TEXTS = st.sampled_from(HOSTILE) | st.text(st.characters(codec="utf-8"), max_size=8)
VALUES = st.none() | st.floats() | st.integers(-(2**40), 2**40).map(float)
RESULTS = st.builds(
    Result,
    method=TEXTS,
    topic=TEXTS,
    seed=st.integers(0, 3),
    values=st.dictionaries(TEXTS, VALUES, max_size=3),
    failure=TEXTS,
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
PARAMETERS = st.dictionaries(TEXTS, TEXTS | st.integers(0, 9) | NUMBERS, max_size=3)
ROWS = st.builds(CalibrationRow, task=TEXTS)  # all else is inferred
CALIBRATIONS = st.builds(Calibration, TEXTS, PARAMETERS, st.lists(ROWS, max_size=2).map(tuple))
JUDGED = st.builds(JudgedMeasures, st.lists(TEXTS, max_size=2).map(tuple), TEXTS, PARAMETERS, st.none() | CALIBRATIONS)
EXPERIMENTS = st.builds(
    ExperimentResults,
    title=TEXTS,
    results=st.lists(RESULTS, max_size=4, unique_by=lambda r: (r.method, r.topic, r.seed)).map(tuple),
    measures=st.lists(st.builds(Measure, name=TEXTS), max_size=3, unique_by=lambda m: m.name).map(tuple),
    baseline=TEXTS,
    facts=st.dictionaries(TEXTS, TEXTS, max_size=2),
    calibrations=st.lists(JUDGED, max_size=2).map(tuple),
    notes=st.lists(TEXTS, max_size=2).map(tuple),
)


@given(EXPERIMENTS)
def test_results_survive_a_round_trip(results: ExperimentResults) -> None:
    with TemporaryDirectory() as folder:
        first, second = Path(folder) / "results.json", Path(folder) / "again.json"
        save_results(first, results)
        read = load_results(Path(folder))
        save_results(second, read)
        assert repr(read) == repr(results)  # NaN is not equal to itself, but it looks the same
        assert second.read_bytes() == first.read_bytes()
        json.loads(first.read_text(encoding="utf-8"), parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_lone_surrogates_do_not_break_the_file(tmp_path: Path) -> None:
    results = ExperimentResults("a", (Result("direct", "topic", 0, failure="broken \ud83d reply"),), (), "direct")
    save_results(tmp_path / "results.json", results)
    assert load_results(tmp_path).results[0].failure == "broken ? reply"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "is not valid JSON"),
        ("\udcff", "is not valid JSON"),  # no UTF-8
        ('{"format": 1, "title": ', "is not valid JSON"),
        ("[" * 100_000, "is not valid JSON"),
        ("[]", "is not a results file"),
        ('{"title": "x"}', "is not a results file"),
        ('{"format": true}', "is not a results file"),
        ('{"format": 2, "new": 1}', "reads up to 1: update"),
        ('{"format": 1}', "damaged at title: Field required"),
        (
            '{"format": 1, "title": "t", "results": [{"method": "a"}], "measures": [], "baseline": "a"}',
            "results/0/topic",
        ),
        ('{"format": 1, "title": "t", "results": [], "measures": [], "baseline": "a", "x": 1}', "damaged at x"),
    ],
)
def test_damage_is_reported(tmp_path: Path, content: str, told: str) -> None:
    path = tmp_path / "results.json"
    path.write_text(content, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(ExperimentError, match=told) as raised:
        load_results(path)
    assert str(path) in str(raised.value)


def test_an_absent_file_and_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match="cannot read"):
        load_results(tmp_path)
    with pytest.raises(ExperimentError, match="cannot write"):
        save_results(tmp_path / "absent" / "results.json", experiment())


def test_duplicates_are_rejected(tmp_path: Path) -> None:
    twice = Result("direct", "topic", 0)
    with pytest.raises(ValueError, match="occurs 2 times"):
        ExperimentResults("a", (twice, twice), (), "direct")
    with pytest.raises(ValueError, match="'m': it occurs 2 times"):
        ExperimentResults("a", (), (Measure("m"), Measure("m")), "direct")
    save_results(tmp_path / "results.json", ExperimentResults("a", (twice,), (), "direct"))
    content = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    content["results"] *= 2
    (tmp_path / "results.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ExperimentError, match="damaged at the top level"):
        load_results(tmp_path)


def test_a_topic_counts_once_whatever_its_seeds() -> None:
    rows = (
        Result("storm", "a", 0, {"m": 1.0}),
        Result("storm", "a", 1, {"m": 3.0}),
        Result("storm", "b", 0, {"m": 5.0}),
        Result("storm", "b", 1, {"m": None}),
        Result("storm", "c", 0, {"m": math.nan}),
        Result("storm", "d", 0, {"m": math.inf}),
        Result("storm", "e", 0, {"m": 9.0}, failure="lost"),
        Result("direct", "a", 0, {"m": 7.0}),
    )
    results = ExperimentResults("a", rows, (Measure("m"),), "direct")
    assert topic_means(results, "storm", "m") == {"a": 2.0, "b": 5.0}
    assert results.methods == ("storm", "direct")
    assert results.topics == ("a", "b", "c", "d", "e")


def test_the_judge_of_a_metric() -> None:
    metric = citation_alce(ScriptedSupportJudge(lambda passage, claim: 1.0))
    (found,) = judges_of(metric, {"judge": KNOWN[0]})
    assert found.measures == ("citation_recall_alce", "citation_precision_alce")
    assert found.judge == "test double"
    assert found.calibration is KNOWN[0]
    assert judges_of(bleu()) == ()


def test_a_models_measures_do_not_get_the_support_judges_calibration() -> None:
    model = open_judge("openai/fake@http://127.0.0.1:9/v1")
    support, errors = judges_of(
        support_errors(ScriptedSupportJudge(lambda passage, claim: 1.0), model), {"judge": KNOWN[0]}
    )
    assert (support.measures, support.judge, support.calibration) == (("unsupported",), "test double", KNOWN[0])
    assert (errors.measures[0], errors.judge, errors.calibration) == ("error_uncited", "openai/fake", None)
    writing, rest = judges_of(wikigen_quality(model, ScriptedGrader(lambda _: 3)))
    assert (writing.measures, writing.judge) == (("fluency_0_5", "informativeness_0_5"), "openai/fake")
    assert (rest.measures[0], rest.judge) == ("outline_0_5", "test double")
