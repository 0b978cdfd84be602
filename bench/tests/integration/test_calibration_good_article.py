"""The calibration of Good Article judges, with judges whose verdicts are known."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from judge_llm import FakeModel, compared
from wiki_live_files import topic_file, write_wiki_live

from storm_bench.articles.data_set import human_article
from storm_bench.judges.model_judge import open_judge
from storm_bench.metrics.good_article import GoodArticle
from storm_bench.metrics.good_article_criteria import CRITERIA
from storm_bench.types import HumanArticle, HumanSection, Topic
from storm_benchmarks import good_article
from storm_benchmarks.good_article import CONCERNED, copied
from storm_pipeline.settings import Settings
from storm_pipeline.types import Article, Section

LEAD = next(one.text for one in CRITERIA if one.name == "summary")
ORDER = next(one.text for one in CRITERIA if one.name == "order")
DEPTH = next(one.text for one in CRITERIA if one.name == "depth")
ARTICLE = """# Lake Orrin

Lake Orrin is a reservoir in Valmere. It was filled in 1931.

## History
The dam was begun in 1929. It cost 12 million crowns. It was ready in 1931.
## Villages
Four hundred people left. They moved to Tarn.
"""


def judge(a: str, b: str, text: str) -> str:
    """A judge who finds each damage, and nothing else."""
    if text == LEAD and a.startswith("#") != b.startswith("#"):
        return "B" if a.startswith("#") else "A"
    early = [own.index("# History") < own.index("# Villages") for own in (a, b)]
    if text == ORDER and early[0] != early[1]:
        return "A" if early[0] else "B"
    cut = ["12 million" not in own for own in (a, b)]
    if text == DEPTH and cut[0] != cut[1]:
        return "B" if cut[0] else "A"
    return "tie"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    files = {name: topic_file(article=ARTICLE) for name in ("One", "Two")}
    return write_wiki_live(tmp_path / "wiki_live", **files).parent


def table(capsys: pytest.CaptureFixture[str], server: FakeModel, data: Path, *more: str) -> dict[str, list[str]]:
    good_article.main(["--judge-lm", server.lm, "--data", str(data), "--cache", str(data / "cache"), *more])
    lines = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
    return {line[0]: line[1:] for line in lines[1:]}


def test_a_judge_who_finds_every_damage(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with FakeModel({"CompareArticles": lambda user: compared(user, judge)}) as server:
        rows = table(capsys, server, data)
    ties = "0.00 / 1.00 / 0.00"
    assert list(rows) == list(CONCERNED)
    assert rows["unchanged"] == ["2", "0.500", "0.000", "–", ties]
    assert rows["without the lead"] == ["2", "0.487", "0.000", "0.00 / 0.75 / 0.25", ties]
    assert rows["sections shuffled"] == ["2", "0.487", "0.000", "0.00 / 0.50 / 0.50", ties]
    assert rows["sentences cut"] == ["2", "0.487", "0.000", "0.00 / 0.75 / 0.25", ties]


def test_a_judge_who_prefers_the_first(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with FakeModel({"CompareArticles": lambda user: compared(user, lambda *_: "A")}) as server:
        rows = table(capsys, server, data, "--topics", "1")
    assert all(row[:3] == ["1", "0.500", "1.000"] for row in rows.values())


def test_concerned_criteria_exist() -> None:
    assert set().union(*CONCERNED.values()) <= {one.name for one in CRITERIA}


def test_topics_that_a_damage_does_not_change_are_left_out(tmp_path: Path) -> None:
    plain = Topic("t", "T", HumanArticle("T", sections=(HumanSection("History", "It was built."),)))
    assert [name for name in CONCERNED if copied(plain, name)] == ["unchanged"]
    with FakeModel({"CompareArticles": lambda user: compared(user, lambda *_: "tie")}) as server:
        metric = GoodArticle(open_judge(server.lm, Settings.build({"cache": tmp_path})))
        (row,) = good_article.calibrate(metric, [plain])
    assert (row.copy, row.articles, row.value) == ("unchanged", 1, 0.5)


SENTENCES = st.lists(st.sampled_from("abcdef"), max_size=5).map(
    lambda own: " ".join(f"Word {one} is here." for one in own)
)
SECTIONS = st.recursive(
    st.builds(HumanSection, st.sampled_from(["One", "Two", "Three"]), SENTENCES),
    lambda below: st.builds(
        HumanSection, st.sampled_from(["Four", "Five"]), SENTENCES, st.lists(below, max_size=3).map(tuple)
    ),
    max_leaves=5,
)
TOPICS = st.builds(
    lambda lead, sections: Topic("t", "T", HumanArticle("T", lead=lead, sections=tuple(sections))),
    SENTENCES,
    st.lists(SECTIONS, max_size=4),
)


def headings(article: Article) -> list[str]:
    def walk(section: Section) -> list[str]:
        return [section.heading, *(heading for own in section.subsections for heading in walk(own))]

    return sorted(heading for section in article.sections for heading in walk(section))


@settings(max_examples=40)
@given(TOPICS, st.sampled_from([*CONCERNED][1:]))
def test_a_damage_changes_only_what_it_says(topic: Topic, name: str) -> None:
    whole, copy = human_article(topic), copied(topic, name)
    if copy is None:
        return
    assert copy != whole
    assert headings(copy) == headings(whole)
    texts = [[sentence.text for sentence in own.sentences()] for own in (whole, copy)]
    if name == "sections shuffled":
        assert sorted(texts[0]) == sorted(texts[1])
        assert copy.lead == whole.lead
    elif name == "without the lead":
        assert copy == type(copy)(whole.title, (), whole.sections)
    else:
        assert copy.lead == whole.lead
        assert len(texts[0]) / 2 <= len(texts[1]) < len(texts[0])
