"""The published data sets themselves: what the readers make of them, beside the papers' figures."""

from functools import lru_cache
from pathlib import Path

import pytest

from storm_bench.articles.data_set import system_article
from storm_bench.datasets.closed_corpus import topic_chunks
from storm_bench.datasets.dataset import DataSet
from storm_bench.datasets.freshwiki import read_freshwiki
from storm_bench.datasets.leakage import copies
from storm_bench.datasets.quality import by_features
from storm_bench.datasets.statistics import PAPER, article_size, table_7
from storm_bench.datasets.usable_documents import is_flattened
from storm_bench.datasets.wiki_live import read_wiki_live
from storm_bench.datasets.wiki_page import Features
from storm_bench.datasets.wikigenbench import in_core, read_wikigenbench
from storm_bench.types import HumanArticle
from storm_pipeline.documents.articles.reference_list import is_back_matter

pytestmark = pytest.mark.data


@lru_cache(maxsize=1)
def wikigenbench(folder: Path) -> DataSet:
    return read_wikigenbench(folder, strict=True)


def test_freshwiki_is_read_whole_and_meets_table_7(data_dir: Path) -> None:
    data = read_freshwiki(data_dir / "freshwiki", strict=True)
    assert len(data.topics) == 31
    assert all(problem.startswith("repaired") for problem in data.problems) and len(data.problems) == 5
    figures = table_7(data.topics)
    assert figures.sections == pytest.approx(PAPER.sections, rel=0.03)
    assert figures.headings == pytest.approx(PAPER.headings, rel=0.03)
    assert figures.words == pytest.approx(PAPER.words, rel=0.03)
    assert figures.references == pytest.approx(PAPER.references, rel=0.03)
    assert figures.words_a_section == pytest.approx(PAPER.words_a_section, rel=0.1)
    for topic in data.topics:
        assert not any(is_back_matter(section.heading) for section in topic.human.sections)
        assert topic.human.entities and topic.human.url.startswith("https://en.wikipedia.org/wiki/")


def test_the_stand_in_passes_what_ores_passed(data_dir: Path) -> None:
    topics = read_freshwiki(data_dir / "freshwiki").topics
    assert all(by_features(features_of(topic.human)).is_good for topic in topics)


def features_of(article: HumanArticle) -> Features:
    size = article_size(article)
    return Features(
        characters=len(article.text()),
        words=size.words,
        references=size.references,
        headings=size.headings,
        sections=size.sections,
        subsections=size.headings - size.sections,
        list_words=0,
        has_banner=False,
    )


def test_wikigenbench_is_read_whole_with_its_usable_pages(data_dir: Path) -> None:
    data = wikigenbench(data_dir / "wikigenbench")
    assert len(data.topics) == 85
    documents = [document for topic in data.topics for document in topic.documents]
    origins = [document.origin for document in documents]
    assert (origins.count("human"), origins.count("search")) == (958, 357)  # nine raw PDF files are none
    assert not any(is_flattened(document.text) for document in documents if document.origin == "search")
    figures = table_7(data.topics, back_matter=False)
    assert figures.sections == pytest.approx(5.12, rel=0.03), "version 1 of the paper, table 1"
    assert figures.words == pytest.approx(1639, rel=0.03)
    for topic in data.topics:
        assert not any(is_back_matter(section.heading) for section in topic.human.sections)


def test_one_document_is_a_copy_and_no_reference_is_lost(data_dir: Path) -> None:
    topics = wikigenbench(data_dir / "wikigenbench").topics
    found = [(topic.title, copy.document.url) for topic in topics for copy in copies(topic)]
    assert found == [("1917 Minsk City Duma election", "https://graphsearch.epfl.ch/concept/70269039")]
    minsk = next(topic for topic in topics if topic.title == found[0][0])
    assert not any(chunk.url == found[0][1] for chunk in topic_chunks(minsk))


def test_the_core_has_the_topics_that_the_manifest_marks(data_dir: Path) -> None:
    marked = {topic.id for topic in read_wikigenbench(data_dir / "wikigenbench", core_only=True).topics}
    assert len(marked) == 66
    by_rule = {topic.id for topic in wikigenbench(data_dir / "wikigenbench").topics if in_core(topic)}
    assert len(by_rule ^ marked) == 1, by_rule ^ marked


def test_wiki_live_is_read_whole_and_its_articles_are_kept_out(data_dir: Path) -> None:
    data = read_wiki_live(data_dir / "wiki_live", strict=True)
    assert (len(data.topics), data.problems) == (33, ())
    assert sum(len(topic.human.statements) for topic in data.topics) == 5159
    assert [len(topic.system_articles) for topic in data.topics].count(11) == 27  # some wrote nothing on six
    for topic in data.topics:
        assert topic.human.lead and topic.human.sections
        assert not any(is_back_matter(section.heading) for section in topic.human.sections)
    for topic in data.topics[::8]:  # reading all of their pages takes long
        kept = {copy.document.url for copy in copies(topic)}
        assert any("wikipedia.org/wiki/" in url for url in kept), f"{topic.title}: every topic's article was cited"
        assert len(topic.documents) - len(kept) >= 40
        cited = system_article(topic, "qwen")
        assert cited.sources
        assert sum(bool(sentence.citations) for sentence in cited.sentences()) > 20
