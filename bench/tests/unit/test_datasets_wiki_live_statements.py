"""Statements taken from an article, and built data sets after reading them back."""

import gzip
import string
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_bench.datasets.built import write_topics
from storm_bench.datasets.dataset import DataSet
from storm_bench.datasets.freshwiki import read_freshwiki
from storm_bench.datasets.wiki_live import read_wiki_live
from storm_bench.datasets.wiki_live_builder import spread, statements_of
from storm_bench.datasets.wikigenbench import read_wikigenbench
from storm_bench.types import HumanArticle, HumanSection, HumanSentence, Topic, TopicDocument
from storm_pipeline.errors import DatasetError
from storm_pipeline.text.words import word_count

Reader = Callable[..., DataSet]

PLAIN = "The dam of Orrin was begun in 1929 by a company."
OTHER = "Four hundred people left the villages of Brae and Tarn."


def article(*sentences: str, lead: str = "", heading: str = "History") -> HumanArticle:
    section = HumanSection(heading, " ".join(sentences), (), tuple(map(HumanSentence, sentences)))
    return HumanArticle("Lake Orrin", lead=lead, sections=(section,))


def test_statements_are_the_sentences_of_the_body() -> None:
    below = HumanSection("Villages", OTHER, (), (HumanSentence(OTHER),))
    section = HumanSection("History", PLAIN, (below,), (HumanSentence(PLAIN), HumanSentence(PLAIN.replace("  ", " "))))
    back = HumanSection("Notes", PLAIN, (), (HumanSentence("A note of the editors stands here for no reader."),))
    human = HumanArticle("Lake Orrin", lead="A lake in the north of Valmere.", sections=(section,), back_matter=(back,))
    assert statements_of(human) == (f"Lake Orrin, History: {PLAIN}", f"Lake Orrin, Villages: {OTHER}")


@pytest.mark.parametrize(
    "sentence",
    [
        "",
        "It was filled.",
        "The dam of Orrin was begun in 1929 by",
        "Was the dam of Orrin begun in 1929 by a company?",
        "“The dam of Orrin was begun in 1929 by a company.”",
        '"The dam of Orrin was begun too late", he said.',
        "The dam " + "and the wall " * 30 + "were begun in 1929.",
    ],
)
def test_what_is_no_statement(sentence: str) -> None:
    assert statements_of(article(sentence, PLAIN)) == (f"Lake Orrin, History: {PLAIN}",)


WORDS = st.text(string.ascii_letters + "äß'“”\"().,;?!0123456789-", min_size=1, max_size=9)
SENTENCES = st.one_of(
    st.lists(WORDS, max_size=12).map(lambda words: " ".join([*words, "."])),
    st.tuples(st.sampled_from(["The", "It", "In 1931 he", "They", "Orrin", "“The"]), st.integers(1, 99)).map(
        lambda parts: f"{parts[0]} opened {parts[1]} gates of the northern dam."
    ),
)


@given(st.lists(SENTENCES, max_size=8), st.integers(0, 9))
def test_every_statement_is_a_sentence_of_the_article(sentences: list[str], most: int) -> None:
    found = statements_of(article(*sentences))
    assert len(set(found)) == len(found)
    places = [sentences.index(statement.removeprefix("Lake Orrin, History: ")) for statement in found]
    assert places == sorted(places)
    for statement in found:
        bare = statement.removeprefix("Lake Orrin, History: ")
        assert word_count(bare) in range(6, 61)
    chosen = spread(found, most)
    assert len(chosen) == min(most, len(found))
    assert [found.index(one) for one in chosen] == sorted({found.index(one) for one in chosen})


@given(st.integers(0, 200), st.integers(1, 60))
def test_statements_are_spread_evenly(number: int, most: int) -> None:
    chosen = [int(one) for one in spread(list(map(str, range(number))), most)]
    gaps = [after - before for before, after in pairwise(chosen)]
    assert len(chosen) == min(number, most)
    assert not gaps or max(gaps) - min(gaps) <= 1
    assert chosen[:1] == [0][: len(chosen)]


LINES = st.lists(st.text(max_size=30), max_size=3).map("\n\n".join)
CITED = st.builds(HumanSentence, st.text(max_size=20), st.lists(st.text(max_size=9), max_size=2).map(tuple))


@st.composite
def sections(draw: st.DrawFn, depth: int = 0) -> HumanSection:
    below = draw(st.lists(sections(depth + 1), max_size=2)) if depth < 4 else []
    return HumanSection(draw(st.text(max_size=9)), draw(LINES), tuple(below), tuple(draw(st.lists(CITED, max_size=2))))


@pytest.mark.parametrize("read", [read_freshwiki, read_wikigenbench, read_wiki_live])
@given(lead=LINES, body=st.lists(sections(), max_size=2), page=st.text(max_size=30))
def test_what_is_built_is_read_back(read: Reader, lead: str, body: list[HumanSection], page: str) -> None:
    documents = (TopicDocument("https://press.example/a", page, page, "search"),)
    human = HumanArticle("Lake Orrin", "", lead, tuple(body), documents, statements=(PLAIN,))
    topics = [Topic(name, "Lake Orrin", human, documents, about=lead) for name in ("10", "9", "lake", "a")]
    with TemporaryDirectory() as folder:
        write_topics(Path(folder), topics)
        write_topics(Path(folder), topics[:3])
        assert read(Path(folder), strict=True).topics == (topics[2], topics[1], topics[0])
        (Path(folder) / "topics" / "broken.json.gz").write_bytes(gzip.compress(b'{"id": 3}'))
        with pytest.raises(DatasetError, match=r"broken\.json\.gz is damaged at"):
            read(Path(folder), strict=True)
