"""Long answers: a search for the question, an outline whose points name their passages, a checked and cited text."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from llm import FakeModel
from test_pipeline import folder, markers_resolve, storm
from test_recipes import asked, written

from storm_pipeline import NothingFoundError, Storm
from storm_pipeline.sources.search.fake import FakeSearch

QUESTION = "Silk Road"
"""What the test's search engine knows something about."""
POINTS = [
    {"text": "Silk was the first of the goods.", "passages": [2, 1]},
    {"text": "Caravans carried it.", "passages": [3]},
]


def planning(points: list[dict[str, Any]]) -> str:
    return json.dumps({"pattern": "comparative", "points": points})


def test_the_text_is_written_along_an_outline_whose_points_name_passages(tmp_path: Path) -> None:
    with FakeModel({"OutlineText": planning(POINTS)}) as server:
        article = storm(server, tmp_path).answer(QUESTION)
    (outlined,) = server.of("OutlineText")
    text = server.of("AnswerQuestion")[0].user
    plan = text.partition("Plan:")[2]
    assert "Order: comparative\n1. Silk was the first of the goods. [2][1]\n2. Caravans carried it. [3]" in plan
    assert passages_of(text) == passages_of(outlined.user) != [], "the expansion sees all that the outline saw"
    assert article.title == QUESTION
    assert article.sections
    assert markers_resolve(article)
    assert asked(server).keys() == {"WriteQueries", "OutlineText", "AnswerQuestion", "CheckSentences"}


def passages_of(user: str) -> list[str]:
    return re.findall(r"^(?:Passages: )?(\[\d+\] .+)$", user.partition("Plan:")[0], re.M)


def test_the_outline_is_kept_in_the_folder_with_the_pages_that_it_rests_on(tmp_path: Path) -> None:
    with FakeModel({"OutlineText": planning([{"text": "All of it.", "passages": [1, 1, 99, 0]}])}) as server:
        article = storm(server, tmp_path).answer(QUESTION)
    plan = json.loads((folder(tmp_path) / "plan.json").read_text(encoding="utf-8"))
    assert plan["pattern"] == "comparative"
    (point,) = plan["points"]
    assert point["text"] == "All of it."
    assert len(point["sources"]) == 1
    assert point["sources"][0] in {source.url for source in article.sources}


def test_the_baseline_differs_by_the_outline_alone(tmp_path: Path) -> None:
    _, outlined, queries = written("answer", tmp_path / "a", writing="whole")
    _, plain, same = written("answer-no-outline", tmp_path / "b", writing="whole")
    assert queries == same
    assert queries[0] == QUESTION, "the question itself is searched for"
    assert not plain.of("OutlineText")
    with_plan, without = outlined.of("AnswerQuestion")[0].user, plain.of("AnswerQuestion")[0].user
    assert with_plan.startswith(without)
    assert with_plan[len(without) :].lstrip().startswith("Plan:")


@pytest.mark.parametrize(("length", "words"), [("short", 165), ("standard", 440), ("200", 220)])
def test_an_answer_is_shorter_than_an_article(server: FakeModel, tmp_path: Path, length: str, words: int) -> None:
    storm(server, tmp_path, length=length, top_k=40, evidence=6000).answer(QUESTION)
    (asked_for,) = re.findall(r"^Words: (\d+)$", server.of("AnswerQuestion")[0].user, re.M)
    assert int(asked_for) <= words
    assert int(asked_for) > words / 3


def test_nothing_found_is_said_with_the_question(server: FakeModel, tmp_path: Path) -> None:
    with pytest.raises(NothingFoundError, match="found nothing on 'Silk Road'"):
        storm(server, tmp_path, search=FakeSearch(lambda query: [])).answer(QUESTION)


def test_the_package_answers_with_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    import storm_pipeline

    asked_of = []
    monkeypatch.setattr(Storm, "answer", lambda self, question: asked_of.append((self.settings.lm, question)))
    storm_pipeline.answer("Why?", lm="openai/gpt-4o")
    assert asked_of == [("openai/gpt-4o", "Why?")]


def test_answers_of_interviews_and_sections_are_outlined_if_that_is_set(tmp_path: Path) -> None:
    article, server, _ = written("storm", tmp_path / "a", writing="whole", answers="outlined")
    plain, other, _ = written("storm", tmp_path / "b", writing="whole")
    assert markers_resolve(article)
    assert [section.heading for section in article.sections] == [section.heading for section in plain.sections]
    for signature, reason in (("AnswerFromPassages", "Question:"), ("WriteSection", "Section:")):
        assert (new := server.of(signature))
        assert all("Plan:\nOrder: cause-effect\n1. " in one.user for one in new)
        assert len([one for one in server.of("OutlineText") if reason in one.user]) == len(new)
    assert not other.of("OutlineText")
