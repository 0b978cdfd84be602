"""The search engine that returns only pages that may be used, and the dates in their addresses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.sources.reliable.filtering import POLICIES, Policy, SourceFilter, SourcePolicy, date_in_address
from storm_pipeline.sources.reliable.ground_truth import GroundTruth
from storm_pipeline.sources.search.base import Search, SearchEngine
from storm_pipeline.sources.search.edge import with_checks
from storm_pipeline.sources.search.fake import FakeSearch
from storm_pipeline.sources.search.result import one_per_page
from storm_pipeline.types import Exclusion, Snippet

SILK = "https://en.wikipedia.org/wiki/Silk_Road"
GOOD = ["https://www.nytimes.com/a", "https://www.bbc.co.uk/b", "https://apnews.com/c", "https://www.loc.gov/d"]
NEUTRAL = ["https://unknown.example/e", "https://www.britannica.com/f", "corpus:notes.txt"]
BAD = """
    https://www.reddit.com/r/g https://www.dailymail.co.uk/h https://x.com/i https://www.wikiwand.com/en/J
""".split()


def snippets(*urls: str) -> list[Snippet]:
    return [Snippet(url, f"about {url}", f"text {n}") for n, url in enumerate(urls)]


def reliable(engine: SearchEngine, policy: SourcePolicy, kept_out: GroundTruth | None = None) -> Search:
    """The engine with the filter behind it, as a run has it."""
    inner, sources = with_checks(engine), SourceFilter(policy, kept_out)
    return Search(
        engine.name,
        lambda q, k: sources.usable(inner.search(q, k + sources.spare(k)), q, k),
    )


def filtered(*urls: str, policy: Policy = "standard", kept_out: GroundTruth | None = None) -> Search:
    return reliable(FakeSearch(lambda _: snippets(*urls)), SourcePolicy(policy), kept_out)


def test_excluded_pages_are_left_out_and_named_once() -> None:
    engine = filtered(BAD[0], GOOD[0], BAD[0], GOOD[1], BAD[1], NEUTRAL[0])
    assert engine.name == "fake"
    silk, jade = engine.search("silk", 3), engine.search("jade", 3)
    assert [s.url for s in silk.snippets] == [GOOD[0], GOOD[1], NEUTRAL[0]] == [s.url for s in jade.snippets]
    assert [(one.url, one.query) for one in silk.excluded] == [(BAD[0], "silk"), (BAD[1], "silk")]
    first, second = one_per_page([*silk.excluded, *jade.excluded])
    assert (first.url, first.query) == (BAD[1], "jade")
    assert second == Exclusion(BAD[0], f"about {BAD[0]}", second.reason, "jade")
    assert second.reason.startswith("generally unreliable: generally unreliable, by Wikipedia")


@given(
    st.lists(st.sampled_from([*GOOD, *NEUTRAL, *BAD, SILK]), max_size=14),
    st.sampled_from(POLICIES),
    st.booleans(),
    st.integers(0, 6),
)
def test_no_excluded_page_and_no_more_than_k(urls: list[str], policy: Policy, without_silk: bool, k: int) -> None:
    found = snippets(*urls)
    judge = SourcePolicy(policy)
    engine = reliable(FakeSearch({"q": found}), judge, GroundTruth([SILK]) if without_silk else None)
    result = engine.search("q", k)
    kept, excluded = list(result.snippets), {e.url for e in result.excluded}
    assert kept == [s for s in found if s in kept]
    assert len({s.url for s in kept}) <= k
    assert not {s.url for s in kept} & excluded
    assert all(judge.judge(s.url).allowed for s in kept)
    assert not (without_silk and SILK in {s.url for s in kept})
    assert len(excluded) == len(result.excluded)
    usable = {u for u in urls if judge.judge(u).allowed and not (without_silk and u == SILK)}
    if k > 0 and len(set(urls)) <= k:
        assert {s.url for s in kept} == usable
        assert excluded == set(urls) - usable


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
