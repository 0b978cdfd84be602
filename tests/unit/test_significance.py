"""Intervals, paired tests and Holm's correction against hand-computed values and their own properties."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storm_pipeline.evaluation.significance import compare, holm, interval, smallest_p

FINITE = st.floats(-1e3, 1e3, allow_nan=False)
P = st.floats(0, 1, allow_nan=False)


def test_an_exact_permutation_test_counts_the_flips() -> None:
    first = {"a": 3.0, "b": 5.0, "c": 4.0, "d": 9.0}
    second = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 5.0}
    found = compare(first, second)
    assert found.difference == 2.5
    assert found.topics == 4
    # Of the 2^4 ways to flip the signs of 2, 3, 1, 4 only two have a mean as far from 0.
    assert found.permutation == pytest.approx(2 / 16)
    mean, spread = 2.5, math.sqrt(sum((d - 2.5) ** 2 for d in (2, 3, 1, 4)) / 3)
    t = mean / (spread / 2)
    assert t == pytest.approx(3.873, abs=1e-3)
    assert found.t_test == pytest.approx(0.0305, abs=1e-3)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, None, 0.03]) == pytest.approx([0.03, 0.06, None, 0.06])
    assert holm([]) == []


@given(st.lists(st.none() | P, max_size=12))
def test_holm_never_lowers_nor_reorders(values: list[float | None]) -> None:
    corrected = holm(values)
    assert [value is None for value in corrected] == [value is None for value in values]
    pairs = [(v, c) for v, c in zip(values, corrected, strict=True) if v is not None and c is not None]
    assert all(v <= c <= 1 for v, c in pairs)
    assert [c for _, c in sorted(pairs)] == sorted(c for _, c in pairs)


@settings(max_examples=15, deadline=None)
@given(st.lists(FINITE, min_size=1, max_size=12))
def test_an_interval_holds_its_mean(values: list[float]) -> None:
    found = interval(values)
    assert found.topics == len(values)
    if found.low is not None and found.high is not None and not math.isnan(found.low):
        slack = 1e-9 + 0.5 * (max(values) - min(values))
        assert found.low - slack <= found.mean <= found.high + slack


def test_bounds_are_those_of_95_percent() -> None:
    found = interval([0.1, 0.2, 0.4, 0.8, 0.9, 0.3])
    # BCa; percentiles are 0.217 and 0.683, and BCa is 0.267 and 0.667 at 90 %, 0.183 and 0.783 at 99 %.
    assert (found.low, found.high) == (pytest.approx(0.2333, abs=5e-3), pytest.approx(0.7, abs=5e-3))
    two = interval([0.6, 0.2])
    assert (two.low, two.high) == (0.2, 0.6)


def test_one_topic_has_no_interval_and_no_test() -> None:
    assert interval([2.0]).low is None
    assert compare({"a": 1.0}, {"a": 2.0}).t_test is None
    with pytest.raises(ValueError, match="no topic in common"):
        compare({"a": 1.0}, {"b": 2.0})
    with pytest.raises(ValueError, match="at least one"):
        interval([])


def test_one_and_the_same_difference_can_be_flipped_but_has_no_spread_for_a_t_test() -> None:
    first = {"a": 0.3, "b": 0.5, "c": 0.7, "d": 0.9}
    found = compare(first, {topic: value - 0.1 for topic, value in first.items()})
    assert found.t_test is None
    assert found.permutation == pytest.approx(2 / 16)
    same = compare(first, first)
    assert (same.t_test, same.permutation) == (None, 1.0)


def test_rounding_is_no_spread() -> None:
    found = interval([0.3 - 0.2, 0.5 - 0.4, 0.7 - 0.6])
    assert found.low == found.mean == found.high


@pytest.mark.parametrize("topics", [2, 5, 13, 14, 20])
def test_no_permutation_test_goes_below_its_smallest_p(topics: int) -> None:
    first = {str(n): float(n + 1) for n in range(topics)}
    found = compare(first, dict.fromkeys(first, 0.0))
    assert found.permutation == pytest.approx(smallest_p(topics))


def test_one_topic_reaches_no_p() -> None:
    assert smallest_p(1) is None
