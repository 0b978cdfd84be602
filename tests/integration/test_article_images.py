"""A run with images: looked up once the article is written, kept in its files, and asked for once."""

import html
import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from found_pages import world
from image_server import file_info, wiki
from llm import FakeModel
from servers import Reply, ScriptedServer
from test_resume import storm

from storm_pipeline import Snippet
from storm_pipeline.render.json import from_json
from storm_pipeline.search.fake import FakeSearch
from storm_pipeline.search.wikimedia_images import WikimediaImages


def encyclopedia(query: str) -> Sequence[Snippet]:
    return [replace(s, url=f"https://en.wikipedia.org/wiki/Page_{n}") for n, s in enumerate(world(query))]


def asking(api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storm_pipeline.run.session.WikimediaImages", partial(WikimediaImages, api=api))


def written(folder: Path, **settings: Any) -> Path:
    with FakeModel() as server:
        storm(server, folder, search=FakeSearch(encyclopedia), **settings).write("Silk Road")
    (path,) = folder.glob("**/article.json")
    return path.parent


def test_the_images_of_cited_articles_are_in_every_file_of_the_article(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {f"Page {n}": file_info(f"Page {n}.jpg") for n in range(9)}
    files["Page 0"] = file_info("Page 0.jpg", LicenseShortName="Fair use")
    with ScriptedServer(wiki(files)) as server:
        asking(f"{server.url}/w/api.php", monkeypatch)
        run = written(tmp_path, images="wikimedia")
        assert len(server.requests) == 2
    article = from_json((run / "article.json").read_text(encoding="utf-8"))
    assert {image.source_id for image in article.images} < {source.id for source in article.references}
    assert any("Page 0.jpg (Fair use)" in problem.detail for problem in article.report.problems)
    assert {problem.kind for problem in article.report.problems if problem.stage == "images"} == {"degradation"}
    for file in ("article.html", "article.md"):
        assert article.images[0].url in html.unescape((run / file).read_text(encoding="utf-8"))
    lines = (run / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["kind"] for line in lines].count("images") == 1


def test_a_resumed_run_takes_the_images_from_its_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer(wiki({f"Page {n}": file_info(f"Page {n}.jpg") for n in range(9)})) as server:
        asking(f"{server.url}/w/api.php", monkeypatch)
        run = written(tmp_path, images="wikimedia")
        before = from_json((run / "article.json").read_text(encoding="utf-8"))
        (run / "article.json").unlink()
        with FakeModel() as model:
            storm(model, tmp_path, search=FakeSearch(encyclopedia), images="wikimedia").resume(run, accept_damage=True)
        assert len(server.requests) == 2
    assert from_json((run / "article.json").read_text(encoding="utf-8")).images == before.images != ()


def test_a_run_without_images_asks_for_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer(Reply(500)) as server:
        asking(server.url, monkeypatch)
        run = written(tmp_path)
        assert server.requests == []
    assert "<img" not in (run / "article.html").read_text(encoding="utf-8")


def test_a_network_that_is_away_costs_the_images_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asking("http://127.0.0.1:9/w/api.php", monkeypatch)
    run = written(tmp_path, images="wikimedia")
    article = from_json((run / "article.json").read_text(encoding="utf-8"))
    (said,) = [problem.detail for problem in article.report.problems if problem.stage == "images"]
    assert said.startswith("images could not be looked up: Wikimedia (127.0.0.1:9) could not be reached")
    assert article.images == ()
