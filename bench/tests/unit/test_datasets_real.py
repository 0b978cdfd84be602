"""The published data sets themselves: what the readers make of them, beside the papers' figures."""

from functools import lru_cache
from pathlib import Path

import pytest

from storm_bench.articles.data_set import system_article
from storm_bench.datasets.closed_corpus import topic_chunks
from storm_bench.datasets.dataset import DataSet
from storm_bench.datasets.freshwiki import read_freshwiki
from storm_bench.datasets.leakage import copies
from storm_bench.datasets.usable_documents import is_flattened
from storm_bench.datasets.wiki_live import read_wiki_live
from storm_bench.datasets.wikigenbench import in_core, read_wikigenbench
from storm_pipeline.output.articles.reference_list import is_back_matter

pytestmark = pytest.mark.data


@lru_cache(maxsize=1)
def wikigenbench(folder: Path) -> DataSet:
    return read_wikigenbench(folder, strict=True)


def test_freshwiki_is_read_whole_and_meets_table_7(data_dir: Path) -> None:
    data = read_freshwiki(data_dir / "freshwiki", strict=True)
    assert len(data.topics) == 31
    assert all(problem.startswith("repaired") for problem in data.problems) and len(data.problems) == 5
    sizes = [[len(one.sections) + len(one.back_matter), len(one.references)] for one in (t.human for t in data.topics)]
    sections, references = (sum(column) / len(sizes) for column in zip(*sizes, strict=True))
    assert (sections, references) == (pytest.approx(8.4, rel=0.03), pytest.approx(90.1, rel=0.03)), "the paper's"
    for topic in data.topics:
        assert not any(is_back_matter(section.heading) for section in topic.human.sections)
        assert topic.human.entities and topic.human.url.startswith("https://en.wikipedia.org/wiki/")


def test_wikigenbench_is_read_whole_with_its_usable_pages(data_dir: Path) -> None:
    data = wikigenbench(data_dir / "wikigenbench")
    assert len(data.topics) == 85
    documents = [document for topic in data.topics for document in topic.documents]
    origins = [document.origin for document in documents]
    assert (origins.count("human"), origins.count("search")) == (958, 357)  # nine raw PDF files are none
    assert not any(is_flattened(document.text) for document in documents if document.origin == "search")
    sections = sum(len(topic.human.sections) for topic in data.topics) / len(data.topics)
    assert sections == pytest.approx(5.12, rel=0.03), "version 1 of the paper, table 1"
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
