"""The numbers of a round, on made-up ratings, against SciPy and krippendorff."""

import csv
import json
import math
import random
import tracemalloc
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rounds import SYSTEMS, rate_all, set_up_round, study_file
from scipy import stats

from storm_bench.errors import RatingError
from storm_bench.raters.agreement import alpha, equal_share, somers_d
from storm_bench.raters.report import write_report
from storm_bench.raters.results import Results, read_scores
from storm_bench.raters.store import Ratings
from storm_bench.significance import holm


def units_of(rows: list[list[float]]) -> dict[tuple[int, ...], dict[str, float]]:
    """Return raters' rows, with NaN for what they did not rate, by unit."""
    columns = list(zip(*rows, strict=True))
    return {(n,): {f"r{r}": v for r, v in enumerate(column) if not math.isnan(v)} for n, column in enumerate(columns)}


@pytest.mark.parametrize("level", ["nominal", "ordinal"])
@pytest.mark.parametrize("seed", range(20))
def test_alpha_is_that_of_the_library(seed: int, level: Any) -> None:
    rng = random.Random(seed)
    rows = [[math.nan if rng.random() < 0.4 else float(rng.randint(1, 7)) for _ in range(15)] for _ in range(4)]
    wanted = krippendorff.alpha(reliability_data=np.array(rows), level_of_measurement=level)
    assert alpha(units_of(rows), level) == pytest.approx(wanted)


def test_alpha_of_the_example_that_its_author_computes() -> None:
    nan = math.nan  # Krippendorff, "Computing Krippendorff's Alpha-Reliability", section C
    rows = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
        [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
    ]
    assert alpha(units_of(rows), "nominal") == pytest.approx(0.743, abs=0.0005)
    assert alpha(units_of(rows), "ordinal") == pytest.approx(0.815, abs=0.0005)


@pytest.mark.parametrize("rows", [[[1, 2, 3]], [[3, 3, 3], [3, 3, 3]], [[1, math.nan], [math.nan, 2]]])
def test_alpha_is_undefined_without_two_different_ratings_of_a_unit(rows: list[list[float]]) -> None:
    assert alpha(units_of(rows), "ordinal") is None


def test_equal_ratings_are_counted_by_kinds() -> None:
    units = units_of([[1, 2, 3, 4], [1, 2, 5, math.nan], [1, 1, 3, 4]])
    kinds = {"r0": "person", "r1": "person", "r2": "model"}
    assert equal_share(units, kinds, ("person", "person")) == (pytest.approx(2 / 3), 3)
    assert equal_share(units, kinds, ("model", "person")) == (pytest.approx(4 / 7), 7)
    assert equal_share(units, kinds, ("model", "model")) is None


LEVELS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=12)


@given(LEVELS)
def test_somers_d_is_that_of_scipy(pairs: list[tuple[int, int]]) -> None:
    found, wanted = somers_d(*zip(*pairs, strict=True)), stats.somersd(*zip(*pairs, strict=True))
    if math.isnan(wanted.statistic):
        assert found is None
    else:
        p_value = 1 if math.isnan(wanted.pvalue) else wanted.pvalue
        assert found == (pytest.approx(wanted.statistic), pytest.approx(p_value, abs=1e-12))


@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=6))
def test_equal_ratings_are_those_of_all_pairs(rows: list[list[float]]) -> None:
    kinds = {f"r{n}": "person" if n < 2 else "model" for n in range(4)}
    pairs = [(a, b) for row in rows for a, b in combinations(zip(row, kinds.values(), strict=True), 2)]
    for kind in (("person", "person"), ("model", "person"), ("model", "model")):
        equal = [a[0] == b[0] for a, b in pairs if sorted((a[1], b[1])) == list(kind)]
        units = units_of(np.transpose(rows).tolist())
        assert equal_share(units, kinds, kind) == (pytest.approx(np.mean(equal)), len(equal))


def test_statistics_of_many_ratings_take_little_memory() -> None:
    numbers = range(1000)
    units = {(n,): {"a": float(n), "b": float(n * 7 % 1000)} for n in numbers}
    crowd = {f"r{n}": float(n % 7) for n in numbers}
    tracemalloc.start()
    try:
        assert alpha(units, "ordinal") and alpha(units, "nominal")
        assert somers_d(numbers, [n * 7 % 1000 for n in numbers])
        assert equal_share({(1,): crowd}, dict.fromkeys(crowd, "person"), ("person", "person"))
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


HEAD = 'compare = ["oRAG", "STORM"]\nrubrics = ["storm"]\nerrors = true\nusefulness = true\nattention = 1\nseed = 4'


@pytest.fixture(scope="module")
def rated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Results]:
    """A round of eight pairs that four raters rated at random, one of them a model."""
    place = tmp_path_factory.mktemp("rated")
    names, rng = ("anna", "boris", "chen", "dora"), random.Random(7)
    model = '[[raters]]\nname = "model"\nkind = "model"'
    path = study_file(place, head=HEAD + "\nraters_per_item = 3", raters=names, topics=8, more=model)
    study, tokens = set_up_round(path, place / "round")
    assert study.raters[-1].kind == "model"
    rate_all(place / "round", tokens, lambda _, one: rng.choice(list(one["choices"])), {"error.2": "inference"})
    return place, Results.of(Ratings(place / "round"))


def exported(folder: Path) -> list[dict[str, str]]:
    with (folder / "ratings.csv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def test_the_tables_are_those_of_scipy_over_the_exported_ratings(rated: tuple[Path, Results]) -> None:
    place, results = rated
    write_report(place / "report", results)
    rows, p_values = exported(place / "report"), []
    for name in results.questions:
        asked = [r for r in rows if r["question"] == name]
        own = {s: {(r["rater"], r["topic"]): int(r["value"]) for r in asked if r["system"] == s} for s in SYSTEMS}
        for mean in (one for one in results.means if one.question == name):
            values = list(own[mean.system].values())
            assert len(values) == mean.ratings == 24
            assert mean.mean == pytest.approx(np.mean(values))
            assert mean.good == pytest.approx(np.mean(np.array(values) >= 4))
            topics = [np.mean([v for (_, t), v in own[mean.system].items() if t == f"Road {n}"]) for n in range(8)]
            low, high = stats.t.interval(0.95, 7, np.mean(topics), stats.sem(topics))
            assert (mean.low, mean.high) == (pytest.approx(max(low, 1)), pytest.approx(min(high, 7)))
        keys = sorted(own["STORM"])
        assert keys == sorted(own["oRAG"])
        first, second = ([own[system][key] for key in keys] for system in SYSTEMS)
        (found,) = [one for one in results.differences if one.question == name]
        assert (found.first, found.second, found.ratings, found.topics) == (*SYSTEMS, 24, 8)
        assert found.difference == pytest.approx(np.mean(second) - np.mean(first))
        assert found.t_test == pytest.approx(stats.ttest_rel(second, first).pvalue)
        p_values.append(found.t_test)
    assert [one.corrected_t for one in results.differences] == holm(p_values)
    preferred = Counter(r["system"] for r in rows if r["question"] == "preference")
    assert results.preferences[0]["preferred"] == [preferred[system] for system in SYSTEMS]
    assert results.preferences[0]["p"] == pytest.approx(stats.binomtest(preferred["oRAG"], 24).pvalue)


def test_marks_of_long_articles_are_checked_in_little_memory(tmp_path: Path) -> None:
    path = study_file(
        tmp_path, head="errors = true\nraters_per_item = 40", raters=[f"r{n}" for n in range(40)], topics=1
    )
    for system in SYSTEMS:
        (tmp_path / f"0-{system}.md").write_text("# Road 0\n\n" + "Silk was sold on it. " * 500, "utf-8")
    set_up_round(path, tmp_path / "round")
    ratings = Ratings(tmp_path / "round")
    given = "1", "500", "501", "0", "-1", "01", "1.0", "1_0", "+1", "x", "\u0661", "1" * 5000, ""
    place = ratings.round.assigned["r7"][0].articles[0]
    ratings.save("r7", 1, [(place, f"error.{number}", "inference") for number in given])
    ratings.save("r7", 2, [(place, "error.2", "inference"), (-1, "error.2", "inference")])
    tracemalloc.start()
    try:
        found = Results.of(ratings).answers
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()
    assert [(one.number, one.question) for one in found] == [(1, "error.1"), (1, "error.500")]


def test_agreement_of_a_round_is_that_of_its_ratings(rated: tuple[Path, Results]) -> None:
    place, results = rated
    write_report(place / "report", results)
    rows = [r for r in exported(place / "report") if r["question"] == "storm.coverage"]
    units = sorted({(r["topic"], r["system"]) for r in rows})
    given = {(r["rater"], r["topic"], r["system"]): float(r["value"]) for r in rows}
    data = [[given.get((rater, *unit), math.nan) for unit in units] for rater in results.raters]
    (found,) = [one for one in results.agreement if one["question"] == "storm.coverage"]
    assert found["alpha"] == pytest.approx(krippendorff.alpha(reliability_data=data, level_of_measurement="ordinal"))
    assert sum(equal[1] for equal in found["equal"].values() if equal) == 16 * 3


def test_marks_statements_and_checks_are_counted(rated: tuple[Path, Results]) -> None:
    _, results = rated
    for row in results.errors:
        assert (row["sentences"], row["marked"], row["inference"], row["paraphrase"]) == (24 * 4, 24, 24, 0)
    assert [sum(row["counts"]) for row in results.usefulness] == [5, 5, 5]
    for row in results.progress:
        assert (row["done"], row["checks"]) == (row["of"], 1)
        given = next(one for one in results.answers if one.rater == row["rater"] and one.question == "attention")
        wanted = next(one.wanted for one in results.round.assigned[row["rater"]] if not one.articles)
        assert row["passed"] == (given.value == str(wanted))


def test_the_report_has_the_papers_layout_and_the_same_bytes_again(rated: tuple[Path, Results]) -> None:
    place, results = rated
    first = {path.name: path.read_bytes() for path in write_report(place / "one", results)}
    assert first == {path.name: path.read_bytes() for path in write_report(place / "two", results)}
    assert set(first) == {"report.md", "results.json", "means.csv", "ratings.csv", "figure-3.svg"}
    text = first["report.md"].decode()
    assert "| Interest Level | 3.63 | 57.5% | 4.03 | 70.0% | 0.077 |" in text
    titles = ["Interest Level", "Organization", "Relevance", "Coverage", "Verifiability", "#Preferred"]
    rows = [line.split(" | ")[0].removeprefix("| ") for line in text.splitlines()]
    assert [row for row in rows if row in titles] == titles * 2
    assert json.loads(first["results.json"])["raters"]["model"] == "model"


def test_raters_are_chosen_by_kind_and_name(rated: tuple[Path, Results]) -> None:
    ratings = Ratings(rated[0] / "round")
    assert set(Results.of(ratings, only="model").raters) == {"model"}
    assert set(Results.of(ratings, only="person", leave_out=["anna"]).raters) == {"boris", "chen", "dora"}
    with pytest.raises(RatingError, match="'eve' is not a rater"):
        Results.of(ratings, leave_out=["eve"])


def test_scores_of_metrics_are_correlated_with_ratings(rated: tuple[Path, Results], tmp_path: Path) -> None:
    place, results = rated
    file, rng = tmp_path / "scores.csv", random.Random(3)
    scores = {(f"Road {n}", system): rng.random() for n in range(8) for system in SYSTEMS}
    file.write_text("topic,system,measure,value\n" + "".join(f"{t},{s},recall,{v}\n" for (t, s), v in scores.items()))
    found = Results.of(Ratings(place / "round"), scores=read_scores(file)).correlations
    assert len(found) == 5 * 2
    for row in found:
        own = [r for r in results.ratings if (r.question, r.system) == (row["question"], row["system"])]
        means = [np.mean([int(r.value) for r in own if r.topic == f"Road {n}"]) for n in range(8)]
        wanted = stats.somersd(means, [scores[f"Road {n}", row["system"]] for n in range(8)])
        assert (row["d"], row["p"]) == (pytest.approx(wanted.statistic), pytest.approx(wanted.pvalue))
    file.write_text("topic,system\n")
    assert read_scores(file) == []
    file.write_text("topic,system,measure,value\nRoad 0,STORM,recall,much\n")
    with pytest.raises(RatingError, match="is not a CSV file with topic, system, measure and value"):
        read_scores(file)
