"""What is expected of judging is what the metrics ask."""

from storm_bench import judge_calls, statement_passages
from storm_bench.judges import probability
from storm_bench.metrics import good_article, good_article_criteria, ib_score, rubric, support_errors, wikigen_quality
from storm_bench.metrics.registry import METRICS
from storm_bench.signatures import judging


def test_bounds_of_judging_are_those_of_the_metrics() -> None:
    assert judge_calls.LONGEST_GRADED == rubric.LONGEST
    assert {wikigen_quality.LONGEST, ib_score.LONGEST} == {judge_calls.LONGEST_READ}
    assert judge_calls.LONGEST_SOURCES == support_errors.LONGEST_SOURCES
    assert judge_calls.WINDOW == probability.WINDOW
    assert judge_calls.LONGEST_COMPARED == good_article.LONGEST
    assert 2 * len(good_article_criteria.CRITERIA) == judge_calls.COMPARISONS * judging.CRITERIA_PER_CALL
    assert (judge_calls.STATEMENT_PASSAGE, judge_calls.STATEMENT_PASSAGES) == (
        statement_passages.PASSAGE_WORDS,
        statement_passages.TOP_PASSAGES,
    )
    assert {name for name in METRICS if name in judge_calls.ASKS_MODEL} == set(judge_calls.ASKS_MODEL)
