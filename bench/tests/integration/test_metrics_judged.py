"""Metrics that a language model judges, on cases worked out by hand."""

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import pytest
from articles import section, sentence, source
from judge_doubles import ScriptedGrader, ScriptedSupportJudge
from judge_llm import FakeModel
from llm import Answer
from scored_articles import case

from storm_bench.judges.base import ScoringJudge
from storm_bench.judges.grading import GradingRequest, LanguageModelGrader
from storm_bench.judges.model_judge import JudgeModel, LanguageModelJudge, open_judge
from storm_bench.judges.pretrained import TrueJudge
from storm_bench.metrics.base import Metric
from storm_bench.metrics.citations import support_errors
from storm_bench.metrics.grades import ib_score, questions, rubric_grades, wikigen_quality
from storm_bench.metrics.registry import open_metric
from storm_bench.metrics.resources import Resources
from storm_bench.metrics.statements import statement_coverage_lm
from storm_bench.reporting import judges_of
from storm_bench.types import HumanArticle, TopicDocument
from storm_pipeline.settings import Settings
from storm_pipeline.types import UNTITLED, Sentence

FAST = Settings.build({"lm_timeout": 5, "call_attempts": 1, "parse_attempts": 1})
PAGE = source("page", "The dam was begun in 1931.")
ARTICLE = case(
    section("History", sentence("The dam was begun in 1931.", PAGE), below=(section("Families", "400 moved away."),)),
    section("Fish"),
    lead=(Sentence("Lake Orrin is a lake."),),
    sources=(PAGE,),
    infobox=(
        ("Built", "1931[2]"),
        ("Depth", "61 metres"),
        ("Country", "Valmere"),
        ("Coordinates", "1° N 2° E"),
        ("Website", "orrin.example"),
        ("Nickname", ""),
    ),
)
EMPTY = case(section("History"), infobox=(("Depth", "61 metres"),))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_rubric_grades() -> None:
    order = ["Interest", "Coherence", "Relevance", "Broad"]
    grader = ScriptedGrader(lambda work: 1 + order.index(work.rubric.criterion.split()[0]))
    metric = rubric_grades(grader)
    found = metric.score([EMPTY, ARTICLE])
    assert found[1] == {"interest": 1.0, "organisation": 2.0, "relevance": 3.0, "coverage": 4.0}
    assert found[0] == dict.fromkeys(found[1])
    assert len(grader.requests) == 4
    assert {work.text for work in grader.requests} == {
        "Lake Orrin is a lake.\n\n# History\n\nThe dam was begun in 1931.\n\n## Families\n\n400 moved away.\n\n# Fish"
    }
    assert "Lake Orrin" in grader.requests[0].task
    assert {**metric.parameters, "rubrics": ""} == {"grader": "test double", "rubrics": "", "longest": 2000}
    assert {(m.low, m.high) for m in metric.measures} == {(1, 5)}


def test_quality_of_wikigenbench() -> None:
    def grade(work: GradingRequest) -> int:
        if work.rubric.name == "focus":
            return 4
        return {"organisation": 5, "coverage": 2, "outline": 3}[work.rubric.name]

    grader = ScriptedGrader(grade)
    reply = json.dumps({"fluency": 5, "informativeness": 1})
    with FakeModel({"GradeWriting": reply}) as server:
        metric = wikigen_quality(open_judge(server.lm, FAST), grader)
        undivided = case(section(UNTITLED, "Nothing but text."))
        found = metric.score([ARTICLE, EMPTY, case(lead=(Sentence("Only a lead."),)), undivided])
        assert len(server.asked) == 3
        assert "Topic: Lake Orrin" in server.asked[0].user
    assert found[0] == {
        "fluency_0_5": 5,
        "informativeness_0_5": 1,
        "outline_0_5": 3,
        "focus_0_5": 4 / 2,  # the section without text counts as 0
        "organisation_0_5": 5,
        "coverage_0_5": 2,
    }
    assert set(found[1].values()) == {None}
    for own in found[2:]:  # without headings: no outline is the rubric's grade 0, and nothing is announced
        assert (own["outline_0_5"], own["focus_0_5"], own["organisation_0_5"]) == (0, None, 5)
    assert set(found[0]) == {measure.name for measure in metric.measures}
    assert len(grader.requests) == 4 + 2 + 2
    asked = {work.rubric.name: work for work in grader.requests[:4]}
    assert asked["outline"].text == "# History\n## Families\n# Fish"
    assert asked["focus"].text.startswith("# History\n\nThe dam")
    assert all(work.rubric.low == 0 and work.rubric.high == 5 for work in grader.requests)


def answered(user: str) -> str:
    """The article tells of 1931 and, wrongly, of a depth."""
    return {"Built": "In 1931", "Depth": "16 metres"}.get(re.findall(r"field '(\w+)'", user)[-1], "No information.")


def compared(user: str) -> str:
    expected, answer = re.findall(r"Expected: (.*)\nAnswer: (.*)", user)[-1]
    return json.dumps({"same": int(expected in answer)})


def test_ib_score() -> None:
    with FakeModel({"AnswerFromArticle": answered, "CompareAnswers": compared}) as server:
        metric = ib_score(open_judge(server.lm, FAST))
        found = metric.score([ARTICLE, EMPTY, case(section("One", "Text."))])
        assert found == [{"ib_score": 1 / 3}, {"ib_score": 0.0}, {"ib_score": None}]
        assert len(server.of("AnswerFromArticle")) == 3
        assert len(server.of("CompareAnswers")) == 2  # nothing to compare where the article does not tell
        assert server.of("AnswerFromArticle")[0].user.startswith("Article:\nLake Orrin is a lake.")
    asked = questions(ARTICLE.topic)
    assert asked[0][0] == str(metric.parameters["question"]).format(topic="Lake Orrin", field="'Built'")
    assert [value for _, value in asked] == ["1931", "61 metres", "Valmere"]


def test_classes_of_unsupported_sentences() -> None:
    judged = case(
        section(
            "One",
            sentence("The dam was begun in 1931.", PAGE),
            sentence("Begun in 1920, it is old.", PAGE),
            sentence("The dam made the valley rich.", PAGE),
            sentence("According to Prof.", PAGE),
            "Nobody knows.",
            "Nobody knows more.",
        ),
        sources=(PAGE,),
    )
    judge = ScriptedSupportJudge(lambda passage, claim: claim in passage)

    def error(user: str) -> str:
        return json.dumps({"error": "paraphrase" if "1920" in user else "inference"})

    with FakeModel({"ClassifyUnsupported": error}) as server:
        metric = support_errors(judge, open_judge(server.lm, FAST))
        first, second, third = metric.score(
            [judged, case(section("One", sentence("The dam was begun in 1931.", PAGE)), sources=(PAGE,)), EMPTY]
        )
        assert len(server.asked) == 2
        assert "Sources: [1] page The dam was begun in 1931." in server.asked[0].user
    assert first == {
        "unsupported": 5 / 6,
        "error_uncited": 2 / 5,
        "error_inference": 1 / 5,
        "error_paraphrase": 1 / 5,
        "error_irrelevant": 0,
        "error_split": 1 / 5,
        "error_supported": 0,
    }
    assert sum(value for name, value in first.items() if name != "unsupported") == pytest.approx(1)  # type: ignore[misc]
    assert second == {name: 0.0 if name == "unsupported" else None for name in first}
    assert third == dict.fromkeys(first)
    assert set(first) == {measure.name for measure in metric.measures}


def found(user: str) -> str:
    """Stated where a passage has the words; contradicted where it has another year."""
    passages, statement = re.findall(r"Passages: (.*?)\n+Statement: (.*?)(?:\n|$)", user, re.S)[-1]
    other = re.sub(r"\d+", "", statement) in re.sub(r"\d+", "", passages)
    return json.dumps({"verdict": "stated" if statement in passages else "contradicted" if other else "absent"})


def test_statements_that_an_article_states_contradicts_or_leaves_out() -> None:
    told = "The dam was begun in 1931.", "The dam was begun in 1929.", "The dam was red.", "Quartz glitters."
    page = TopicDocument(
        "https://a.example", "", " ".join(["The herons nested by the dam again."] * 9 + ["The dam was red."])
    )
    topic = replace(ARTICLE.topic, human=replace(ARTICLE.topic.human, statements=told), documents=(page,))
    with FakeModel({"FindStatement": found}) as server:
        metric = statement_coverage_lm(open_judge(server.lm, FAST))
        first, second = metric.score([replace(ARTICLE, topic=topic), replace(EMPTY, topic=topic)])
        assert len(server.of("FindStatement")) == 3 + 3, "what shares no word with a passage is not asked about"
    assert first == {"statement_coverage_lm": 1 / 4, "statement_conflict_lm": 1 / 4, "statement_ceiling_lm": 1 / 4}
    assert second == {"statement_coverage_lm": 0, "statement_conflict_lm": 0, "statement_ceiling_lm": 1 / 4}
    bare = replace(ARTICLE, topic=replace(topic, documents=()))
    with FakeModel({"FindStatement": found}) as server:
        metric = statement_coverage_lm(open_judge(server.lm, FAST))
        assert metric.score([bare, ARTICLE]) == [{**first, "statement_ceiling_lm": None}, dict.fromkeys(first)]


@dataclass(frozen=True)
class Shared:
    """What an evaluation offers."""

    support_judge: ScoringJudge
    judge_model: JudgeModel
    grader: LanguageModelGrader


COUNTS = {"citation_pairs_wiki_live", "citation_pages_held_wiki_live"}
"""Measures of judged metrics that depend on no judge."""
JUDGED = (
    "citation_alce citation_wikigenbench citation_wiki_live support_errors rubric wikigen_quality ib_score "
    "statement_coverage_lm".split()
)


def made(name: str, offered: Shared) -> Metric:
    return open_metric(name, cast("Resources", offered))


@pytest.mark.parametrize("name", JUDGED)
def test_a_metrics_parameters_include_its_judges(name: str) -> None:
    model = open_judge("openai/fake@http://127.0.0.1:9/v1", FAST)
    grader = LanguageModelGrader(model)
    for judge in (LanguageModelJudge(model), TrueJudge("tiny-true")):
        parameters = made(name, Shared(judge, model, grader)).parameters
        for kind, own in (("judge", judge), ("grader", grader)):
            if kind in parameters:
                assert {kind: own.name, **own.parameters}.items() <= parameters.items()


@pytest.mark.parametrize("name", JUDGED)
def test_invariants_of_all_judged_metrics(name: str) -> None:
    grade = json.dumps({"feedback": "Fine.", "score": 3})
    answers: dict[str, Answer] = {
        "GradeOneToFive": grade,
        "GradeZeroToFive": grade,
        "GradeWriting": json.dumps({"fluency": 5, "informativeness": 0}),
        "AnswerFromArticle": "1931",
        "CompareAnswers": compared,
        "ClassifyUnsupported": json.dumps({"error": "inference"}),
        "FindStatement": json.dumps({"verdict": "stated"}),
    }
    beside = replace(ARTICLE, topic=replace(ARTICLE.topic, human=HumanArticle("Lake Orrin", lead="It is a lake.")))
    cases = [ARTICLE, EMPTY, case(), beside]
    with FakeModel(answers) as server:
        model = open_judge(server.lm, FAST)
        judge = ScriptedSupportJudge(lambda passage, claim: claim in passage)
        metric = made(name, Shared(judge, model, LanguageModelGrader(model)))
        scores = metric.score(cases)
        assert metric.score([]) == []
        assert [metric.score([one])[0] for one in cases] == scores
    assert metric.name == name
    assert metric.reference
    judged = [measure.name for measure in metric.measures if measure.name not in COUNTS]
    assert [told for own in judges_of(metric) for told in own.measures] == judged
    assert all(isinstance(value, str | int | float) for value in metric.parameters.values())
    for score in scores:
        assert list(score) == [measure.name for measure in metric.measures]
        assert all(
            value is None or measure.low <= value <= measure.high
            for measure, value in zip(metric.measures, score.values(), strict=True)
        )
