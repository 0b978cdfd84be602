"""Baselines and ablations: each writes an article, and what it asks differs from its neighbour as the papers say."""

import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from llm import FakeModel
from test_pipeline import markers_resolve, storm

from storm_pipeline import Article, Snippet, Storm
from storm_pipeline.errors import SettingsError
from storm_pipeline.method.context import RunContext
from storm_pipeline.models.programs import Programs
from storm_pipeline.recipes import PROGRAMS, RECIPES
from storm_pipeline.sources.search.fake import FakeSearch

Written = tuple[Article, FakeModel, list[str]]
Usual = Callable[[str], Written]


def written(recipe: str, tmp_path: Path, **settings: object) -> Written:
    """The article, the model that was asked, and the queries that were searched for."""
    from found_pages import world

    queries: list[str] = []

    def search(query: str) -> object:
        queries.append(query)
        return world(query)

    with FakeModel() as server:
        engine = FakeSearch(search)  # type: ignore[arg-type]
        article = storm(server, tmp_path, search=engine, **settings).write("Silk Road", recipe)
    return article, server, queries


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Usual:
    """The run of a recipe, which is made once."""
    return cache(lambda recipe: written(recipe, tmp_path_factory.mktemp(recipe), length="600", top_k=5))


def asked(server: FakeModel) -> Counter[str]:
    return Counter(request.signature for request in server.asked)


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_every_recipe_gives_an_article_of_the_same_kind_and_length(usual: Usual, recipe: str) -> None:
    article, server, _ = usual(recipe)
    assert article.sections
    assert markers_resolve(article)
    assert article.usage.calls == len(server.asked)
    cited = [sentence for sentence in article.sentences() if sentence.citations]
    assert bool(cited) == (recipe not in {"direct", "rr-no-documents"})
    programs = Programs().named()
    told = {own.signature.__name__ for name in PROGRAMS[recipe] for own in programs[name].predictors()}
    told |= {"PlaceFindings"} if recipe == "storm-iterative" else set()  # where no finding was placed before
    perhaps = {"CheckSentences", "AnswerRemarks", "AnswerPoints", "ReadPage"}
    assert set(asked(server)) - perhaps == told - perhaps
    if recipe in {"answer", "answer-no-outline", "storm-iterative"}:
        return  # these choose their words themselves, or have a lead of their own
    whole = [*server.of("WriteArticle"), *server.of("WriteFromMemory")]
    sections = server.of("WriteSection")
    words = [int(found[1]) for one in (*whole, *sections) if (found := re.search(r"^Words: (\d+)$", one.user, re.M))]
    assert article.report.words_asked == sum(words) == pytest.approx(660, abs=len(words))
    leads = [one for one in whole if "short summary without a heading" in " ".join(one.prompt.split())]
    assert len(leads) + asked(server)["WriteLead"] == 1
    assert bool(leads) == (len(words) == 1)


TITLES = ["Silk Road", "Silk Road Goods", "Silk Road History", "Silk Road Routes"]
ASKED_AND_SEARCHED: dict[str, tuple[list[str], dict[str, int]]] = {
    "direct": ([], {"DraftOutline": 1, "WriteFromMemory": 1}),
    "rag": (["Silk Road"], {"WriteArticle": 1, "WriteSection": 0, "PlanOutline": 0}),
    "orag": (TITLES, {"PlanOutline": 1, "WriteSection": 3, "WriteArticle": 0, "AskQuestion": 0}),
    "rr": (["Silk Road"], {"WriteArticle": 1, "PlanOutline": 0}),
    "rr-no-documents": ([], {"WriteFromMemory": 1, "DraftOutline": 0}),
    "rprr": (TITLES, {"PlanOutline": 1, "WriteSection": 3}),
}
"""Baseline → what it searches for, and how often it asks what; one without an outline is told of none."""


@pytest.mark.parametrize("recipe", ASKED_AND_SEARCHED)
def test_a_baseline_searches_and_asks_as_the_papers_say(usual: Usual, recipe: str) -> None:
    _, server, queries = usual(recipe)
    searched, calls = ASKED_AND_SEARCHED[recipe]
    assert sorted(queries) == searched
    assert {name: asked(server)[name] for name in calls} == calls
    whole = [*server.of("WriteArticle"), *server.of("WriteFromMemory")]
    assert recipe == "direct" or not any("utline:" in one.user for one in whole)
    if recipe == "rr":
        assert len(re.findall(r"^\[\d+\]", whole[0].user, re.M)) == 5


@pytest.mark.parametrize(
    ("recipe", "signature"), [("direct", "DraftOutline"), ("rag", "PlanOutline"), ("storm", "RefineOutline")]
)
def test_headings_copied_from_the_worked_example_are_dropped(tmp_path: Path, recipe: str, signature: str) -> None:
    copied = "# Geography\n## The Orrin Dam\n# Lake Orrin\n## Fish\n# Orrin family\n## Trade"
    with FakeModel({signature: copied}) as server:
        outline = storm(server, tmp_path).outline("Silk Road", recipe)
        own = storm(server, tmp_path).outline("Orrin Dam", recipe)
        shown = server.of(signature)[0].messages
    assert any(role == "assistant" and '"subsections"' in text for role, text in shown)
    assert list(outline.titles()) == ["Geography", "Orrin family", "Trade"]
    assert "Lake Orrin" in own.titles()


def test_without_perspectives_nobody_is_named_in_a_question(usual: Usual) -> None:
    _, full, _ = usual("storm")
    _, server, _ = usual("storm-no-perspective")
    plain = server.of("AskPlainQuestion")
    assert not [one for one in plain for word in ("perspective", "historian") if word in one.prompt.casefold()]
    assert all("Perspective:" in request.user for request in full.of("AskQuestion"))
    assert len(plain) == len(full.of("AskQuestion"))
    assert not server.of("AskQuestion")
    assert not server.of("FindPerspectives") + server.of("FindRelatedTopics")


def test_without_conversation_as_many_questions_are_asked_at_once(usual: Usual) -> None:
    article, server, _ = usual("storm-no-conversation")
    full, _, _ = usual("storm")
    assert not server.of("AskQuestion")
    assert len(server.of("AskQuestions")) == 3
    questions = [turn.question for c in article.conversations for turn in c.turns]
    assert len(questions) == len([turn for c in full.conversations for turn in c.turns])


def test_without_outline_the_article_is_written_from_the_interviews(usual: Usual) -> None:
    article, server, _ = usual("storm-no-outline")
    assert not asked(server)["DraftOutline"] + asked(server)["RefineOutline"] + asked(server)["WriteSection"]
    (request,) = server.of("WriteArticle")
    shown = re.findall(r"^\[\d+\]", request.user, re.M)
    turns = [turn for c in article.conversations for turn in c.turns]
    sentences = [s for turn in turns for s in turn.answer]
    assert len(shown) >= len(sentences) > 0
    interviews = request.user.partition("Interviews:")[2]
    assert [question for turn in turns if (question := turn.question) not in interviews] == []
    assert [s.text for s in sentences if s.text not in interviews] == []


def test_the_plan_is_made_from_the_chunks_that_reading_alone_gets(tmp_path: Path) -> None:
    def shown(recipe: str, signature: str) -> list[str]:
        def pages(query: str) -> list[Snippet]:
            return [
                Snippet(f"https://example.org/{page}", f"Page {page}", f"Chunk {page} {part} tells of the road.")
                for part in range(3)
                for page in range(4)
            ]

        with FakeModel() as server:
            storm(server, tmp_path, search=FakeSearch(pages), top_k=5).write("Silk Road", recipe)
            return re.findall(r"Chunk \d \d", server.of(signature)[0].user)

    assert shown("rprr", "PlanOutline") == [f"Chunk {page} {part}" for part in range(2) for page in range(4)][:5]
    assert sorted(shown("rr", "WriteArticle")) == sorted(shown("rprr", "PlanOutline"))


def mine(ctx: RunContext) -> Article:
    return RECIPES["direct"](ctx)


def test_a_method_of_the_users_own_is_run_and_resumed_where_it_is_known(server: FakeModel, tmp_path: Path) -> None:
    article = storm(server, tmp_path, recipes={"mine": mine}).write("Silk Road", "mine")
    (run,) = (tmp_path / "runs").iterdir()
    (run / "article.json").unlink()  # so that there is something to do
    with pytest.raises(SettingsError, match="there is no recipe 'mine'"):
        storm(server, tmp_path).resume(run)
    asked = len(server.asked)
    resumed = storm(server, tmp_path, recipes={"mine": mine}).resume(run, Article)
    assert len(server.asked) == asked
    assert resumed.to_markdown() == article.to_markdown()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"storm": mine}, "cannot be called 'storm'"),
        ({"outline-mine": mine}, "cannot be called 'outline-mine'"),
        ({"../x": mine}, "cannot be called"),
        ({"mine": "module:mine"}, "'mine' is not a function"),
    ],
)
def test_a_recipe_is_a_function_under_a_name_of_its_own(given: Any, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        Storm(recipes=given)


ABOUT = "the trade routes,\nnot the market site"


@pytest.mark.parametrize(
    ("recipe", "expected"),
    [
        ("rag", "WriteArticle"),
        ("storm", "FindPerspectives AskQuestion WriteQueries AnswerFromPassages RefineOutline WriteSection"),
    ],
)
def test_models_are_told_what_the_user_says_about_the_topic(
    usual: Usual, tmp_path: Path, recipe: str, expected: str
) -> None:
    article, server, _ = written(recipe, tmp_path, writing="whole", about=ABOUT)
    told = {one.signature for one in server.asked if "Silk Road (the trade routes, not the market site)" in one.user}
    assert set(expected.split()) <= told
    assert not any("Silk Road (" in one.user for one in usual("rag")[1].asked)
    assert article.title == "Silk Road"
