"""Baselines and ablations: each writes an article, and what it asks differs from its neighbour as the papers say."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from llm import FakeModel
from test_pipeline import markers_resolve, storm

from storm_pipeline import Article, Snippet, Storm
from storm_pipeline.errors import SettingsError
from storm_pipeline.estimate.asked import ASKED
from storm_pipeline.models.programs import Programs
from storm_pipeline.recipes import RECIPES
from storm_pipeline.run.context import RunContext
from storm_pipeline.search.fake import FakeSearch


def written(recipe: str, tmp_path: Path, **settings: object) -> tuple[Article, FakeModel, list[str]]:
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


def asked(server: FakeModel) -> Counter[str]:
    return Counter(request.signature for request in server.asked)


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_every_recipe_gives_an_article_of_the_same_kind(tmp_path: Path, recipe: str) -> None:
    article, server, _ = written(recipe, tmp_path)
    assert article.sections
    assert markers_resolve(article)
    assert article.usage.calls == len(server.asked)
    cited = [sentence for sentence in article.sentences() if sentence.citations]
    assert bool(cited) == (recipe not in {"direct", "rr-no-documents"})
    programs = Programs().named()
    told = {own.signature.__name__ for name in ASKED[recipe] for own in programs[name].predictors()}
    told |= {"PlaceFindings"} if recipe == "storm-iterative" else set()  # where no finding was placed before
    perhaps = {"CheckSentences", "AnswerRemarks", "AnswerPoints", "ReadPage"}
    assert set(asked(server)) - perhaps == told - perhaps


def test_an_unknown_recipe_is_refused(tmp_path: Path) -> None:
    with FakeModel() as server, pytest.raises(SettingsError, match=r"did you mean 'storm'\?"):
        storm(server, tmp_path).write("Silk Road", "stormm")


def test_direct_generation_searches_for_nothing(tmp_path: Path) -> None:
    _, server, queries = written("direct", tmp_path)
    assert not queries
    assert asked(server) == {"DraftOutline": 1, "WriteFromMemory": 1}


def test_rag_searches_with_the_topic_alone_and_writes_at_once(tmp_path: Path) -> None:
    _, server, queries = written("rag", tmp_path)
    assert queries == ["Silk Road"]
    assert asked(server)["WriteArticle"] == 1
    assert not asked(server)["WriteSection"] + asked(server)["PlanOutline"], "an outline or an article (section 4.3)"
    assert "utline:" not in server.of("WriteArticle")[0].user


def test_outline_driven_rag_searches_with_the_titles_and_writes_by_section(tmp_path: Path) -> None:
    _, server, queries = written("orag", tmp_path)
    assert sorted(queries) == ["Silk Road", "Silk Road Goods", "Silk Road History", "Silk Road Routes"]
    assert len(server.of("WriteSection")) == 3
    assert not asked(server)["WriteArticle"] + asked(server)["AskQuestion"]


def test_an_outline_is_planned_from_passages_without_punctuation_too(tmp_path: Path) -> None:
    words = " ".join(f"caravan {number} of the silk road carried goods" for number in range(32))
    with FakeModel() as server:
        bare = FakeSearch(lambda query: [Snippet("https://example.org/1", "Silk Road", words)])
        storm(server, tmp_path, search=bare).outline("Silk Road", "rag")
        (request,) = server.of("PlanOutline")
    shown = request.user.partition("Silk Road: ")[2]
    assert words in shown, "whole chunks of 256 words"


def test_passages_of_a_plan_share_the_words_that_interviews_have(tmp_path: Path) -> None:
    texts = [" ".join(f"{name}{number}" for number in range(length)) for name, length in (("a", 90), ("b", 900))]
    found = [Snippet(f"https://example.org/{number}", f"Page {number}", text) for number, text in enumerate(texts)]
    with FakeModel() as server:
        engine = FakeSearch(lambda query: found)
        storm(server, tmp_path, search=engine, outline_words=500).outline("Silk Road", "rag")
        (request,) = server.of("PlanOutline")
    shown = request.user.split()
    assert sum(word.startswith("a") and word[1:].isdecimal() for word in shown) == 90
    assert sum(word.startswith("b") and word[1:].isdecimal() for word in shown) == 410


@pytest.mark.parametrize(
    ("recipe", "signature"), [("direct", "DraftOutline"), ("rag", "PlanOutline"), ("storm", "RefineOutline")]
)
def test_all_methods_are_shown_an_outline_of_the_form_wanted(tmp_path: Path, recipe: str, signature: str) -> None:
    with FakeModel() as server:
        storm(server, tmp_path).outline("Silk Road", recipe)
        (request,) = server.of(signature)
    assert any(role == "assistant" and '"subsections"' in shown for role, shown in request.messages)


@pytest.mark.parametrize(
    ("recipe", "signature"), [("direct", "DraftOutline"), ("rag", "PlanOutline"), ("storm", "RefineOutline")]
)
def test_headings_copied_from_the_worked_example_are_dropped(tmp_path: Path, recipe: str, signature: str) -> None:
    copied = "# Geography\n## The Orrin Dam\n# Lake Orrin\n## Fish\n# Orrin family\n## Trade"
    with FakeModel({signature: copied}) as server:
        outline = storm(server, tmp_path).outline("Silk Road", recipe)
        own = storm(server, tmp_path).outline("Orrin Dam", recipe)
    assert list(outline.titles()) == ["Geography", "Orrin family", "Trade"]
    assert "Lake Orrin" in own.titles()


def test_rag_and_its_outline_driven_form_make_the_same_outline(tmp_path: Path) -> None:
    with FakeModel() as one:
        storm(one, tmp_path).outline("Silk Road", "rag")
    _, other, _ = written("orag", tmp_path)
    assert one.of("PlanOutline")[0].messages == other.of("PlanOutline")[0].messages


def test_without_perspectives_nobody_is_named_in_a_question(tmp_path: Path) -> None:
    _, full, _ = written("storm", tmp_path)
    _, server, _ = written("storm-no-perspective", tmp_path)
    plain = server.of("AskPlainQuestion")
    assert not [one for one in plain for word in ("perspective", "historian") if word in one.prompt.casefold()]
    assert all("Perspective:" in request.user for request in full.of("AskQuestion"))
    assert len(plain) == len(full.of("AskQuestion"))
    assert not server.of("AskQuestion")
    assert not server.of("FindPerspectives") + server.of("FindRelatedTopics")


def test_a_seed_does_not_make_all_interviews_without_perspectives_one(tmp_path: Path) -> None:
    def first_questions(place: str) -> list[tuple[str, int]]:
        _, server, _ = written("storm-no-perspective", tmp_path / place, seed=7, turns=1)
        return sorted((one.user, one.body["seed"]) for one in server.of("AskPlainQuestion"))

    once = first_questions("once")
    assert len({user for user, _ in once}) == 1
    assert len({seed for _, seed in once}) == len(once) == 3
    assert first_questions("again") == once


def test_without_conversation_as_many_questions_are_asked_at_once(tmp_path: Path) -> None:
    article, server, _ = written("storm-no-conversation", tmp_path)
    full, _, _ = written("storm", tmp_path)
    assert not server.of("AskQuestion")
    assert len(server.of("AskQuestions")) == 3
    questions = [turn.question for c in article.conversations for turn in c.turns]
    assert len(questions) == len([turn for c in full.conversations for turn in c.turns])


def test_without_outline_the_article_is_written_from_the_interviews(tmp_path: Path) -> None:
    article, server, _ = written("storm-no-outline", tmp_path)
    assert not asked(server)["DraftOutline"] + asked(server)["RefineOutline"] + asked(server)["WriteSection"]
    (request,) = server.of("WriteArticle")
    shown = re.findall(r"^\[\d+\]", request.user, re.M)
    turns = [turn for c in article.conversations for turn in c.turns]
    sentences = [s for turn in turns for s in turn.answer]
    assert len(shown) >= len(sentences) > 0
    interviews = request.user.partition("Interviews:")[2]
    assert [question for turn in turns if (question := turn.question) not in interviews] == []
    assert [s.text for s in sentences if s.text not in interviews] == []


def test_reading_after_retrieval_sees_the_best_passages_alone(tmp_path: Path) -> None:
    _, server, queries = written("rr", tmp_path, top_k=5)
    assert queries == ["Silk Road"]
    assert asked(server)["WriteArticle"] == 1
    assert len(re.findall(r"^\[\d+\]", server.of("WriteArticle")[0].user, re.M)) == 5
    assert not server.of("PlanOutline")


def test_reading_without_documents_is_told_of_no_outline_and_no_passage(tmp_path: Path) -> None:
    _, server, queries = written("rr-no-documents", tmp_path)
    assert not queries
    assert asked(server) == {"WriteFromMemory": 1}
    assert "utline:" not in server.of("WriteFromMemory")[0].user


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


def test_sections_of_a_plan_share_the_length_that_reading_alone_gets(tmp_path: Path) -> None:
    def words(recipe: str, signature: str) -> list[str]:
        _, server, _ = written(recipe, tmp_path / recipe, length="180")
        return [found[1] for one in server.of(signature) if (found := re.search(r"^Words: (\d+)$", one.user, re.M))]

    assert words("rr", "WriteArticle") == ["198"]
    assert words("rprr", "WriteSection") == ["66", "66", "66"]


@pytest.mark.parametrize("recipe", sorted(RECIPES.keys() - {"answer", "answer-no-outline", "storm-iterative"}))
def test_every_method_is_asked_for_as_many_words_and_for_a_lead(tmp_path: Path, recipe: str) -> None:
    _, server, _ = written(recipe, tmp_path, length="600")
    whole = [*server.of("WriteArticle"), *server.of("WriteFromMemory")]
    sections = server.of("WriteSection")
    words = [int(found[1]) for one in (*whole, *sections) if (found := re.search(r"^Words: (\d+)$", one.user, re.M))]
    assert sum(words) == pytest.approx(660, abs=len(words))
    leads = [one for one in whole if "short summary without a heading" in " ".join(one.prompt.split())]
    assert len(leads) + asked(server)["WriteLead"] == 1
    assert bool(leads) == (len(words) == 1)


def test_planning_ranks_anew_for_each_heading(tmp_path: Path) -> None:
    _, server, queries = written("rprr", tmp_path)
    assert sorted(queries) == ["Silk Road", "Silk Road Goods", "Silk Road History", "Silk Road Routes"]
    assert asked(server)["PlanOutline"] == 1
    assert asked(server)["WriteSection"] == 3


def mine(ctx: RunContext, topic: str) -> Article:
    return RECIPES["direct"](ctx, topic)


def test_a_method_of_the_users_own_is_run_and_resumed_where_it_is_known(tmp_path: Path) -> None:
    with FakeModel() as server:
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
