"""Statements taken from an article, and what a built round holds after reading it back."""

import string
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from storm_bench.datasets.wiki_live import read_wiki_live, write_topic
from storm_bench.datasets.wiki_live_builder import spread, statements_of
from storm_bench.types import HumanArticle, HumanSection, HumanSentence, Topic, TopicDocument
from storm_pipeline.text.words import word_count

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


MARKED = st.text(st.sampled_from("aB1 .,*_`[]()<>#|\\!~$&;:=+->x\"'/^"), max_size=30).map(
    lambda text: " ".join(text.split())
)
LINES = st.lists(MARKED.filter(bool), max_size=3).map("\n\n".join)
PROSE = " ".join(f"Visitors of day {day} walked along the shore and watched the herons." for day in range(12))


@st.composite
def sections(draw: st.DrawFn, depth: int = 0) -> HumanSection:
    heading = f"H{draw(MARKED)}"
    below = draw(st.lists(sections(depth + 1), max_size=2)) if depth < 4 else []
    return HumanSection(heading, draw(LINES), tuple(below))


@given(LINES, st.lists(sections(), min_size=1, max_size=2), MARKED, MARKED)
@example("[x]", [HumanSection("H", "[ ] a")], "", "")
def test_what_is_written_is_read_back(lead: str, body: list[HumanSection], title: str, page: str) -> None:
    documents = (TopicDocument("https://press.example/a", f"T{title}", f"{PROSE}\n{page}\nEnd.", "human"),)
    human = HumanArticle("Lake Orrin", lead=lead, sections=(*body, HumanSection("End", PLAIN)), statements=(PLAIN,))
    with TemporaryDirectory() as folder:
        write_topic(Path(folder), Topic("lake", "Lake Orrin", human, documents))
        (topic,) = read_wiki_live(Path(folder), strict=True).topics
    assert topic.human.lead == lead
    assert topic.human.sections == human.sections
    assert (topic.human.statements, topic.id) == ((PLAIN,), "lake")
    assert topic.documents == documents
