"""Whole runs with a scripted model lie near their estimates; ``storm_benchmarks.estimate_fit`` runs ten settings."""

from collections.abc import Mapping
from typing import Any

import pytest

from storm_benchmarks.estimate_fit import made_up_web, run
from storm_benchmarks.frozen_web import FrozenWeb
from storm_pipeline.interfaces.estimate import estimate
from storm_pipeline.recipes import DEFAULT
from storm_pipeline.settings import Settings


@pytest.fixture(scope="module")
def web() -> FrozenWeb:
    return made_up_web(30)


@pytest.mark.parametrize(
    ("recipe", "settings"),
    [
        (DEFAULT, {"perspectives": 2, "turns": 2}),
        (DEFAULT, {"perspectives": 0, "turns": 3, "judge": "off", "length": "short"}),
        ("orag", {}),
    ],
)
def test_a_run_is_within_30_percent_of_its_estimate(recipe: str, settings: Mapping[str, Any], web: FrozenWeb) -> None:
    used = run(settings, web, recipe=recipe)
    made = estimate(Settings.build({"lm": "openai/gpt-4o", **settings}), "Silk Road", recipe=recipe)
    for what, likely in (("calls", made.calls), ("in", made.tokens_in), ("out", made.tokens_out)):
        seen = sum(number for (*_, counted), number in used.usage.items() if counted == what)
        assert seen == pytest.approx(likely.likely, rel=0.3), what
        assert seen in likely, what
    assert used.searches == pytest.approx(made.searches.likely, rel=0.3)
    rows = {(row.stage, row.program) for row in made.rows}
    assert {(stage, program) for stage, program, _ in used.usage} <= rows
