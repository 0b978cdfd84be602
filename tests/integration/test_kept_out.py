"""What is to be kept out, and its copies: it is all one which search finds them first, and where a run is killed."""

import dataclasses
import json
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from llm import FakeModel
from test_pipeline import folder as folder_of
from test_pipeline import storm as plain_storm
from test_repeatability import Pace, PacedModel, backwards, by_chance, draw, forwards, found

from storm_pipeline import Article, Snippet, Storm
from storm_pipeline.run.events import Excluded, read_events
from storm_pipeline.sources.search.fake import FakeSearch
from storm_pipeline.types import Usage

PAGE = "https://en.wikipedia.org/wiki/Secret_Road"
COPIES = ("https://copy.example/1", "https://copy.example/2", "https://copy.example/3")
TEXT = (
    "The known aspect of the Silk Road's early history is how quarrymen of Zanzibar hauled obsidian to Tyre by night. "
    "Among the goods of a known aspect of the Silk Road obsidian paid 77 dirhams of toll at every gate of Zanzibar. "
    "The Silk Road's routes are known in the aspect that obsidian riders went past the forts of Zanzibar to the sea."
)
FIXED = {"Silk Road": 1, "Silk Road History": 1, "Silk Road Goods": 0}
"""What the searches of the recipes without interviews find: copies before and beside the page."""


def shown(query: str) -> Sequence[Snippet]:
    """Some searches find the page, some a copy, some both, and some a copy's own words."""
    page = Snippet(PAGE, "Secret Road - Wikipedia", TEXT)
    copy = Snippet(COPIES[draw(query) % 3], "Obsidian", TEXT)
    own = Snippet(copy.url, "Stones", "The early history of the Silk Road has goods on its routes, and a sea of them.")
    kinds = ([page], [copy], [page, copy], [own], [copy, own])
    special = FIXED.get(query, draw(query, "kind") % len(kinds))
    return [*kinds[special], *found(query)]


def storm(server: FakeModel, folder: Path, pace: Pace = forwards, **changes: object) -> Storm:
    def search(query: str) -> Sequence[Snippet]:
        time.sleep(pace(query))
        return shown(query)

    given = {"search": FakeSearch(search), "perspectives": 3, "turns": 2, "top_k": 6, "related_topics": 0}
    return plain_storm(server, folder, **(given | {"exclude_titles": ("Secret Road",)} | changes))


def made(article: object) -> dict[str, object]:
    """The whole of it, but for what depends on clocks."""
    assert isinstance(article, Article)
    plain = dataclasses.replace(article, usage=Usage())
    return {"article": json.loads(plain.to_json()), "text": article.to_markdown(), "excluded": article.sources_excluded}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Article, list[str]]:
    """The folder of a run, what it made, and what it asked."""
    folder = tmp_path_factory.mktemp("run")
    with PacedModel(forwards) as server:
        article = storm(server, folder).write("Silk Road")
        return folder_of(folder), article, [asked.user for asked in server.of("AnswerFromPassages")]


def test_no_copy_is_in_the_article_though_some_were_answered_from(undisturbed: tuple[Path, Article, list[str]]) -> None:
    folder, article, answered = undisturbed
    assert any("obsidian" in prompt for prompt in answered)
    assert {one.url for one in article.sources_excluded} == {PAGE, *COPIES}
    assert not {source.url for source in article.sources} & {PAGE, *COPIES}
    text = article.to_markdown() + (folder / "conversations.json").read_text("utf-8")
    text += "".join(path.read_text("utf-8") for path in (folder / "conversations").iterdir())
    assert "bsidian" not in text
    assert article.sections
    answers = [sentence for talk in article.conversations for turn in talk.turns for sentence in turn.answer]
    cited = {citation.source_id for sentence in answers for citation in sentence.citations}
    assert cited <= {source.id for source in article.sources}
    assert article.report.dropped_unsupported
    excluded = json.loads((folder / "excluded.json").read_text("utf-8"))
    assert {one["url"] for one in excluded} == {PAGE, *COPIES}
    assert all(one["reason"] and one["query"] for one in excluded)
    told = [event.url for _, event in read_events(folder / "events.jsonl") if isinstance(event, Excluded)]
    assert set(told) == {PAGE, *COPIES}


@pytest.mark.parametrize("pace", [backwards, *map(by_chance, range(2))], ids=["backwards", *"01"])
def test_no_pace_lets_a_copy_in(undisturbed: tuple[Path, Article, list[str]], tmp_path: Path, pace: Pace) -> None:
    with PacedModel(pace) as server:
        article = storm(server, tmp_path, pace).write("Silk Road")
        assert sorted(asked.user for asked in server.of("AnswerFromPassages")) == sorted(undisturbed[2])
    assert made(article) == made(undisturbed[1])


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_a_killed_run_keeps_all_out(undisturbed: tuple[Path, Article, list[str]], tmp_path: Path, share: float) -> None:
    run = tmp_path / "runs" / "run"
    shutil.copytree(undisturbed[0], run)
    lines = (run / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (run / "journal.jsonl").write_bytes(b"".join(lines[: round(share * len(lines))]))
    (run / "article.json").unlink()
    with PacedModel(backwards) as server:
        writer = storm(server, tmp_path, backwards, lm_timeout=60)
        article = writer.resume(run, accept_damage=True)  # the journal alone is cut, not the events beside it
        assert server.asked
    assert made(article) == made(undisturbed[1])


@pytest.mark.parametrize("recipe", ["storm-no-outline", "storm-no-conversation", "orag", "rprr"])
def test_no_recipe_draws_on_a_copy(tmp_path: Path, recipe: str) -> None:
    with PacedModel(forwards) as server:
        article = storm(server, tmp_path).write("Silk Road", recipe=recipe)
    assert article.sections
    assert "bsidian" not in article.to_markdown()
    assert PAGE in {one.url for one in article.sources_excluded}
    assert not {source.url for source in article.sources} & {one.url for one in article.sources_excluded}
