"""Every Python example of the documentation runs, with doubles for the services that it names."""

import gc
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from documentation import PAGES, name, python_blocks
from llm import FakeModel, default_answers

from storm_pipeline import Snippet, Storm
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.interfaces.listing import run_state
from storm_pipeline.sources.search.base import NoContents
from storm_pipeline.sources.search.fake import FakeSearch

API = "docs/api.md"
TRACING = "docs/tracing.md"  # test_tracing.py runs its examples, but for MLflow's, which nothing here can store
CLIENTS = "docs/clients.md"  # test_client_transcripts.py runs its program
EXAMPLES = [page for page in PAGES if python_blocks(page) and name(page) not in {API, CLIENTS, TRACING}]
SMALL = {"perspectives": 1, "turns": 1}
TRADE = "silk from Samarkand|spices from Merv|paper from Dunhuang|horses from Balkh|jade from Khotan|glass from Tyre"


def found(query: str) -> list[Snippet]:
    """Pages that every query finds."""
    return [
        Snippet(
            f"https://example.org/{number}",
            f"Trade in {goods}",
            f"History: caravans of the road carried {goods} across the desert to the markets of the west in spring. "
            f"Goods: merchants of the road weighed {goods} on public scales before they paid tolls at the gates. "
            f"Routes: riders with {goods} followed the road past ruined forts and wells to the coast.",
        )
        for number, goods in enumerate(TRADE.split("|"))
    ]


EDITS = threading.Event()
"""Whether articles are edited; while not, no run can end before its reader has left."""
EDITS.set()


def edits(_: str) -> str:
    """No edits, once articles are edited; a lead is written after that."""
    EDITS.wait(60)
    return str(default_answers()["EditArticle"])


@pytest.fixture
def doubles(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """``Storm`` accepts the settings of an example, then works with doubles of model, engine and encoder."""
    real = Storm.__init__
    monkeypatch.chdir(tmp_path)
    for key in ("OPENAI_API_KEY", "YDC_API_KEY"):  # a batch checks them before it makes its folder
        monkeypatch.setenv(key, "of-the-tests")
    with FakeModel({"EditArticle": edits}) as model:

        def scripted(self: Storm, settings: Any = None, **given: Any) -> None:
            real(self, settings, **given)  # what the example says is valid
            kept = {} if settings is None else settings.model_dump(exclude_unset=True)
            kept |= {key: value for key, value in given.items() if key != "models"}
            engine = kept.get("search")
            doubled = {
                "lm": model.lm,
                "search": FakeSearch(found) if engine is None or isinstance(engine, str) else engine,
                "embedder": HashingEmbedder(),
                "contents": NoContents(),
                "cache": tmp_path / "cache",
                "prices": ("openai/fake=1/1",),
            }
            real(self, None, **(kept | SMALL | doubled))

        monkeypatch.setattr(Storm, "__init__", scripted)
        yield


def test_the_api_example(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("uvicorn")
    from test_http_api import served

    (page,) = (page for page in PAGES if name(page) == API)
    with FakeModel() as model, served(model.lm, tmp_path, token="a-token-of-the-tests") as client:

        class Client(httpx.Client):
            """A client of the test's server instead of the one that the example names."""

            def __init__(self, **given: Any) -> None:
                super().__init__(**(given | {"base_url": client.base_url, "trust_env": False}))

        monkeypatch.setattr(httpx, "Client", Client)
        for code in python_blocks(page):
            exec(compile(code, page.name, "exec"), {"token": "a-token-of-the-tests"})
    assert "# Silk Road" in capsys.readouterr().out


@pytest.mark.usefixtures("doubles")
def test_the_web_service_shows_sections_and_stops_for_nobody(tmp_path: Path) -> None:
    uvicorn = pytest.importorskip("uvicorn")
    (page,) = (page for page in PAGES if name(page) == "docs/web-service.md")
    namespace: dict[str, Any] = {"__name__": "example"}
    for code in python_blocks(page):
        exec(compile(code, page.name, "exec"), namespace)
    left = threading.Event()  # whether the request whose reader leaves has ended, and with it what it did with its run

    async def noting(scope: Any, receive: Any, send: Any) -> None:
        try:
            await namespace["app"](scope, receive, send)
        finally:
            if b"Amber" in scope.get("query_string", b""):
                left.set()

    server = uvicorn.Server(uvicorn.Config(noting, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False) as client:
            whole = client.get("/article", params={"topic": "Silk Road"}).text
            assert whole.count("event: section") >= 2
            assert "## History" in whole
            assert whole.rpartition("event: ")[2].startswith("article")
            refused = client.get("/article", params={"topic": " "}).text
            assert "event: failed" in refused
            assert "the topic is empty" in refused
            EDITS.clear()
            with client.stream("GET", "/article", params={"topic": "Amber Road"}) as lines:
                assert next(lines.iter_lines()).startswith("event: section")
            assert left.wait(60)
            gc.collect()  # the generator of a response that was cancelled is closed by the loop once nothing holds it
            client.get("/article", params={"topic": " "})  # comes after that
        EDITS.set()  # what is in flight finishes, and nothing new begins
        assert ended_of("amber-road", tmp_path) == "stopped"
    finally:
        EDITS.set()
        server.should_exit = True
        thread.join()


def ended_of(slug: str, tmp_path: Path) -> str:
    """How a run of the documentation ended, once it has."""
    (folder,) = (tmp_path / "runs").glob(f"{slug}-*")
    for _ in range(200):
        if (state := run_state(folder)) != "running":
            break
        time.sleep(0.05)
    return state


@pytest.mark.usefixtures("doubles")
@pytest.mark.parametrize("page", EXAMPLES, ids=name)
def test_examples_run(page: Path) -> None:
    namespace: dict[str, Any] = {"__name__": "example"}
    blocks = python_blocks(page)
    if not re.search(r"^article = ", blocks[0], re.M):  # some pages begin with an article of the reader's
        namespace["article"] = Storm().write("Silk Road")
    for number, code in enumerate(blocks, 1):
        exec(compile(code, f"{page.name}, example {number}", "exec"), namespace)


def test_there_are_examples() -> None:
    assert {name(page) for page in EXAMPLES} >= {"README.md", "docs/batch.md", "docs/export.md", "docs/runs.md"}
