"""How the words of an article are divided among its sections."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.references.evidence import words_of_sections

SECTIONS = st.lists(st.tuples(st.floats(0.001, 1), st.integers(0, 3000)), min_size=1, max_size=30)


@given(st.integers(100, 10_000), SECTIONS)
def test_what_passages_do_not_support_goes_to_others(article: int, sections: list[tuple[float, int]]) -> None:
    parts, evidence = zip(*sections, strict=True)
    words = words_of_sections(article, parts, evidence)
    least = min(60, 1.1 * article / max(1, sum(map(bool, evidence))))
    most = [max(least, 0.7 * own) if own else 0 for own in evidence]
    assert all(limit == 0 or least - 0.5 <= own <= limit + 0.5 for own, limit in zip(words, most, strict=True))
    assert sum(words) == pytest.approx(min(1.1 * article, sum(most)), abs=len(words) / 2 + 0.01)
    unlimited = [own / part for own, part, most in zip(words, parts, most, strict=True) if least + 1 < own < most - 1]
    assert not unlimited or max(unlimited) - min(unlimited) <= 1 / min(parts)


def test_equal_parts_are_equal_however_many_sections_there_are() -> None:
    assert words_of_sections(300, [1] * 4, [500] * 4) == [82] * 4
    assert words_of_sections(300, [1] * 11, [500] * 11) == [30] * 11
    assert words_of_sections(2400, [8, 1, 1], [1000, 3000, 3000]) == [700, 970, 970]
    assert words_of_sections(2400, [1, 1], [0, 3000]) == [0, 2100]
