"""The report's numbers and sentences against values computed by hand."""

import math
from dataclasses import replace
from typing import Any

import pytest
from experiment_cases import ROUGE, SECONDS, WORDS, experiment, results_of

from storm_bench.errors import ExperimentError
from storm_bench.metrics.base import Measure
from storm_bench.metrics.registry import METRICS
from storm_bench.reporting import ExperimentResults, Report
from storm_bench.reporting.groups import GROUPS
from storm_bench.reporting.results_file import WORDS_ASKED
from storm_bench.reporting.tables import Table, differences, on_all_topics, tables, unequal_topics

Rows = dict[str, list[dict[str, float | None] | str]]


def table_of(results: ExperimentResults, key: str = "article") -> Table:
    return next(table for table in tables(results) if table.group.key == key)


def verdict(results: ExperimentResults, key: str = "article") -> str:
    return Report(results).part("verdict", table_of(results, key))


def report(rows: Rows, *measures: Measure, baseline: str = "direct") -> str:
    return Report(results_of(rows, measures or (ROUGE,), baseline=baseline)).markdown()


def test_means_and_the_best_of_them() -> None:
    found = tables(experiment())
    assert [table.group.key for table in found] == ["article", "shape", "cost"]
    article, shape, cost = found
    assert article.methods == ("direct", "rr", "storm")
    means = [row[0].interval for row in article.means]
    assert [own.mean for own in means if own] == pytest.approx([0.25, 0.3, 0.5])
    assert [own.topics for own in means if own] == [4, 4, 4]
    assert [row[0].best for row in article.means] == [False, False, True]
    assert [row[0].best for row in shape.means] == [False, False, False], "words are neither better nor worse"
    assert [measure.name for measure in cost.measures] == ["tokens_in", "tokens_out", "seconds"]
    assert [row[2].best for row in cost.means] == [True, False, False], "fewer seconds are better"
    assert [row[0].best for row in cost.means] == [True, True, True]


class CountedValues(dict[str, float | None]):
    """Values that count how often one is looked up."""

    times = 0

    def get(self, *key: Any) -> Any:
        type(self).times += 1
        return super().get(*key)


def test_results_are_not_read_for_each_method_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    def times(methods: int) -> int:
        monkeypatch.setattr(CountedValues, "times", 0)
        values = {f"m{m}": [CountedValues(rouge_1=(m + n) % 7 / 7) for n in range(4)] for m in range(methods)}
        results = results_of(values, baseline="m0")
        assert len(table_of(results).paired) == methods - 1
        assert unequal_topics(results) == {}
        return CountedValues.times

    assert times(4) - times(3) == times(3) - times(2)


def test_an_experiment_too_large_to_compare_is_refused() -> None:
    many = {f"method {n}": [{"rouge_1": 0.5}] for n in range(20_000)}
    with pytest.raises(ExperimentError, match="20,000 methods, 1 measures and 1 topics are too many"):
        tables(results_of(many, (ROUGE,), baseline="method 0"))


def test_comparisons_by_hand() -> None:
    assert differences(experiment(), "storm", "rouge_1") == pytest.approx(
        {"topic-0": 0.2, "topic-1": 0.2, "topic-2": 0.3, "topic-3": 0.3}
    )
    rr, storm = table_of(experiment()).paired
    assert (rr.method, storm.method) == ("rr", "storm")
    assert storm.comparison.difference == storm.interval.mean == pytest.approx(0.25)
    # Two of 16 flips of 0.2, 0.2, 0.3, 0.3 are as far from 0; 12 of 16 flips of 0.1, 0, -0.1, 0.2.
    assert storm.comparison.permutation == pytest.approx(2 / 16)
    assert rr.comparison.permutation == pytest.approx(12 / 16)
    assert storm.corrected_permutation == pytest.approx(4 / 16)
    assert rr.corrected_permutation == pytest.approx(12 / 16)
    assert storm.comparison.t_test == pytest.approx(0.00324, abs=1e-4)  # t = 8.66 with 3 degrees of freedom
    assert storm.corrected_t == pytest.approx(0.00648, abs=1e-4)


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (
            {"direct": [{"rouge_1": 0.0}, {"rouge_1": 0.0}], "storm": [{"rouge_1": 0.0}, {"rouge_1": 0.0}]},
            "on the topics shared with direct, all methods have the same value.",
        ),
        (
            {"direct": [{"rouge_1": 0.1}, "lost"], "storm": ["lost", {"rouge_1": 0.2}]},
            "Nothing to compare: no other method has a value on any topic for which direct has one.",
        ),
        (
            {"direct": [{"rouge_1": 0.1}, {"rouge_1": 0.2}]},
            "Nothing to compare: no other method has a value on any topic for which direct has one.",
        ),
    ],
)
def test_the_reason_for_no_comparison_is_reported(rows: Rows, told: str) -> None:
    assert told in report(rows)


def test_the_report_says_when_no_difference_could_be_significant() -> None:
    told = verdict(experiment())
    assert told.startswith("No difference from direct is significant by the permutation test, corrected for 2 comp")
    assert told.endswith(
        "With 4 topics, the permutation test cannot give a p below 2/2^4 = 0.125, or 0.25 after correction for "
        "2 comparisons: no difference in this table could have been significant, however large.\n"
    )


def test_a_significant_difference_is_reported() -> None:
    slow = results_of(
        {
            "direct": [{"rouge_1": 0.1, "seconds": 1.0 + n} for n in range(8)],
            "storm": [{"rouge_1": 0.2 + 0.01 * n, "seconds": 10.0 + 2 * n} for n in range(8)],
        },
        (ROUGE, SECONDS),
    )
    (better,) = table_of(slow).paired
    assert better.corrected_permutation == pytest.approx(2 / 256)
    assert better.significant
    assert verdict(slow).splitlines() == [
        "1 of 1 difference from direct is significant by the permutation test, corrected for 1 comparison "
        r"(p \< 0.05): storm is better in rouge_1 (+0.135, p = 0.008).",
        "",
        "With 8 topics, the permutation test cannot give a p below 2/2^8 = 0.00781.",
    ]
    assert "storm is worse in seconds" in verdict(slow, "cost")


def test_one_topic_allows_neither_interval_nor_test() -> None:
    one: Rows = {"direct": [{"rouge_1": 0.1}], "storm": [{"rouge_1": 0.4}]}
    (paired,) = table_of(results_of(one)).paired
    assert (paired.comparison.t_test, paired.comparison.permutation, paired.interval.low) == (None, None, None)
    assert not paired.significant
    text = report(one)
    assert "No test: no method has two topics in common with direct, so no difference can be tested." in text
    assert "| direct | 0.100 (1) |" in text
    assert "| storm | rouge_1 ↑ | +0.300 | 1 | – | – | – | – |" in text


def test_undefined_and_unscored_values_are_distinguished() -> None:
    rows: Rows = {
        "direct": [{"rouge_1": 0.1}, {"rouge_1": None}, {}],
        "storm": [{"rouge_1": math.nan}, {"rouge_1": 0.5}, "lost"],
        "rr": [{}, {}, {}],
    }
    table = table_of(results_of(rows))
    assert [(own.articles, own.undefined, own.unscored) for (own,) in table.means] == [(3, 1, 1), (2, 1, 0), (3, 0, 3)]
    assert table.paired == (), "no topic in common"
    text = report(rows)
    assert "rouge_1 is not defined for some articles: direct 1 of 3, storm 1 of 2." in text
    assert "rouge_1 is not scored for some articles: direct 1 of 3, rr 3 of 3." in text
    assert "| topic-1 | direct | – |" in text
    assert "| topic-2 | direct | · |" in text
    assert "| rr | 0 | no value |" in text


@pytest.mark.parametrize(
    "rows",
    [
        {"direct": [{"rouge_1": 0.9}, "lost"], "storm": ["lost", {"rouge_1": 0.5}]},
        {"direct": [{"rouge_1": 0.9}, {"rouge_1": None}], "storm": [{"rouge_1": 0.8}, {"rouge_1": 0.5}]},
    ],
)
def test_means_over_different_topics_are_not_ranked(rows: Rows) -> None:
    assert "The methods' means of rouge_1 are over different topics: do not rank them" in report(rows)


def test_what_a_paper_prints_stands_below_our_means() -> None:
    paper = {"storm": {"rouge_1": 0.4582, "interest": 3.99}, "orag": {"rouge_1": 0.4426}}
    results = replace(experiment(), published=paper, published_in="Shao et al. 2024, table 2")
    text = Report(results).markdown()
    table = text.partition("Shao et al. 2024, table 2")[2].partition("\n##")[0]
    assert "| storm | 0.458 |" in table
    assert "| orag | 0.443 |" in table
    assert "interest" not in table, "it is no column here"
    assert text.count("As published") == 1


def test_repairs_of_the_data_stand_below_the_tables() -> None:
    text = Report(replace(experiment(), notes=("A note.", "repaired: a.json has one text twice"))).markdown()
    assert text.index("A note.") < text.index("## Article quality") < text.index("## Repaired data")
    assert text.index("## Repaired data") < text.index("a.json has one text twice")


def test_every_measure_of_the_package_has_a_table() -> None:
    placed = [name for group in GROUPS for name in group.measures]
    assert len(placed) == len(set(placed))
    known = set()
    for row in METRICS.values():
        imported = __import__(f"storm_bench.metrics.{row.kind.partition(':')[0]}", fromlist=["x"])
        given = [getattr(own, "measures", own) for own in vars(imported).values()]
        known |= {one.name for own in given if isinstance(own, tuple) for one in own if isinstance(one, Measure)}
    assert set(placed) == known | {WORDS_ASKED.name}, "no metric, since every report has it"
    for group in GROUPS:
        assert {*group.judged, *group.plotted} <= set(group.measures)
        assert set(group.beside) <= known - set(group.measures)


def test_entity_recall_stands_beside_statement_coverage_and_is_compared_once() -> None:
    names = ("statement_coverage", "article_entity_recall")
    rows: Rows = {
        method: [{names[0]: 0.1 * place, names[1]: 0.3 * place}] * 3 for place, method in enumerate(("rr", "storm"), 1)
    }
    results = results_of(rows, tuple(map(Measure, names)), baseline="rr")
    together = table_of(results, "statements")
    assert tuple(measure.name for measure in together.measures) == names
    assert [paired.measure.name for paired in together.paired] == [names[0]]
    assert [paired.measure.name for paired in table_of(results).paired] == [names[1]]
    assert "are open" in Report(results).markdown(), "how far the screen errs is said below the table"


def test_a_second_table_is_over_all_topics_where_a_failed_article_counts_lowest() -> None:
    errors = Measure("unsupported", better="lower")
    rows: Rows = {
        "direct": [{"rouge_1": 0.2, "unsupported": 0.1}, {"rouge_1": 0.4, "unsupported": 0.3}],
        "rag": ["nothing was found", {"rouge_1": 0.8, "unsupported": 0.2}],
        "storm": [{"rouge_1": 0.6, "unsupported": None}, {"rouge_1": 0.2, "unsupported": 0.0}],
    }
    results = results_of(rows, (ROUGE, errors, WORDS))
    (every, unsupported) = (on_all_topics(results, table_of(results, key)) for key in ("article", "unsupported"))
    assert every
    assert [row[0].interval.mean for row in every.means if row[0].interval] == pytest.approx([0.3, 0.4, 0.4])
    assert unsupported
    assert [row[0].interval.mean for row in unsupported.means if row[0].interval] == pytest.approx([0.2, 0.6, 0.0])
    text = Report(results).markdown()
    assert "All topics; a failed article counts as the worst value that the measure can have:" in text
    assert "| direct | 0 | 0.400 (1) |" in text.replace("**", ""), "the first table is over the topics of all methods"
    nothing_failed = results_of({name: own[1:] for name, own in rows.items()})
    assert on_all_topics(nothing_failed, table_of(nothing_failed)) is None


def test_topics_on_which_methods_were_asked_for_unequal_lengths_are_marked() -> None:
    def told(*storms: float) -> str:
        rows = {"rag": [2640.0, 2640.0], "storm": storms}
        values: Rows = {
            name: [{"rouge_1": 0.1 * len(name), "words_asked": words} for words in own] for name, own in rows.items()
        }
        return Report(results_of(values, (ROUGE, WORDS_ASKED), baseline="rag")).markdown()

    text = told(2630, 1571)
    assert "On 1 of 2 topics, marked \\*, not all methods were asked for as many words" in text
    assert "topic-1 (storm for 1,571 words, others for up to 2,640)" in text
    assert "| topic-1 \\* | storm | 1,571 |" in text
    assert "| topic-0 | storm | 2,630 |" in text
    assert "| method | words_asked |" in text
    assert "marked" not in told(2640, 2600)
