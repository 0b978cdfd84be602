"""Statement coverage by the screen, on cases worked out by hand; and where a judge is sent to look."""

from dataclasses import replace
from pathlib import Path

import pytest
from cases import generated, human
from judge_doubles import ScriptedSupportJudge

from storm_bench.judges.screen import SimilarityJudge
from storm_bench.metrics.registry import open_metric
from storm_bench.metrics.resources import Resources
from storm_bench.metrics.statements import STATED, statement_coverage
from storm_bench.signatures.judging import PASSAGE_WORDS
from storm_bench.types import Case, Topic, TopicDocument
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.types import Article

STATEMENTS = (
    "Orrin is a lake.",
    "The dam was begun in 1929.",
    "The dam cost 12 million crowns.",
    "Herons nest on the northern shore.",
)
HERONS = " ".join(f"In year {year} the herons nested again on the shore of the old lake." for year in range(30))
DOCUMENTS = (
    TopicDocument("https://a.example", "", f"{HERONS} The dam was begun in 1929. {HERONS}", "search"),
    TopicDocument("https://b.example", "", f"The dam cost 12 million crowns. {HERONS}", "search"),
    TopicDocument("https://en.wikipedia.org/wiki/Orrin", "Orrin", f"Orrin is a lake. {HERONS}", "search"),
)
PEOPLE = replace(human(lead="Orrin is a lake."), title="Orrin", statements=STATEMENTS)
TOPIC = Topic("orrin", "Orrin", PEOPLE, DOCUMENTS)


def said_in(passage: str, claim: str) -> float:
    return float(claim in passage)


def scored(article: Article, topic: Topic = TOPIC) -> dict[str, float | None]:
    return dict(statement_coverage(ScriptedSupportJudge(said_in)).score([Case(topic, article)])[0])


def test_shares_of_what_is_stated() -> None:
    article = generated({"Dam": ["The dam was begun in 1929.", "It is high."]}, lead="Orrin is a lake.")
    assert scored(article) == {"statement_coverage": 2 / 4, "statement_ceiling": 2 / 4}, (
        "the article is no page of its own"
    )


def test_undefined_values() -> None:
    article = generated(lead="Orrin is a lake.")
    assert scored(article, replace(TOPIC, documents=())) == {"statement_coverage": 1 / 4, "statement_ceiling": None}
    without = replace(TOPIC, human=replace(PEOPLE, statements=()))
    assert scored(article, without) == {"statement_coverage": None, "statement_ceiling": None}


def test_the_pages_of_a_topic_are_judged_once() -> None:
    judge = ScriptedSupportJudge(said_in)
    metric = statement_coverage(judge)
    metric.score([Case(TOPIC, generated(lead="Orrin is a lake.")), Case(TOPIC, generated(lead="It is deep."))])
    assert len(judge.batches) == 3
    metric.score([Case(TOPIC, generated(lead="Orrin is a lake."))])
    assert len(judge.batches) == 4


def test_the_metric_of_an_evaluation_asks_the_screen(tmp_path: Path) -> None:
    resources = Resources(cache=tmp_path)
    resources.__dict__["vectors"] = HashingEmbedder()  # in place of the pinned one
    metric = open_metric("statement_coverage", resources)
    assert metric.parameters["screen"] == SimilarityJudge(HashingEmbedder()).name
    screen = SimilarityJudge(HashingEmbedder(), threshold=STATED)
    assert {**screen.parameters, "passage_words": PASSAGE_WORDS}.items() <= metric.parameters.items()
    article = generated(lead="Orrin is a lake. The dam was begun in 1929.")
    assert metric.score([Case(replace(TOPIC, documents=()), article)])[0]["statement_coverage"] == pytest.approx(0.5)
