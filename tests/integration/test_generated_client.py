"""A client that is generated from the API's own description orders an article and fetches it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from llm import FakeModel
from test_http_api import SMALL, served, watched
from test_resume import answers

from storm_pipeline.run.article_json import from_json

pytest.importorskip("fastapi")
pytest.importorskip("openapi_python_client")

TOKEN = "correct-horse-battery"


@pytest.fixture
def generated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Generates a client from a description; returns a function that imports one of its modules."""

    def generate(description: dict[str, Any]) -> Any:
        file, folder = tmp_path / "openapi.json", tmp_path / "clients" / "storm_client"
        file.write_text(json.dumps(description))
        tools = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # it formats with ruff
        command = [sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none"]
        options = ["--path", str(file), "--output-path", str(folder)]
        done = subprocess.run(
            [*command, *options], env=os.environ | {"PATH": tools}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "warning" not in (done.stdout + done.stderr).lower(), done.stdout + done.stderr
        monkeypatch.syspath_prepend(str(folder.parent))
        return lambda name: import_module(f"storm_client.{name}")

    yield generate
    for name in [name for name in sys.modules if name.partition(".")[0] == "storm_client"]:
        del sys.modules[name]


def test_a_generated_client_fetches_an_article(generated: Any, tmp_path: Path) -> None:
    with FakeModel(answers()) as model, served(model.lm, tmp_path, token=TOKEN) as http:
        module = generated(http.get("/openapi.json").json())
        models, start, get = module("models"), module("api.runs.start_run"), module("api.runs.get_run")
        fetch, formats = module("api.articles.get_article"), models.GetArticleFormat
        with module("client").AuthenticatedClient(base_url=str(http.base_url), token=TOKEN) as client:
            order = models.RunOrder(topic="Silk Road", settings=models.ChosenSettings.from_dict(SMALL))
            run = start.sync(client=client, body=order)
            assert (run.topic, run.makes) == ("Silk Road", models.RunViewMakes.ARTICLE)
            watched(http, run.run)  # until it ends
            view = get.sync(run=run.run, client=client)
            assert (view.state, view.ready) == (models.RunViewState.FINISHED, True)
            markdown = fetch.sync(run=run.run, client=client)
            assert markdown == http.get(f"/runs/{run.run}/article").text
            assert "## References" in markdown
            html = fetch.sync(run=run.run, client=client, format_=formats.HTML)
            assert html.startswith("<!doctype html>")
            record = fetch.sync(run=run.run, client=client, format_=formats.JSON)
            assert from_json(record).to_markdown() == markdown
            word = fetch.sync_detailed(run=run.run, client=client, format_=formats.DOCX)
            assert word.content.startswith(b"PK")
            unknown = get.sync(run="no-such-run", client=client)
            assert isinstance(unknown, models.Problem)
            assert unknown.kind == "UnknownRunError"
        with module("client").AuthenticatedClient(base_url=str(http.base_url), token="wrong") as stranger:
            assert module("api.runs.list_runs").sync(client=stranger).kind == "Refused"
