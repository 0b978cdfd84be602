"""Wiki Live: articles, statements, the frozen web, and what the systems wrote and cite."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wiki_live_files import GUIDE, PRESS, STATEMENTS, WIKIPEDIA, topic_file, write_wiki_live

from storm_bench.articles.data_set import system_article
from storm_bench.cited_sentences import cited_sentences
from storm_bench.datasets.built import write_topics
from storm_bench.datasets.dataset import DataSet
from storm_bench.datasets.freshwiki import read_freshwiki
from storm_bench.datasets.wiki_live import read_wiki_live
from storm_bench.datasets.wikigenbench import read_wikigenbench
from storm_bench.types import (
    CitedStatement,
    HumanArticle,
    HumanSection,
    HumanSentence,
    SystemArticle,
    Topic,
    TopicDocument,
)
from storm_pipeline.errors import DatasetError


@pytest.fixture
def topic(tmp_path: Path) -> Topic:
    (found,) = read_wiki_live(write_wiki_live(tmp_path / "wiki_live", Lake_Orrin=topic_file())).topics
    return found


def test_the_article_and_its_statements(topic: Topic) -> None:
    human = topic.human
    assert (topic.id, topic.title, human.url) == ("Lake_Orrin", "Lake Orrin", WIKIPEDIA)
    assert human.lead == "Lake Orrin is a reservoir in Valmere. It was filled in 1931."
    assert human.headings() == ("History", "Villages")
    assert [section.heading for section in human.back_matter] == ["References"]
    assert human.statements == tuple(STATEMENTS)
    assert "#" not in human.text()


def test_pages_are_plain_text_and_walls_are_none(topic: Topic) -> None:
    assert [document.url for document in topic.documents] == [PRESS, GUIDE, WIKIPEDIA]
    press = topic.documents[0]
    assert press.title == "The dam of Orrin", "half of the published titles are in base64"
    assert "The dam of Lake Orrin was begun in 1929, and it cost 12 million crowns." in press.text
    assert "press.example" not in press.text
    assert press.origin == "search"


def test_what_the_systems_wrote_and_cite(topic: Topic) -> None:
    assert [own.system for own in topic.system_articles] == ["alpha", "beta"], "who wrote nothing is none of them"
    alpha = topic.written_by("alpha")
    assert alpha is not None
    assert alpha.statements[2] == CitedStatement("The dam cost 12 million crowns.", (PRESS, GUIDE))
    beta = topic.written_by("beta")
    assert beta is not None
    assert beta.statements == (CitedStatement("It is a lake."),)
    assert topic.written_by("gamma") is None


def test_a_systems_article_cites_what_can_be_looked_up(topic: Topic) -> None:
    article = system_article(topic, "alpha")
    assert [section.heading for section in article.sections] == ["Building"]
    first, second, third = cited_sentences(article)
    assert first.text == "Lake Orrin is a large reservoir in the land of Valmere."
    assert len(first.passages) == 1, "a page that is not held cannot be looked up"
    assert "Lake Orrin is a reservoir in Valmere" in first.passages[0]
    assert second.text == "The dam was begun in 1929 and it cost 12 million crowns."
    assert ["begun in 1929" in passage for passage in second.passages] == [True, False]
    assert third.passages == ()
    assert {source.url for source in article.sources} == {PRESS, GUIDE, WIKIPEDIA}
    assert article.report.unavailable_citations == 1


def test_a_system_without_citations_has_no_sources(topic: Topic) -> None:
    article = system_article(topic, "beta")
    assert (article.sources, article.sections[0].heading) == ((), "Overview")
    with pytest.raises(DatasetError, match="no article by 'gamma' on 'Lake Orrin'; available systems: alpha, beta"):
        system_article(topic, "gamma")


TEXTS = st.text("ab. \n#*[1]", max_size=40)
STATED = st.lists(
    st.builds(CitedStatement, TEXTS, st.lists(st.sampled_from([PRESS, GUIDE, "https://x.example"])).map(tuple))
)


@given(TEXTS, STATED)
def test_whatever_is_written_every_citation_leads_to_a_passage(text: str, statements: list[CitedStatement]) -> None:
    documents = (
        TopicDocument(PRESS, "Press", "a b ab. " * 200, "search"),
        TopicDocument(GUIDE, "", "b " * 300, "search"),
    )
    written = SystemArticle("alpha", text, tuple(statements))
    article = system_article(Topic("t", "T", HumanArticle("T"), documents, (written,)), "alpha")
    held = {(source.id, snippet.id) for source in article.sources for snippet in source.snippets}
    cited = {(one.source_id, one.snippet_id) for sentence in article.sentences() for one in sentence.citations}
    assert cited == held
    assert all(snippet.text for source in article.sources for snippet in source.snippets)


DAMAGED: dict[str, tuple[bytes, str]] = {
    "no gzip": (b"no gzip", "cannot be decompressed"),
    "cut off": (gzip.compress(b"{}" * 99)[:20], "cannot be decompressed"),
    "not JSON": (gzip.compress(b"{"), "it is not JSON"),
    "no pages": (gzip.compress(json.dumps(topic_file() | {"pages": 3}).encode()), "damaged at pages"),
    "no article": (gzip.compress(json.dumps({"title": "x"}).encode()), "damaged at article"),
    "no statements": (gzip.compress(json.dumps(topic_file(statements=[])).encode()), "or statements are missing"),
    "no text": (
        gzip.compress(json.dumps(topic_file(article="# Lake Orrin")).encode()),
        "text or statements are missing",
    ),
}


@pytest.mark.parametrize(("data", "said"), DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_is_skipped(tmp_path: Path, data: bytes, said: str) -> None:
    write_wiki_live(tmp_path, Lake_Orrin=topic_file())
    (tmp_path / "Broken.json.gz").write_bytes(data)
    found = read_wiki_live(tmp_path)
    assert [one.id for one in found.topics] == ["Lake_Orrin"]
    assert len(found.problems) == 1
    assert said in found.problems[0]
    assert "Broken.json.gz" in found.problems[0]


def test_a_folder_without_topics(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"is not such a data set: it has no \.json\.gz file"):
        read_wiki_live(tmp_path)


Reader = Callable[..., DataSet]

PLAIN = "The dam of Orrin was begun in 1929 by a company."

LINES = st.lists(st.text(max_size=30), max_size=3).map("\n\n".join)

CITED = st.builds(HumanSentence, st.text(max_size=20), st.lists(st.text(max_size=9), max_size=2).map(tuple))


@st.composite
def sections(draw: st.DrawFn, depth: int = 0) -> HumanSection:
    below = draw(st.lists(sections(depth + 1), max_size=2)) if depth < 4 else []
    return HumanSection(draw(st.text(max_size=9)), draw(LINES), tuple(below), tuple(draw(st.lists(CITED, max_size=2))))


@pytest.mark.parametrize("read", [read_freshwiki, read_wikigenbench])
@given(lead=LINES, body=st.lists(sections(), max_size=2), page=st.text(max_size=30))
def test_what_is_built_is_read_back(read: Reader, lead: str, body: list[HumanSection], page: str) -> None:
    documents = (TopicDocument("https://press.example/a", page, page, "search"),)
    human = HumanArticle("Lake Orrin", "", lead, tuple(body), documents, statements=(PLAIN,))
    topics = [Topic(name, "Lake Orrin", human, documents) for name in ("10", "9", "lake", "a")]
    with TemporaryDirectory() as folder:
        write_topics(Path(folder), topics)
        write_topics(Path(folder), topics[:3])
        assert read(Path(folder)).topics == (topics[2], topics[1], topics[0])
        (Path(folder) / "topics" / "broken.json.gz").write_bytes(gzip.compress(b'{"id": 3}'))
        assert "broken.json.gz is damaged at" in read(Path(folder)).problems[0]
