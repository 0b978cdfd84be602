"""Publication dates in addresses."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.sources.filtering import date_in_address


@pytest.mark.parametrize(
    ("url", "published"),
    [
        ("https://www.nytimes.com/1976/05/08/archives/southern-baptist-expansion.html", "1976-05-08"),
        ("https://example.org/2008/5/30/a-church/", "2008-05-30"),
        ("https://example.org/news/2013/11/shrine-parishioners/?page=2014/01/02", "2013-11"),
        ("https://www.theguardian.com/world/2022/Aug/12/oder", "2022-08-12"),
        ("https://example.org/2022/08", "2022-08"),
    ],
)
def test_a_date_among_the_folders(url: str, published: str) -> None:
    assert date_in_address(url) == published


@pytest.mark.parametrize(
    "url",
    [
        *("https://example.org/2023/02/30/no-such-day", "https://example.org/wp-content/uploads/2019/04/report.pdf"),
        *("https://example.org/1832/04/02/old", "https://example.org/2019/13/x"),
        *("https://example.org/2019/04/01/then/2020/05/02/now", "https://example.org/12019/04/x"),
        *("https://example.org/a#/2019/04/01/", "https://example.org/2019", "corpus:leads/12", ""),
    ],
)
def test_no_date(url: str) -> None:
    assert date_in_address(url) is None


@given(st.text())
def test_any_text_gives_an_iso_date_or_none(text: str) -> None:
    found = date_in_address(f"https://example.org/{text}")
    assert found is None or re.fullmatch(r"(19|20)\d\d-\d\d(-\d\d)?", found)
