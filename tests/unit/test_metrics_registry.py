"""Every metric of the table can be found and says what it is."""

import importlib

import pytest

from storm_pipeline.evaluation.metrics.registry import METRICS


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_is_found_under_its_name(name: str) -> None:
    module, _, attribute = METRICS[name].partition(":")
    metric = getattr(importlib.import_module(module), attribute)
    assert callable(metric)
    assert getattr(metric, "name", name) == name
