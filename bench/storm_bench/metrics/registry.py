"""The registry of metrics. To add one, write a module and add a row to the table."""

from collections.abc import Callable
from importlib import import_module

from storm_bench.metrics.base import Metric
from storm_bench.metrics.resources import Resources
from storm_pipeline import SettingsError

METRICS = {
    "heading_soft_recall": "heading_soft_recall:make",
    "heading_entity_recall": "heading_entity_recall:make",
    "article_entity_recall": "article_entity_recall:make",
    "rouge": "rouge:make",
    "rouge_body": "rouge:make_body",
    "bleu": "bleu:make",
    "meteor": "meteor:make",
    "statement_coverage": "statement_coverage:make",
    "statement_coverage_lm": "statement_coverage_lm:make",
    "own_statements_lm": "own_statements_lm:make",
    "good_article_lm": "good_article:make",
    "research": "research:make",
    "shape": "shape:make",
    "density": "density:make",
    "citation_alce": "citation_alce:make",
    "citation_wikigenbench": "citation_wikigenbench:make",
    "citation_wiki_live": "citation_wiki_live:make",
    "support_errors": "support_errors:make",
    "rubric": "rubric:make",
    "wikigen_quality": "wikigen_quality:make",
    "ib_score": "ib_score:make",
    "conner": "conner:make",
    "cost": "cost:make",
}
"""Name → ``module:factory`` in this folder; factories take :class:`Resources`. In table order."""


def open_metric(name: str, resources: Resources) -> Metric:
    """Open a metric by name and load what it needs.

    Raises:
        SettingsError: the name is unknown, or an optional library is not installed.
        MetricError: something it needs cannot be loaded.
        AssetError: a pinned model is absent and cannot be downloaded.
    """
    if name not in METRICS:
        raise SettingsError(f"unknown metric {name!r}: choose one of {', '.join(METRICS)}")
    module, _, function = METRICS[name].partition(":")
    make: Callable[[Resources], Metric] = getattr(import_module(f"storm_bench.metrics.{module}"), function)
    return make(resources)
