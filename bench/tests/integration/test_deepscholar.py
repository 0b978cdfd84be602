"""The related work of a paper: the recipe beside the experiment file, over the corpus of what all papers cite."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from deepscholar_files import write_deepscholar
from llm import FakeModel, from_facts, signatures_of
from test_experiments import run

from storm_bench.experiments import ExperimentConfig, read_config
from storm_bench.experiments.own_code import own_recipe
from storm_pipeline import Storm
from storm_pipeline.errors import SettingsError

ROOT = Path(__file__).resolve().parents[3]
FILE = ROOT / "experiments" / "deepscholar.toml"
related_work = own_recipe("related_work:related_work", FILE.parent)


def themes(user: str) -> str:
    """Two themes of all works, and one of works that are not there."""
    numbers = [int(number) for number in re.findall(r"^(?:Works: )?\[(\d+)\]", user, re.M)]
    works = {"Desert": numbers, "Towns": numbers, "Sea": [0, 99]}
    return json.dumps({"themes": [{"title": title, "works": own} for title, own in works.items()]})


ANSWERS = {
    "FindWorks": json.dumps({"queries": ["maps of roads in the desert", "camels journeys"]}),
    "GroupWorks": themes,
    "WriteTheme": lambda user: from_facts(user, 6),
}


@pytest.fixture
def model() -> Iterator[FakeModel]:
    module = sys.modules[related_work.__module__]
    with FakeModel(ANSWERS, more=signatures_of(module)) as server:
        yield server


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: FakeModel) -> ExperimentConfig:
    write_deepscholar(tmp_path / "data" / "deepscholar")
    monkeypatch.setenv("STORM_DATA", str(tmp_path / "data"))
    sized = read_config(FILE, allow_code=True).sized("smoke")
    return sized.with_overrides(topics=2, settings={"lm": model.lm, "call_attempts": 1}).with_judges(judge="screen")


def test_the_experiment_writes_related_work_from_the_others_citations(
    config: ExperimentConfig, tmp_path: Path, model: FakeModel
) -> None:
    results = run(config, tmp_path / "out")
    assert [one.failure for one in results.results] == ["", ""]
    of_caravans = results.results[1].values
    assert of_caravans["reference_coverage_deepscholar"] == 1, "the one work on arXiv that the paper cites"
    assert 0 <= (of_caravans["claim_coverage_deepscholar"] or 0) <= 1
    assert of_caravans["statement_coverage"] is not None
    written = [asked.user for asked in model.of("WriteTheme")]
    assert any("Routing of Caravans (We route caravans.)" in user for user in written)
    assert all("Section: Sea" not in user for user in written), "a theme without works is none"
    assert all("arxiv.org" in user for user in written)


def test_the_second_round_is_told_what_the_first_found(
    config: ExperimentConfig, tmp_path: Path, model: FakeModel
) -> None:
    run(config, tmp_path / "out")
    first, second, *_ = [asked.user for asked in model.of("FindWorks")]
    assert "Found:" not in first
    assert "Maps of Roads" in second


def test_an_extract_is_refused(model: FakeModel, tmp_path: Path) -> None:
    storm = Storm(
        lm=model.lm, writing="sentences", out=tmp_path, search="wiki-leads", recipes={"related": related_work}
    )
    with pytest.raises(SettingsError, match="asks language models"):
        storm.write("Routing of Caravans", "related")


def test_works_of_other_subjects_alone_are_no_article(tmp_path: Path, config: ExperimentConfig) -> None:
    answers = {**ANSWERS, "GroupWorks": json.dumps({"themes": [{"title": "Sea", "works": [99]}]})}
    with FakeModel(answers, more=signatures_of(sys.modules[related_work.__module__])) as server:
        results = run(config.with_overrides(settings={"lm": server.lm}), tmp_path / "out")
    assert all("bears on" in one.failure for one in results.results)


def test_imported_articles_may_cite_what_other_papers_cite(config: ExperimentConfig, tmp_path: Path) -> None:
    articles = tmp_path / "articles"
    articles.mkdir()
    for name in ("2505.00001v2", "2506.00002v1"):
        url = "http://arxiv.org/abs/2002.00002v1"
        told = "A loom learns to weave silk from patterns that were drawn by hand."
        (articles / f"{name}.md").write_text(f"# T\n\n## A\n\n{told}[1]\n\n## References\n\n1. [Looms]({url})\n")
    method = {"name": "mine", "imported": articles}
    values = config.model_dump() | {"methods": [method], "baseline": "mine"}
    results = run(ExperimentConfig.model_validate(values), tmp_path / "out")
    assert [one.values["references_cited_deepscholar"] for one in results.results] == [1, 1]
    assert [one.values["citation_precision_deepscholar"] for one in results.results] == [1, 1]
