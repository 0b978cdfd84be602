"""Extracts, the default: articles and answers for which no language model is asked, loaded or downloaded."""

import random
from pathlib import Path
from typing import Any

import pytest
from found_pages import world

from storm_pipeline import Article, SettingsError, Storm
from storm_pipeline.errors import NothingFoundError
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.sources.search.base import NoContents
from storm_pipeline.sources.search.fake import FakeSearch
from storm_pipeline.types import Snippet

WORDS = "lamp turnip ladder umbrella walrus piano gravel onion kettle violin badger cellar".split()
SIDES = "dredging ferries storms trade lighthouses fishing".split()


@pytest.fixture(autouse=True)
def _nobody_to_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where a model is opened, served, downloaded or asked."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("an extract asks no language model")

    for place in (
        *("storm.open_models", "models.open_models.fetch", "models.llama_server.runtime"),
        *("models.llama_server.shared_server", "models.asking.LanguageModels.ask"),
    ):
        monkeypatch.setattr(f"storm_pipeline.{place}", refuse)


def storm(folder: Path, **settings: Any) -> Storm:
    given: dict[str, Any] = {"search": FakeSearch(world), "contents": NoContents(), "progress": False}
    given |= {"out": folder / "runs", "cache": folder / "cache", "embedder": HashingEmbedder()}
    return Storm(**given | settings)


def below_the_lead(article: Article) -> list[tuple[str, list[str]]]:
    return [(own.heading, [sentence.text for sentence in own.sentences()]) for own in article.sections]


@pytest.mark.parametrize("settings", [{}, {"judge": "model"}, {"lm": "openai/gpt-4o", "writing": "sentences"}])
def test_an_extract_asks_no_model(tmp_path: Path, settings: dict[str, Any]) -> None:
    """Also where one is named, without a key, or for judging."""
    article = storm(tmp_path, **settings).write("Silk Road")
    assert below_the_lead(article)
    assert article.usage.calls == 0
    assert article.report.models == ()
    assert "without a language model" in article.note
    assert not article.conversations


def test_an_answer_is_an_extract_too(tmp_path: Path) -> None:
    article = storm(tmp_path, answer_facts=4).answer("What was traded on the Silk Road?")
    assert len(list(article.sentences())) == 4
    assert article.note.endswith("A language model writes in its own words.")  # readers have no command line
    assert article.usage.calls == 0


def test_the_users_headings_are_searched_for(tmp_path: Path) -> None:
    engine = FakeSearch(world)
    outline = tmp_path / "outline.md"
    outline.write_text("# Goods\n# Silk Road towns\n", "utf-8")
    article = storm(tmp_path, search=engine).write("Silk Road", outline=outline)
    assert engine.queries[0] == "Silk Road"
    assert set(engine.queries[1:]) == {"Silk Road Goods", "Silk Road towns"}
    assert {own.heading for own in article.sections} <= {"Goods", "Silk Road towns"}


def test_a_topic_that_no_page_names_ends_in_the_first_search(tmp_path: Path) -> None:
    page = Snippet("https://example.org/basil", "Basil", "Basil is a herb that smells of cloves.")
    engine = FakeSearch(lambda query: [page])
    with pytest.raises(NothingFoundError, match=r"'Basil II' .*--search"):
        storm(tmp_path, search=engine).write("Basil II")
    assert list(engine.queries) == ["Basil II"]


def test_a_topic_with_little_gets_a_lead_alone(tmp_path: Path) -> None:
    own = "Basil II was the emperor of Byzantium for many years. He was born in the purple chamber of the palace."
    engine = FakeSearch(lambda query: [Snippet("https://example.org/basil", "Basil II", own)])
    article = storm(tmp_path, search=engine).write("Basil II")
    assert not article.sections
    assert " ".join(sentence.text for sentence in article.sentences()) == own
    assert any("says little about" in str(problem) for problem in article.report.problems)


def test_a_method_that_asks_models_makes_no_extract(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"rag asks language models.*leave --writing sentences out"):
        storm(tmp_path, writing="sentences").write("Silk Road", "rag")
    with pytest.raises(AssertionError, match="asks no language model"):  # it would ask the embedded one
        storm(tmp_path).write("Silk Road", "rag")


def test_a_stopped_extract_is_resumed_without_searching_again(tmp_path: Path) -> None:
    engine = FakeSearch(world)
    first = storm(tmp_path, search=engine).write("Silk Road")
    (folder,) = (tmp_path / "runs").iterdir()
    (folder / "article.json").unlink()
    again = storm(tmp_path, search=engine).resume(folder)
    assert isinstance(again, Article)
    assert below_the_lead(again) == below_the_lead(first)
    assert list(engine.queries) == ["Silk Road"]


def document(side: str) -> str:
    """A Markdown document of some 280 words on a side of a harbour."""
    rng, about = random.Random(side), ("harbour office", "council", "guild", "company", "state", "town")
    told = "The {who} of the {verb} {side} at Port Averil harbour in {year}, when {n} boats lay at the {where} quay."
    verbs = "opened taxed rebuilt forbade leased surveyed".split()
    lines = [
        told.replace(" of the ", " ", 1).format(
            who=rng.choice(about),
            verb=rng.choice(verbs),
            side=side,
            year=1700 + 17 * i,
            n=3 + i,
            where=rng.choice(WORDS),
        )
        for i in range(14)
    ]
    return f"# The {side}\n\n{' '.join(lines)}\n"


@pytest.mark.parametrize("topic", ["Port Averil harbour", "Harbour of Port Averil"])
def test_six_good_documents_make_three_sections_of_four_hundred_true_words(tmp_path: Path, topic: str) -> None:
    """Also where no document has the topic's very name."""
    papers = {side: document(side) for side in SIDES}
    (tmp_path / "papers").mkdir()
    for side, paper in papers.items():
        assert 250 <= len(paper.split()) <= 300
        (tmp_path / "papers" / f"{side}.md").write_text(paper, "utf-8")
    article = storm(tmp_path, search=f"corpus:{tmp_path / 'papers'}").write(topic)
    told = [text for _, texts in below_the_lead(article) for text in texts]
    assert len(article.sections) >= 3
    assert sum(len(text.split()) for text in told) >= 400
    assert all(any(text in paper for paper in papers.values()) for text in told)
    assert not any("#" in text for text in told)


def test_groups_of_one_title_are_one_section_and_lose_no_sentence(tmp_path: Path) -> None:
    """All of them have the title of the one document."""
    (tmp_path / "papers").mkdir()
    sides = "\n\n".join(document(side).partition("\n\n")[2] for side in SIDES)
    (tmp_path / "papers" / "harbour.md").write_text(f"# Port Averil\n\n{sides}", "utf-8")
    article = storm(tmp_path, search=f"corpus:{tmp_path / 'papers'}").write("Port Averil harbour")
    ((heading, told),) = below_the_lead(article)
    assert heading == "Port Averil"
    assert len(told) == len(set(told)) == 25
