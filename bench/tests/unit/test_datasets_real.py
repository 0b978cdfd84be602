"""The real data sets, where they are at hand, and the questions and answers of training."""

import gzip
import json
import tomllib
from functools import lru_cache
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from test_datasets_labelled import TEXT, claim, written
from test_datasets_wikigenbench import HITS, PAGE, tree

from storm_bench.articles.data_set import system_article
from storm_bench.datasets import training
from storm_bench.datasets.closed_corpus import topic_chunks
from storm_bench.datasets.dataset import DataSet
from storm_bench.datasets.freshwiki import read_freshwiki
from storm_bench.datasets.leakage import copies
from storm_bench.datasets.usable_documents import is_flattened
from storm_bench.datasets.wiki_live import read_wiki_live
from storm_bench.datasets.wikigenbench import in_core, read_wikigenbench
from storm_pipeline.errors import DatasetError
from storm_pipeline.optimize.tasks import ENTRY_POINTS, TASKS, examples_of, read_training
from storm_pipeline.output.articles.markdown import is_back_matter
from storm_pipeline.settings import Settings
from storm_pipeline.types import Article

pytestmark = pytest.mark.data


@lru_cache(maxsize=1)
def wikigenbench(folder: Path) -> DataSet:
    return read_wikigenbench(folder)


def test_freshwiki_is_read_whole_and_meets_table_7(data_dir: Path) -> None:
    data = read_freshwiki(data_dir / "freshwiki")
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
    data = read_wiki_live(data_dir / "wiki_live")
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


SETTINGS = Settings.build({"lm": "openai/x"})

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def gold(program: str, article: Article) -> list[str]:
    ((_, examples),) = examples_of(TASKS[program], [article], SETTINGS)
    return [passage.text for passage in examples[0].gold.passages]


def wice(folder: Path, *rows: dict[str, Any]) -> Path:
    with gzip.open(folder / "wice_claim_dev.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return folder


def row(text: str, label: str, supporting: list[list[int]]) -> dict[str, Any]:
    meta = {"id": text, "claim_title": "Orrin Dam", "claim_section": "History."}
    evidence = ["It rained.", "Work began in 1931.", "It ended in 1936."]
    return {"claim": text, "label": label, "supporting_sentences": supporting, "evidence": evidence, "meta": meta}


def test_a_topics_documents_are_what_its_sections_rest_on(tmp_path: Path) -> None:
    near = " ".join(f"Rain number {n} came from the west and fell on Main Street." for n in range(10))
    hits = [*HITS, {"title": "Rain", "link": "https://f.example/1", "text": near}]
    (article,) = training.wikigenbench(tree(tmp_path, {"7": PAGE}, {"7": hits}))
    assert article.title == "Storm Ada"
    assert any("Main Street" in text for text in gold("queries", article))
    shown = {snippet.text for source in article.sources for snippet in source.snippets}
    assert set(gold("queries", article)) <= shown


def test_what_people_found_supported_shows_how_to_answer(tmp_path: Path) -> None:
    place = wice(
        tmp_path,
        row("The dam was built from 1931 to 1936.", "supported", [[1, 2], [2]]),
        row("It is made of gold.", "not_supported", []),
    )
    (article,) = training.wice(place)
    assert [bool(sentence.citations) for sentence in article.sentences()] == [True, False]
    assert gold("queries", article) == ["Work began in 1931. It ended in 1936."]
    (article,) = training.expertqa(written(tmp_path, claim("The dam is old.", "Complete", f"https://a.org/x {TEXT}")))
    ((_, (example,)),) = examples_of(TASKS["passage_answer"], [article], SETTINGS)
    assert example.question == "What is the dam?" and example.answer == "The dam is old. [1]"


def test_damaged_claims_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="cannot be read"):
        training.wice(tmp_path)
    with pytest.raises(DatasetError, match="is damaged"):
        training.wice(wice(tmp_path, {"claim": "x"}))


def test_the_package_declares_its_readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    declared = [EntryPoint(name, at, ENTRY_POINTS) for name, at in PROJECT["entry-points"][ENTRY_POINTS].items()]
    assert {own.name for own in declared} == {"freshwiki", "wikigenbench", "wiki-live", "expertqa", "wice"}
    assert all(callable(own.load()) for own in declared)
    monkeypatch.setattr("storm_pipeline.optimize.tasks.entry_points", lambda **_: declared)
    place = tree(tmp_path, {"7": PAGE}, {"7": HITS})
    assert [own.title for own in read_training(f"wikigenbench:{place}")] == ["Storm Ada"]
    with pytest.raises(DatasetError, match="choose among expertqa, freshwiki"):
        read_training(f"nothing:{place}")
