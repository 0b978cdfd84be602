"""Engines of the user's own, however they behave: a run ends with an article, and says what it went without."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from found_pages import world
from llm import FakeModel
from test_pipeline import folder, storm

from storm_pipeline import Snippet
from storm_pipeline.errors import NothingFoundError
from storm_pipeline.run.journal import fingerprint


class Mine:
    """Answers with whatever a function makes of what the world of the tests holds for a query."""

    name = "mine"

    def __init__(self, answer: Callable[[str, list[Snippet]], Any]) -> None:
        self.answer = answer
        self.queries: list[str] = []

    def search(self, query: str, k: int) -> Any:
        self.queries.append(query)
        return self.answer(query, list(world(query))[:k])


@pytest.mark.parametrize("error", [ConnectionError("no route to host"), KeyError("results"), RecursionError()])
def test_an_error_of_any_kind_costs_one_search(server: FakeModel, tmp_path: Path, error: Exception) -> None:
    def answer(query: str, found: list[Snippet]) -> Any:
        if "aspect 1 " in query:
            raise error
        return found

    article = storm(server, tmp_path, search=Mine(answer)).write("Silk Road")
    (problem,) = article.report.problems
    assert problem.kind == "failure"
    assert f"the engine `mine` raised {type(error).__name__}" in problem.detail
    assert article.sections


def broken(query: str, found: list[Snippet]) -> Any:
    raise ConnectionError("no route to host")


@pytest.mark.parametrize("answer", [broken, lambda *_: None, lambda *_: [object()], lambda *_: "text"])
def test_an_engine_that_never_answers_leaves_nothing(server: FakeModel, tmp_path: Path, answer: Any) -> None:
    with pytest.raises(NothingFoundError):
        storm(server, tmp_path, search=Mine(answer), max_failures=1000).write("Silk Road")


def test_an_interrupt_ends_the_run(server: FakeModel, tmp_path: Path) -> None:
    def answer(query: str, found: list[Snippet]) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        storm(server, tmp_path, search=Mine(answer)).write("Silk Road")


def test_searches_of_an_earlier_form_are_searched_again(server: FakeModel, tmp_path: Path) -> None:
    mine = Mine(lambda _, found: found)
    writer = storm(server, tmp_path, search=mine)
    article = writer.write("Silk Road")
    asked, run = len(mine.queries), folder(tmp_path)
    records = [json.loads(line) for line in (run / "journal.jsonl").read_text("utf-8").splitlines()]
    for one in records:
        if one["kind"] == "search":
            one["value"] = {"query": "silk", "snippets": one["value"]["snippets"], "unread": {}}
            one["sum"] = fingerprint(one["kind"], one["key"], one["value"])
    (run / "journal.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in records), "utf-8")
    for _ in range(2):
        (run / "article.json").unlink()
        again = writer.resume(run)
        assert len(mine.queries) == 2 * asked
        assert dataclasses.replace(again, usage=article.usage) == article


def test_an_engine_with_other_keys_is_told_which_ones_are_missing(tmp_path: Path) -> None:
    engine = Mine(lambda _, found: [{"link": one.url, "snippet": one.text} for one in found])
    said = (
        "such as number 1, which has no `url` and no `text` but `link`, `snippet`: expected a list of Snippet objects"
    )
    for recipe in ("rag", "storm"):
        with FakeModel() as server, pytest.raises(NothingFoundError, match=said):
            storm(server, tmp_path / recipe, search=engine).write("Silk Road", recipe)
