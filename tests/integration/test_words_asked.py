"""Every method is asked for as many words, wherever a model places the findings, so that comparisons are fair."""

import json
import re
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from found_pages import page
from llm import Answer, FakeModel, topic_of
from test_pipeline import storm

from storm_pipeline import Article, Snippet
from storm_pipeline.recipes import RECIPES
from storm_pipeline.search.fake import FakeSearch

TOPICS = ("Silk Road", "Amber Road", "Incense Route", "Tea Horse Road", "Grand Trunk Road")


def _numbers(user: str) -> list[int]:
    return [int(number) for number in re.findall(r"^\s*(?:\[)?(\d+)[\].] ", user.partition("Findings:")[2], re.M)]


def placed(many: int, *few: int) -> Callable[[str], str]:
    """A model that places a finding in each of some sections, and the others in one."""

    def reply(user: str) -> str:
        first, rest = _numbers(user)[: len(few)], _numbers(user)[len(few) :]
        own = [{"section": section, "findings": [number]} for section, number in zip(few, first, strict=False)]
        return json.dumps({"places": [*own, {"section": many, "findings": rest}], "same": []})

    return reply


PLACES: tuple[Answer, ...] = (
    placed(1),
    placed(1, 2, 3, 4, 5),
    placed(5, 4, 4, 2, 1, 2, 3),
    json.dumps({"places": [], "same": []}),
    placed(3, *(1, 2, 3, 4, 5) * 8),
)


def found(query: str) -> Sequence[Snippet]:
    """Six pages that nothing else finds, of some 400 words each."""
    first = zlib.crc32(query.encode())
    texts = [" ".join(page(first + 100 * i + j).text for j in range(5)) for i in range(6)]
    return [Snippet(f"https://example.org/{first}/{i}", f"{query}, {i}", text) for i, text in enumerate(texts)]


def words_asked(server: FakeModel) -> list[int]:
    """The words that each first draft was asked for."""
    drafts = [one for name in ("WriteArticle", "WriteFromMemory", "WriteSection") for one in server.of(name)]
    return [int(found[1]) for one in drafts if (found := re.search(r"^Words: (\d+)$", one.user, re.M))]


def questions(user: str) -> str:
    """Questions that no other editor asks."""
    first = zlib.crc32(user.encode())
    return json.dumps({"questions": [f"What is known about aspect {first + i} of {topic_of(user)}?" for i in range(9)]})


def written(topic: str, places: Answer, recipe: str, tmp_path: Path, length: int) -> tuple[Article, FakeModel]:
    sections = [{"title": title, "subsections": []} for title in ("History", "Goods", "Routes", "Legacy", "Tolls")]
    refined = json.dumps({"sections": sections})
    answers: dict[str, Answer] = {"RefineOutline": refined, "PlaceFindings": places, "AskQuestions": questions}
    with FakeModel(answers) as server:
        return storm(server, tmp_path, search=FakeSearch(found), length=str(length)).write(topic, recipe), server


@pytest.mark.parametrize(("topic", "places"), list(zip(TOPICS, PLACES, strict=True)), ids=TOPICS)
def test_every_method_asks_for_as_many_words_wherever_findings_are_placed(
    tmp_path: Path, topic: str, places: Answer
) -> None:
    asked: dict[str, int] = {}
    for recipe in sorted(RECIPES.keys() - {"answer", "answer-no-outline"}):
        article, server = written(topic, places, recipe, tmp_path / recipe, 5000)
        asked[recipe] = sum(words_asked(server))
        assert article.report.words_asked == asked[recipe]
    assert asked == pytest.approx(dict.fromkeys(asked, 5500), rel=0.02)


def test_a_report_says_where_the_passages_hold_too_little(tmp_path: Path) -> None:
    article, server = written("Silk Road", PLACES[0], "storm", tmp_path, 50_000)
    assert article.report.words_asked == sum(words_asked(server)) < 50_000
