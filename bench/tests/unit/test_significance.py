"""Intervals, paired tests and Holm's correction against hand-computed values and their own properties."""

import math
import tracemalloc
from itertools import product
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storm_bench.significance import EXACT, compare, holm, interval, permutation_p, smallest_p

FINITE = st.floats(-1e3, 1e3, allow_nan=False)


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


def test_a_small_sample_has_a_t_interval_by_hand() -> None:
    found = interval([0.1, 0.2, 0.4, 0.8, 0.9, 0.3])
    # Mean 0.45, standard deviation 0.3271, standard error 0.1335; the 97.5 % quantile of t with 5 degrees is 2.571.
    assert (found.low, found.high) == (pytest.approx(0.45 - 2.571 * 0.1335, abs=1e-3), pytest.approx(0.7933, abs=1e-3))
    two = interval([0.6, 0.2])  # standard error 0.2; the quantile with 1 degree is 12.706
    assert (two.low, two.high) == (pytest.approx(0.4 - 2.5412, abs=1e-3), pytest.approx(0.4 + 2.5412, abs=1e-3))


def test_a_larger_sample_has_a_bootstrap_interval() -> None:
    values = [float(n) for n in range(13)]
    found = interval(values)
    # Percentiles of the mean's bootstrap distribution: 6 ± 1.96 · 3.742 / sqrt(13).
    assert (found.low, found.high) == (pytest.approx(6 - 2.034, abs=0.1), pytest.approx(6 + 2.034, abs=0.1))


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


@pytest.mark.parametrize("topics", [2, 5, 13, EXACT, 40])
def test_no_permutation_test_goes_below_its_smallest_p(topics: int) -> None:
    first = {str(n): float(n + 1) for n in range(topics)}
    found = compare(first, dict.fromkeys(first, 0.0))
    assert found.permutation == pytest.approx(smallest_p(topics))


@settings(max_examples=30, deadline=None)
@given(st.lists(FINITE, min_size=1, max_size=8))
def test_an_exact_test_counts_every_way_to_flip_the_signs(values: list[float]) -> None:
    slack = 1e-9 * sum(map(abs, values))
    sums = [
        abs(sum(s * v for s, v in zip(signs, values, strict=True))) for signs in product((1, -1), repeat=len(values))
    ]
    low, high = (sum(own >= abs(sum(values)) + side * slack for own in sums) / len(sums) for side in (1, -1))
    assert low <= permutation_p(np.array(values)) <= high


def test_random_flips_are_drawn_once_for_all_comparisons_of_as_many_topics(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn, draw = [], np.random.default_rng
    monkeypatch.setattr(np.random, "default_rng", lambda seed: drawn.append(seed) or draw(seed))
    values = [permutation_p(np.arange(37.0) - middle, seed=7) for middle in (12, 14, 16)]
    assert (drawn, values) == ([7], sorted(values))
    expected = 2 * (1 - NormalDist().cdf(37 * 2 / math.sqrt(sum((n - 16) ** 2 for n in range(37)))))
    assert values[-1] == pytest.approx(expected, rel=0.05)


def test_many_topics_take_little_memory_and_change_no_figure() -> None:
    values = [(n * 7919) % 1500 - 725.0 for n in range(1500)]
    tracemalloc.start()
    try:
        assert permutation_p(np.array(values)) == 30164 / ((1 << 20) + 1)
        found = interval(values)
        assert tracemalloc.get_traced_memory()[1] < 220_000_000
    finally:
        tracemalloc.stop()
    assert (found.low, found.high) == (pytest.approx(2.7858920273755743), pytest.approx(46.65634362045604))


def test_one_topic_has_no_smallest_p() -> None:
    assert smallest_p(1) is None
