"""Engines of the user's own, however they behave: a run ends with an article, and says what it went without."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from found_pages import world
from llm import FakeModel
from servers import Reply, Request, ScriptedServer
from test_pipeline import folder, storm

from storm_pipeline import Article, Snippet
from storm_pipeline.errors import NothingFoundError, SettingsError
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


def test_an_error_costs_one_search(server: FakeModel, tmp_path: Path) -> None:
    def answer(query: str, found: list[Snippet]) -> Any:
        if "aspect 1 " in query:
            raise RecursionError
        return found

    article = storm(server, tmp_path, search=Mine(answer)).write("Silk Road")
    (problem,) = article.report.problems
    assert problem.kind == "failure"
    assert "the engine `mine` raised RecursionError" in problem.detail
    assert article.sections


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


def instance(name: str) -> Callable[[Request], Reply]:
    """A SearXNG instance over a small world, which answers the same query the same way."""

    def answer(request: Request) -> Reply:
        query = request.query["q"]
        hits = [
            {
                "url": f"https://{name}.org/{crc32(query.encode()) % 5}-{n}",
                "title": f"The Silk Road by {name}",
                "content": f"Caravans of the Silk Road carried {name} goods number {n} to the towns of {query}.",
            }
            for n in range(2)
        ]
        return Reply(body={"results": hits if request.query["pageno"] == "1" else []})

    return answer


def passages(article: Article) -> dict[str, set[str]]:
    """The snippets of each source; their order is that in which threads came."""
    return {source.id: {snippet.id for snippet in source.snippets} for source in article.sources}


def test_a_run_goes_on_without_a_lost_engine_and_replays_what_the_others_found(tmp_path: Path) -> None:
    def write(**changes: object) -> Article:
        given = {"search": spec, "search_rate": 1000.0, "perspectives": 1, "turns": 2, "read_pages": "never"}
        with FakeModel() as model:
            return storm(model, tmp_path, **(given | changes)).write("Silk Road")

    with (
        ScriptedServer(Reply(401)) as closed,
        ScriptedServer(instance("alpha")) as one,
        ScriptedServer(instance("beta")) as other,
    ):
        spec = f"fused:searxng:{one.url}+searxng:{other.url}"
        article = write()
        lacking = write(search=f"fused:searxng:{closed.url}+searxng:{other.url}")
    told = [problem.detail for problem in lacking.report.problems if problem.kind == "degradation"]
    assert any("`searxng` failed" in detail and "401" in detail for detail in told)
    assert {source.url.split("/")[2] for source in lacking.sources} == {"beta.org"}
    assert {source.url.split("/")[2] for source in article.sources} == {"alpha.org", "beta.org"}
    assert passages(write(search_cache="replay")) == passages(article)
    with pytest.raises(NothingFoundError, match="was not recorded"):
        write(search_cache="replay", top_k=7)
    with pytest.raises(SettingsError, match="--search"):
        write(search_cache="replay", search="auto")
