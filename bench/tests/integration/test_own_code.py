"""Recipes and metrics of the user's own in an experiment: they run with the user's consent, and never without."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from llm import FakeModel
from test_experiments import data, run

from storm_bench.experiments import read_config
from storm_bench.experiments.data import topics_of
from storm_bench.experiments.forecast import forecast
from storm_bench.experiments.own_code import _module
from storm_bench.experiments.units import units_of
from storm_pipeline import SettingsError

__all__ = ["data"]
CODE = """
from pathlib import Path

Path(__file__).with_name("ran").touch()

from storm_bench.metrics.base import CaseMetric, Measure
from storm_pipeline.recipes import RECIPES


def mine(ctx):
    return RECIPES["rr"](ctx)


COUNT = CaseMetric("count", (Measure("own_sections", high=99),), "none", lambda case: {"own_sections": 7.0})
NOTHING = 5
"""
FILE = """
title = "A trial"
baseline = "rr"
metrics = ["shape", "methods:COUNT"]
data = {{ set = "wikigenbench", path = "{data}", core = true }}
search = {{ corpus = "topic" }}
settings = {{ lm = "{lm}", perspectives = 1, turns = 1, call_attempts = 1, max_failures = 0, related_topics = 0 }}
methods = [{{ recipe = "rr" }}, {{ recipe = "methods:mine" }}]
"""


@pytest.fixture
def model() -> Iterator[FakeModel]:
    with FakeModel() as server:
        yield server


@pytest.fixture
def file(data: Path, model: FakeModel, tmp_path: Path) -> Path:
    (tmp_path / "methods.py").write_text(CODE)
    path = tmp_path / "trial.toml"
    path.write_text(FILE.format(data=data, lm=model.lm))
    return path


def test_code_runs_with_consent(file: Path, tmp_path: Path) -> None:
    config = read_config(file, allow_code=True)
    assert not (tmp_path / "ran").exists()
    topics = topics_of(config)
    units = dict.fromkeys(units_of(config, topics), config.metrics)
    assert forecast(config, topics, units, units).articles == 4
    results = run(config, tmp_path / "out")
    assert {one.method for one in results.results} == {"rr", "methods:mine"}
    assert {one.values["own_sections"] for one in results.results} == {7.0}
    (file.parent / "methods.py").write_text(CODE + "\n# changed\n")
    _module.cache_clear()  # as another process, which finds articles of other code
    with pytest.raises(SettingsError, match="1/methods:mine was written or started with other settings"):
        run(config, tmp_path / "out")


def test_code_never_runs_without_consent(file: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"'methods:COUNT' runs code: .* --allow-code"):
        read_config(file)
    file.write_text(f'code = "{tmp_path}"\n' + file.read_text())
    for allowed in (False, True):
        with pytest.raises(SettingsError, match="no file allows code"):
            read_config(file, allow_code=allowed)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("methods:COUNT", "methods:NOTHING", "methods:NOTHING is not a metric: declare one"),
        ("methods:COUNT", "methods:ABSENT", "the module methods has no 'ABSENT'"),
        ("methods:COUNT", "no_such_module:X", "no_such_module cannot be imported"),
        ("methods:mine", "methods:NOTHING", "methods:NOTHING is not a recipe"),
    ],
)
def test_what_is_neither_is_told(file: Path, tmp_path: Path, before: str, after: str, said: str) -> None:
    file.write_text(file.read_text().replace(before, after))
    config = read_config(file, allow_code=True)
    with pytest.raises(SettingsError, match=said):
        topics = topics_of(config)
        units = dict.fromkeys(units_of(config, topics), config.metrics)
        forecast(config, topics, units, units)
        run(config, tmp_path / "out")
