"""What holds for every metric: names, ranges, order, one answer for one question."""

from dataclasses import fields, replace
from importlib import import_module
from inspect import signature
from pathlib import Path

import pytest
from cases import case, generated, human
from spacy_pipeline import write_pipeline
from wordnet_files import write_wordnet

from storm_bench.metrics.base import CaseMetric, import_optional
from storm_bench.metrics.registry import METRICS, open_metric
from storm_bench.metrics.resources import Resources
from storm_pipeline.errors import MissingExtraError, SettingsError
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder

OFFLINE = (
    "heading_soft_recall heading_entity_recall article_entity_recall rouge bleu meteor statement_coverage research "
    "shape density cost"
).split()
PEOPLE = replace(
    human({"Rome": "Rome grew by trade. It had 1,000 ships.", "Silk": "Silk came."}, lead="Rome was a city."),
    statements=("Rome grew by trade.", "Silk came from China."),
)
CASES = [
    case(PEOPLE, generated({"Rome": ["Rome grew.[1]", "Silk came from China.[2]"], "Trade": "It grew."}, sources=3)),
    case(PEOPLE, generated()),
    case(human(), generated({"Rome": "Rome grew."})),
    case(human(), generated()),
    case(PEOPLE, generated({"粟特": "粟特 \ud800 <b>", "": "…"}, lead="\n\n")),
]


@pytest.fixture(scope="module")
def resources(tmp_path_factory: pytest.TempPathFactory) -> Resources:
    folder = tmp_path_factory.mktemp("resources")
    tagger = write_pipeline(folder / "spacy", {"Rome": "GPE"})
    made = Resources(cache=folder, tagger=f"spacy:{tagger}", wordnet=write_wordnet(folder / "wordnet"))
    made.__dict__["vectors"] = made.__dict__["heading_vectors"] = HashingEmbedder()  # in place of the pinned one
    return made


@pytest.mark.parametrize("name", OFFLINE)
def test_invariants_of_all_metrics(name: str, resources: Resources) -> None:
    metric = open_metric(name, resources)
    assert metric.name == name
    scores = metric.score(CASES)
    assert len(scores) == len(CASES)
    for score in scores:
        assert list(score) == [measure.name for measure in metric.measures]
        for measure in metric.measures:
            value = score[measure.name]
            assert value is None or measure.low - 1e-6 <= value <= measure.high + 1e-6
    assert [metric.score([one])[0] for one in CASES] == scores
    assert open_metric(name, resources).score(CASES[::-1]) == scores[::-1]
    assert metric.score([]) == []
    assert metric.reference
    assert all(measure.better in {"higher", "lower", "neither"} for measure in metric.measures)


@pytest.mark.parametrize("name", METRICS)
def test_every_row_of_the_table_leads_to_a_class_and_what_it_takes(name: str) -> None:
    module, _, kind = METRICS[name].kind.partition(":")
    found = getattr(import_module(f"storm_bench.metrics.{module}"), kind)
    parameters = signature(type(found) if isinstance(found, CaseMetric) else found).parameters
    assert METRICS[name].options.keys() <= parameters.keys()
    offered = {*dir(Resources), *(field.name for field in fields(Resources))}
    assert {*METRICS[name].needs, *METRICS[name].options.values()} <= offered


def test_unknown_metric() -> None:
    with pytest.raises(SettingsError, match="unknown metric 'rogue': choose one of heading_soft_recall, "):
        open_metric("rogue", Resources())


def test_a_library_that_is_not_installed() -> None:
    with pytest.raises(MissingExtraError, match=r"needs no_such_library .*pip install 'storm-bench\[eval\]'"):
        import_optional("no_such_library.part")


def test_resources_are_loaded_once(resources: Resources, tmp_path: Path) -> None:
    assert resources.entity_tagger is resources.entity_tagger
    other = Resources(cache=tmp_path, tagger="nltk:ner")
    with pytest.raises(SettingsError, match="unknown entity tagger"):
        open_metric("heading_entity_recall", other)
