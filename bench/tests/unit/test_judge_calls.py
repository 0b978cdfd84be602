"""What is expected of judging is what the metrics ask."""

from storm_bench import judge_calls
from storm_bench.judges import model_judge
from storm_bench.metrics import citations, good_article, grades, statements
from storm_bench.metrics.registry import METRICS
from storm_bench.signatures import judging


def test_bounds_of_judging_are_those_of_the_metrics() -> None:
    assert judge_calls.LONGEST_GRADED == grades.LONGEST_GRADED
    assert judge_calls.LONGEST_READ == grades.LONGEST_READ
    assert judge_calls.LONGEST_SOURCES == citations.LONGEST_SOURCES
    assert judge_calls.WINDOW == model_judge.WINDOW
    assert judge_calls.LONGEST_COMPARED == good_article.LONGEST
    assert 2 * len(good_article.CRITERIA) == judge_calls.COMPARISONS * judging.CRITERIA_PER_CALL
    passages = judge_calls.STATEMENT_PASSAGE, judge_calls.STATEMENT_PASSAGES
    assert passages == (statements.PASSAGE_WORDS, statements.TOP_PASSAGES)
    assert judge_calls.ASKS_MODEL.keys() <= METRICS.keys()
