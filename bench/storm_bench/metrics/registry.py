"""The registry of metrics. To add one, declare it in a module of its own and add a row to the table."""

from collections.abc import Mapping
from importlib import import_module
from typing import NamedTuple, cast

from storm_bench.metrics.base import CaseMetric, Metric
from storm_bench.metrics.resources import Resources
from storm_pipeline import SettingsError


class Row(NamedTuple):
    """How a metric is opened."""

    kind: str  # its class, or itself where it is declared, as ``module:name`` in this folder
    needs: tuple[str, ...] = ()  # the attributes of :class:`Resources` that it is made of, in order
    # its keyword arguments, by name, and the attributes of :class:`Resources` that they are
    options: Mapping[str, str] = {}


_HEADINGS = {"headings_of": "headings"}
METRICS = {
    "heading_soft_recall": Row("recall:heading_soft_recall", ("heading_vectors",), _HEADINGS),
    "heading_entity_recall": Row("recall:heading_entity_recall", ("entity_tagger",), _HEADINGS),
    "article_entity_recall": Row("recall:article_entity_recall", ("entity_tagger",)),
    "rouge": Row("overlap:rouge"),
    "rouge_body": Row("overlap:rouge_body"),
    "bleu": Row("overlap:bleu"),
    "meteor": Row("overlap:meteor", ("wordnet",)),
    "statement_coverage": Row("statements:statement_coverage", ("statement_screen",)),
    "statement_coverage_lm": Row("statements:statement_coverage_lm", ("judge_model",)),
    "research": Row("counts:RESEARCH"),
    "shape": Row("counts:SHAPE"),
    "density": Row("counts:density", ("vectors",)),
    "citation_alce": Row("citations:citation_alce", ("support_judge",)),
    "citation_wikigenbench": Row("citations:citation_wikigenbench", ("support_judge",)),
    "citation_wiki_live": Row("statements:citation_wiki_live", ("support_judge",)),
    "support_errors": Row("citations:support_errors", ("support_judge", "judge_model")),
    "rubric": Row("grades:rubric_grades", ("grader",)),
    "wikigen_quality": Row("grades:wikigen_quality", ("judge_model", "grader")),
    "ib_score": Row("grades:ib_score", ("judge_model",)),
    "conner": Row("conner:conner", ("conner_models",)),
    "cost": Row("counts:COST"),
}
"""All metrics by name, in table order."""


def open_metric(name: str, resources: Resources) -> Metric:
    """Open a metric by name and load what it needs.

    Raises:
        SettingsError: the name is unknown, or an optional library is not installed.
        MetricError: something it needs cannot be loaded.
        AssetError: a pinned model is absent and cannot be downloaded.
    """
    if name not in METRICS:
        raise SettingsError(f"unknown metric {name!r}: choose one of {', '.join(METRICS)}")
    row = METRICS[name]
    module, _, kind = row.kind.partition(":")
    found = getattr(import_module(f"storm_bench.metrics.{module}"), kind)
    if isinstance(found, CaseMetric):
        return found
    needs = (getattr(resources, need) for need in row.needs)
    options = {option: getattr(resources, own) for option, own in row.options.items()}
    return cast("Metric", found(*needs, **options))
