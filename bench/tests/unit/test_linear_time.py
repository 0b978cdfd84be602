"""Long texts that once took time that grew with the square of their length, or more."""

import pytest

from storm_benchmarks.lengths import PATTERNS, readers, seconds_for


@pytest.mark.parametrize("name", readers())
def test_no_reader_takes_long_for_a_repeated_pattern(name: str) -> None:
    slow = {pattern: took for pattern in PATTERNS if (took := seconds_for(readers()[name], pattern, 20_000)) > 2.0}
    assert not slow
