"""The HTTP API does what ``/openapi.json`` says: all checks of schemathesis, and a client that is generated from it."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx
import pytest
from described_api import application, service
from llm import FakeModel
from test_http_api import SMALL, served, watched
from test_resume import answers
from year_judge import YearJudge

from storm_pipeline.interfaces.server import checking
from storm_pipeline.interfaces.server.gate import Gate
from storm_pipeline.run.article_json import from_json

pytest.importorskip("fastapi")
schemathesis = pytest.importorskip("schemathesis")

TOKEN = "correct-horse-battery"
EXAMPLES = 10  # of valid and invalid requests of each operation, beside those that cover its description
Json = dict[str, Any]


@pytest.fixture
def app(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    """The API with the token that the test names, if any."""
    monkeypatch.setattr(checking, "open_judge", lambda *_, **__: YearJudge())
    with service(tmp_path) as served:
        yield application(served, getattr(request, "param", ""))


def answered(app: Gate, method: str, path: str, **request: Any) -> httpx.Response:
    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
            return await client.request(method, path, **request)

    return asyncio.run(ask())


def described(app: Gate, **request: Any) -> Json:
    found: Json = answered(app, "GET", "/openapi.json", **request).json()
    return found


def operations(description: Json) -> Iterator[tuple[str, str, Json]]:
    for path, own in description["paths"].items():
        for method, operation in own.items():
            yield method.upper(), path, operation


@pytest.mark.slow
@pytest.mark.parametrize("app", [TOKEN], indirect=True)
def test_schemathesis_finds_nothing(app: Gate) -> None:
    from schemathesis.config import SchemathesisConfig
    from schemathesis.engine import from_schema
    from schemathesis.engine.events import FatalError, NonFatalError, ScenarioFinished

    headers = {"Authorization": f"Bearer {TOKEN}"}
    generation = {"max-examples": EXAMPLES, "deterministic": True, "no-shrink": True, "database": "none"}
    checks = {"negative_data_rejection": {"expected-statuses": ["4xx"]}}  # 413 too, which it forgets
    settings = {"seed": 1, "generation": generation, "headers": headers, "checks": checks}
    config = SchemathesisConfig.from_dict(settings)
    schema = schemathesis.openapi.from_asgi("/openapi.json", app, config=config, headers=headers)
    ran, failures = set(), []
    for event in from_schema(schema).execute():
        if isinstance(event, FatalError | NonFatalError):
            failures.append(str(event))
        elif isinstance(event, ScenarioFinished):
            checks = [check for own in event.recorder.checks.values() for check in own]
            ran |= {check.name for check in checks}
            found = [check.failure_info for check in checks if check.failure_info]
            failures += [f"{own.failure.title}: {own.failure.message}\n{own.code_sample[:20_000]}" for own in found]
    assert not failures, "\n\n".join(failures[:5])
    assert ran == set(schemathesis.checks.CHECKS.get_all_names())


@pytest.mark.parametrize("app", ["", TOKEN], ids=["open", "token"], indirect=True)
def test_errors_and_access_are_declared(app: Gate, request: pytest.FixtureRequest) -> None:
    token = request.node.callspec.params["app"]
    description = described(app, headers={"Authorization": f"Bearer {token}"} if token else {})
    for _, path, operation in operations(description):
        is_secured = bool(token) and not path.startswith(("/health", "/shared/"))
        assert ("401" in operation["responses"]) == is_secured
        assert operation.get("security", []) == ([{"bearer": []}] if is_secured else [])
        assert {"403", "408", "413", "429", "500", "503"} <= set(operation["responses"])
        errors = {status: one for status, one in operation["responses"].items() if status >= "400"}
        assert all(
            one["content"] == {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
            for one in errors.values()
        )
        assert "Retry-After" in errors["429"]["headers"]
    schemes = description["components"].get("securitySchemes", {})
    assert [(one["type"], one["scheme"]) for one in schemes.values()] == ([("http", "bearer")] if token else [])
    started = description["paths"]["/runs"]["post"]["responses"]["202"]
    assert "Location" in started["headers"]


DEEP = b'{"topic": "x", "settings": ' + b"[" * 30_000 + b"]" * 30_000 + b"}"
JSON = {"Content-Type": "application/json"}
BAD = [
    ("POST", "/runs", {"content": DEEP, "headers": JSON}),
    ("POST", "/runs", {"content": b'{"topic": "\\ud800"}', "headers": JSON}),
    ("POST", "/runs", {"content": b'{"topic": "x", "settings": {"style": "\\ud800"}}', "headers": JSON}),
    ("POST", "/runs", {"content": b'{"topic": "x", "\\ud800": 1}', "headers": JSON}),
    ("POST", "/runs", {"content": b'{"topic": "x", "settings": {"\\udfff": 1}}', "headers": JSON}),
    ("POST", "/runs", {"content": b'{"topic": "x", "settings": {"seed": ' + b"9" * 5000 + b"}}", "headers": JSON}),
    ("POST", "/runs", {"content": b'{"topic": "x", "settings": {"temperature": NaN}}', "headers": JSON}),
    ("POST", "/runs", {"content": b'{"topic": "x", "settings": {"turns": true}}', "headers": JSON}),
    ("POST", "/runs", {"content": b'{"topic": "x", "settings": {"turns": "3"}}', "headers": JSON}),
    ("POST", "/runs", {"content": b'{"topic": "x\\u0000"}', "headers": JSON}),
    ("POST", "/runs", {"content": b"\xff\xfe\xfa", "headers": JSON}),
    ("POST", "/runs", {"content": b'{"topic": "x"}', "headers": {"Content-Type": "text/plain"}}),
    ("POST", "/runs", {"content": b'{"topic": "x"}', "headers": {"Content-Type": "application/xml; charset=x"}}),
    ("POST", "/runs", {"data": {"topic": "x"}}),
    *(
        ("POST", "/runs", {"content": body, "headers": JSON})
        for body in (b"", b"{", b"[]", b'{"topic": 3}', b'{"topic": ""}', b'{"topic": "x", "path": "/etc/passwd"}')
    ),
    ("POST", "/runs", {"json": {"topic": "Silk Road", "recipe": "../x"}}),
    ("POST", "/runs", {"json": {"topic": "Silk Road", "makes": "outline", "outline": "# A"}}),
    ("POST", "/runs", {"json": {"topic": "Silk Road", "outline": "/etc/passwd is no outline. It has sentences."}}),
    ("POST", "/runs", {"json": {"topic": "Silk Road", "outline": "- a\n" * 12_501}}),
    ("POST", "/check", {"json": {"markdown": "", "sources": [{"url": "", "text": ""}]}}),
    ("POST", "/check", {"json": {"markdown": "x" * 1_000_001}}),
    *(
        ("POST", path, {"content": body, "headers": JSON})
        for path, body in (
            ("/estimate", b'{"topic": "\\ud800"}'),
            ("/estimate", b'{"topic": "x", "recipe": "\\ud800"}'),
            ("/check", b'{"markdown": "\\ud800"}'),
            ("/check", b'{"markdown": "x", "sources": [{"url": "https://a.example", "text": "\\ud800"}]}'),
        )
    ),
    ("GET", "/runs?most=" + "9" * 5000, {}),
    ("GET", "/runs?most=0&most=x", {}),
    ("GET", "/runs/x/events?after=-1", {}),
    ("GET", "/runs/x/events", {"headers": {"Last-Event-ID": b"\xff"}}),
    ("GET", "/runs/x/article?format=%ff&format=exe", {}),
    ("GET", "/runs/%ed%a0%80", {}),
    ("DELETE", "/documents/x", {}),
    ("PUT", "/documents/x/a.exe", {"content": b"x"}),
]


@pytest.mark.parametrize(("method", "path", "request_"), BAD, ids=range(len(BAD)))
def test_what_cannot_be_used_is_answered_as_declared(app: Gate, method: str, path: str, request_: Json) -> None:
    answer = answered(app, method, path, **request_)
    template = {"events": "/runs/{run}/events", "article": "/runs/{run}/article"}.get(
        path.partition("?")[0].rpartition("/")[2]
    ) or {"/runs/%": "/runs/{run}", "/docume": "/documents/{documents}"}.get(path[:7], path.partition("?")[0])
    if method == "PUT":
        template += "/{name}"
    assert 400 <= answer.status_code < 500
    assert str(answer.status_code) in described(app)["paths"][template][method.lower()]["responses"], answer.text
    assert set(answer.json()) == {"error", "kind"}
    assert "/tmp" not in answer.text


@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "PATCH", "PUT", "HEAD", "QUERY"])
def test_a_method_that_a_path_does_not_take_is_told_those_it_takes(app: Gate, method: str) -> None:
    for path, allowed in {"/runs": "GET, POST", "/runs/x": "DELETE, GET", "/health": "GET", "/check": "POST"}.items():
        answer = answered(app, method, path)
        assert (answer.status_code, answer.headers["allow"]) == (405, allowed)


def test_whole_numbers_are_integers_in_either_form(app: Gate) -> None:
    settings = {"turns": 3.0, "length": 1200, "since": "2020-01-31", "temperature": 1, "max_cost": None}
    assert answered(app, "POST", "/runs", json={"topic": "Silk Road", "settings": settings}).status_code == 202


@pytest.mark.parametrize(
    "order",
    [
        {"settings": {"since": "2021-01-01", "until": "2020-01-01"}},
        {"outline": "# References"},
        {"outline": "# Silk Road"},
    ],
)
def test_what_contradicts_itself_is_told_apart_from_what_is_invalid(app: Gate, order: Json) -> None:
    answer = answered(app, "POST", "/runs", json={"topic": "Silk Road", **order})
    assert (answer.status_code, answer.json()["kind"]) == (409, "ContradictionError")


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
    pytest.importorskip("openapi_python_client")
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
