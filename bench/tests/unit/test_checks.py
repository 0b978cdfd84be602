"""What `storm check` finds in the articles of a data set: a row for each system, and one for the human articles."""

from collections.abc import Sequence

from storm_bench.types import CitedStatement, HumanArticle, SystemArticle, Topic, TopicDocument
from storm_benchmarks.checks import HUMAN, check_topics, table
from storm_pipeline.judges.base import Question, Verdict

PRESS = "https://press.example/orrin"


class WordJudge:
    """Supports a claim whose last word stands in a passage."""

    name, threshold, parameters = "words", 0.5, {}

    def judge(self, questions: Sequence[Question]) -> list[Verdict]:
        found = (any(one.claim.split()[-1].strip(".") in text for text in one.passages) for one in questions)
        return [Verdict("supported", 1.0) if own else Verdict("not", 0.0) for own in found]


def system(name: str, text: str, url: str = PRESS) -> SystemArticle:
    sentences = (own for own in text.split("\n") if own)
    return SystemArticle(name, text, tuple(CitedStatement(own, (url,)) for own in sentences))


TOPIC = Topic(
    "orrin",
    "Lake Orrin",
    HumanArticle("Lake Orrin", lead="The lake lies between wooded hills.\nIts dam was raised by many stonemasons."),
    (TopicDocument(PRESS, "Press", "Lake Orrin lies in the hills. Trout live in the lake.", "search"),),
    (
        system("alpha", "Lake Orrin lies in the hills.\nThe dam was built by giants."),
        system("beta", "In the lake live Trout.\nThere it lies in hills."),
        system("gamma", "In the lake live Trout.", "https://elsewhere.example/x"),
    ),
)


def test_a_row_for_each_system_the_best_supported_first_and_the_human_articles_last() -> None:
    rows = check_topics([TOPIC], WordJudge())
    assert [row.system for row in rows] == ["beta", "alpha", "gamma", HUMAN]
    cells = {row.system: row.cells() for row in rows}
    assert cells["alpha"][1:5] == ("1", "2", "2", "2")
    assert cells["beta"][5].startswith("100%")
    assert cells["alpha"][5].startswith("50%")
    assert cells["gamma"][3:6] == ("0", "0", "–")
    assert cells["gamma"][-1] == "1"
    assert cells[HUMAN][5].startswith("50%")
    assert "| alpha | 1 | 2 | 2 | 2 | 50%" in table(rows, WordJudge())
    head, line, *_ = (own for own in table(rows, WordJudge()).splitlines() if own.startswith("|"))
    assert head.count("|") == line.count("|") == len(cells["alpha"]) + 1
    assert "not calibrated" in table(rows, WordJudge())


def test_a_sample_of_the_sentences_that_cite_is_judged() -> None:
    cells = {row.system: row.cells() for row in check_topics([TOPIC], WordJudge(), 1)}
    assert {name: own[4] for name, own in cells.items()} == {"alpha": "1", "beta": "1", "gamma": "0", HUMAN: "1"}
