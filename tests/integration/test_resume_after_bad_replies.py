"""Runs that ended because replies or searches were of no use, resumed when model and engine have recovered."""

import json
from pathlib import Path
from typing import Any

import pytest
from found_pages import world
from llm import FakeModel, completion
from servers import Reply
from test_pipeline import folder
from test_resume import answers, storm, text

from storm_pipeline import Article
from storm_pipeline.errors import StormError
from storm_pipeline.sources.search.fake import FakeSearch
from storm_pipeline.types import Outline

USELESS = {
    "empty": "",
    "refused": "I'm sorry, but I can't help with that.",
    "cut off": '{"queries": ["silk',
    "wrong form": '{"answer": 1}',
    "thinking": "<think>Let me see",
    "too long": "x" * 60_000,
}


def replies(text: str) -> list[Reply]:
    return [Reply(body=completion(text))] * 40


def healed(server: FakeModel, *signatures: str) -> None:
    for name in signatures:
        server._faults.pop(name, None)


def sections_of(made: Article | Outline) -> int:
    return len(made.sections)


@pytest.mark.parametrize("kind", USELESS)
def test_a_run_that_ended_with_useless_replies_asks_again(tmp_path: Path, kind: str) -> None:
    with FakeModel(answers(), faults={"WriteQueries": replies(USELESS[kind])}) as server:
        if kind == "cut off":  # its first query is whole enough to be searched for
            server._faults["WriteQueries"] = replies('{"quer')
        with pytest.raises(StormError):
            storm(server, tmp_path, parse_attempts=2).write("Silk Road")
        before = len(server.asked)
        healed(server, "WriteQueries")
        article = storm(server, tmp_path, parse_attempts=2).resume(folder(tmp_path))
        new = [asked.signature for asked in server.asked[before:]]
    assert sections_of(article)
    assert "WriteQueries" in new
    assert len(server.of("FindRelatedTopics")) == 1  # what was of use is not bought again


def test_a_cap_counts_billed_replies_of_all_sessions_that_could_not_be_read(tmp_path: Path) -> None:
    cut = Reply(body=json.dumps(completion("word " * 500)).encode()[:-20])
    with FakeModel(faults=dict.fromkeys(answers(), [cut] * 99)) as server:
        writer = storm(server, tmp_path, prices=("openai/fake=100/100",), max_cost=0.3, call_attempts=1)
        with pytest.raises(StormError):
            writer.write("Silk Road")
        for _ in range(4):
            with pytest.raises(StormError) as error:
                writer.resume(folder(tmp_path))
        assert "of 0.3 dollars" in str(error.value)
        assert 1 < len(server.asked) < 5


def test_an_outline_that_failed_twice_is_asked_for_again(tmp_path: Path) -> None:
    for bad in (
        "",
        "No headings here.",
        json.dumps({"sections": []}),
        '{"sections": [{"title": "", "subsections": []}]}',
    ):
        place = tmp_path / str(len(bad))
        faults = {name: replies(bad) for name in ("DraftOutline", "RefineOutline")}
        with FakeModel(answers(), faults=faults) as server:
            with pytest.raises(StormError):
                storm(server, place, max_failures=9).write("Silk Road")
            before = len(server.asked)
            healed(server, *faults)
            article = storm(server, place, max_failures=9).resume(folder(place))
            new = {asked.signature for asked in server.asked[before:]}
        assert sections_of(article)
        assert {"DraftOutline", "RefineOutline"} <= new
        assert "AskQuestion" not in new


PLAIN = dict.fromkeys(("DraftOutline", "RefineOutline"), "# History\n# Goods\n# Routes")


@pytest.mark.parametrize(("own", "refused"), [(PLAIN, []), ({}, ["WriteQueries"])], ids=["plain text", "second sample"])
def test_a_reply_that_served_in_the_end_is_not_asked_for_again(tmp_path: Path, own: Any, refused: list[str]) -> None:
    with FakeModel(answers() | own, faults={name: replies("no")[:1] for name in refused}) as server:
        whole = storm(server, tmp_path).write("Silk Road")
        asked = len(server.asked)
        (folder(tmp_path) / "article.md").unlink()
        again = storm(server, tmp_path).resume(folder(tmp_path))
        assert len(server.asked) == asked
    assert text(again) == text(whole)


@pytest.mark.parametrize(
    ("signature", "bad"), [("AskQuestion", "Thank you so much for your help!"), ("WriteSection", "Nothing is known.")]
)
def test_replies_that_lead_to_nothing_are_asked_for_again(tmp_path: Path, signature: str, bad: str) -> None:
    with FakeModel(answers(), faults={signature: replies(bad)}) as server:
        with pytest.raises(StormError):
            storm(server, tmp_path).write("Silk Road")
        before = len(server.asked)
        healed(server, signature)
        article = storm(server, tmp_path).resume(folder(tmp_path))
        assert signature in {asked.signature for asked in server.asked[before:]}
    assert sections_of(article)


@pytest.mark.parametrize("recipe", ["storm", "rag"])
def test_searches_that_found_nothing_are_made_again(steady: FakeModel, tmp_path: Path, recipe: str) -> None:
    found: list[Any] = []
    with pytest.raises(StormError):
        storm(steady, tmp_path, search=FakeSearch(lambda _: found)).write("Silk Road", recipe=recipe)
    article = storm(steady, tmp_path, search=FakeSearch(world)).resume(folder(tmp_path))
    assert sections_of(article)
