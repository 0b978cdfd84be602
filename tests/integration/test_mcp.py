"""The MCP server in a process of its own, asked by the SDK's client over standard input and output."""

import asyncio
import base64
import json
import os
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from llm import FakeModel
from servers import Reply
from test_resume import answers

from storm_pipeline.output.export import export
from storm_pipeline.run.article_json import from_json

mcp = pytest.importorskip("mcp")

TESTS = Path(__file__).resolve().parents[1]
SMALL = {"perspectives": 0, "turns": 1}
OWNER = "correct-horse-battery"
TOOLS = {"write", "outline", "start", "status", "stop", "resume", "search", "check", "export"}


def asked(lm: str, place: Path, talk: Callable[[Any], Awaitable[None]], **environment: str) -> None:
    """Let a client talk to a server."""
    paths = os.pathsep.join([str(TESTS), str(TESTS / "integration"), os.environ.get("PYTHONPATH", "")])
    names = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(("LITELLM", "HF_", "TOKENIZERS", "STORM_HOME"))
    }
    server = mcp.StdioServerParameters(
        command=sys.executable,
        args=[str(TESTS / "mcp_server.py"), lm, str(place / "runs"), str(place / "cache")],
        env=names | {"PYTHONPATH": paths} | environment,
    )

    async def talked() -> None:
        async with mcp.Client(mcp.stdio_client(server), read_timeout_seconds=60) as client:
            await talk(client)

    asyncio.run(talked())


def text(result: Any) -> str:
    (content,) = result.content
    return str(content.text)


def test_an_assistant_writes_reads_and_exports(tmp_path: Path) -> None:
    steps: list[str] = []

    async def progress(_: float, __: float | None, message: str | None) -> None:
        steps.append(str(message))

    async def talk(client: Any) -> None:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == TOOLS
        templates = (await client.list_resource_templates()).resource_templates
        resources = {str(one.uri) for one in (await client.list_resources()).resources}
        offered = {tool.name for tool in tools} | resources | {one.uri_template for one in templates}
        page = (TESTS.parent / "docs" / "api.md").read_text().partition("## By MCP")[2].partition("## What callers")[0]
        assert set(re.findall(r"^\| `([^`]+)`", page, re.M)) == offered
        assert "ctx" not in json.dumps([tool.input_schema for tool in tools])
        arguments = {"topic": "Silk Road", "settings": SMALL}
        written = await client.call_tool("write", arguments, progress_callback=progress)
        assert not written.is_error, text(written)
        first, _, markdown = text(written).partition("\n\n")
        run = first.removeprefix("Run: ")
        article = from_json((tmp_path / "runs" / run / "article.json").read_text())
        assert markdown == article.to_markdown()
        assert any(step.startswith("conversations: ") for step in steps)
        exported = await client.call_tool("export", {"run": run, "format": "latex"})
        assert text(exported) == export(article, "latex").decode()
        (word,) = (await client.call_tool("export", {"run": run, "format": "docx"})).content
        assert base64.b64decode(word.resource.blob) == export(article, "docx")
        (read,) = (await client.read_resource(f"storm://runs/{run}/article")).contents
        assert (read.text, read.mime_type) == (markdown, "text/markdown")
        (listed,) = (await client.read_resource("storm://runs")).contents
        assert [view["run"] for view in json.loads(listed.text)] == [run]

    with FakeModel(answers()) as model:
        asked(model.lm, tmp_path, talk)


def test_a_run_that_fails_says_why_without_secrets_and_is_resumed(tmp_path: Path) -> None:
    secret = "sk-hidden-123456"
    faults = {"DraftOutline": [Reply(400, {"error": {"message": f"bad key {secret}"}})]}

    async def talk(client: Any) -> None:
        failed = await client.call_tool("write", {"topic": "Silk Road", "recipe": "direct"})
        assert failed.is_error
        assert "ended early (failed)" in text(failed)
        assert "bad key ***" in text(failed)
        (run,) = [path.name for path in (tmp_path / "runs").iterdir()]
        assert run in text(failed)
        resumed = await client.call_tool("resume", {"run": run})
        assert text(resumed).startswith(f"Run: {run}\n\n# Silk Road")

    with FakeModel(answers(), faults=faults) as model:
        asked(model.lm, tmp_path, talk, MY_API_KEY=secret)


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("write", {"topic": ""}, "topic is empty"),
    ("write", {"topic": "Silk Road", "settings": {"lm": "gguf:/etc/passwd"}}, "may not choose 'lm'"),
    ("write", {"topic": "Silk Road", "settings": {"search": "corpus:/etc"}}, "may not choose 'search'"),
    ("write", {"topic": "Silk Road", "outline": "/etc/passwd. It is a file."}, "no heading"),
    ("write", {"topic": "Silk Road", "outline": "- a\n" * 12_501}, "at most 50000 characters"),
    ("start", {"topic": "Silk Road", "outline": "- a\n" * 12_501}, "at most 50000 characters"),
    ("export", {"run": "../../etc"}, "no run of this name"),
    ("export", {"run": "x", "format": "exe"}, "no format is called"),
    ("resume", {"run": "/etc"}, "no run of this name"),
    ("search", {"query": "x", "most": 1000}, "20"),
]


def test_what_an_assistant_may_not_do(tmp_path: Path) -> None:
    async def talk(client: Any) -> None:
        for tool, arguments, reason in REFUSED:
            refused = await client.call_tool(tool, arguments)
            assert refused.is_error, tool
            assert reason in text(refused)
            assert "Traceback" not in text(refused)
        for uri in (
            "storm://runs/../article",
            "storm://runs/%2e%2e/article",
            "storm://runs/none/outline",
            "file:///etc",
        ):
            with pytest.raises(mcp.MCPError):
                await client.read_resource(uri)

    with FakeModel(answers()) as model:
        asked(model.lm, tmp_path, talk)
        assert not model.asked
    assert not (tmp_path / "runs").exists()


def over_http(
    place: Path, model: FakeModel, talks: Callable[[Callable[..., Any]], Awaitable[None]], *names: str
) -> None:
    """Let clients talk to a server by HTTP: ``talks`` gets what opens one with the token of a name."""
    import httpx2
    from mcp.client.streamable_http import streamable_http_client
    from test_http_api import served

    from storm_pipeline.interfaces.server.callers import Tokens

    tokens = {name: Tokens(place / "runs").add(name) for name in names}

    async def talked(address: str) -> None:
        @asynccontextmanager
        async def client(name: str, mode: str = "auto", **headers: str) -> AsyncIterator[Any]:
            sent = {"Authorization": f"Bearer {tokens.get(name, OWNER)}"} | headers
            async with httpx2.AsyncClient(headers=sent, timeout=60, trust_env=False) as http:
                transport = streamable_http_client(address, http_client=http)
                async with mcp.Client(transport, mode=mode, read_timeout_seconds=60) as opened:
                    yield opened

        await talks(client)

    with served(model.lm, place, token=OWNER) as server:
        asyncio.run(talked(str(server.base_url.join("/mcp"))))
    assert "Traceback" not in (place / "server.log").read_text()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_an_assistant_starts_a_run_over_http_and_asks_for_it(tmp_path: Path, mode: str) -> None:
    steps: list[tuple[float, float | None]] = []

    async def progress(done: float, total: float | None, _: str | None) -> None:
        steps.append((done, total))

    async def talks(client: Callable[..., Any]) -> None:
        async with client("anna", mode) as anna, client("bert", mode) as bert:
            assert {tool.name for tool in (await anna.list_tools()).tools} == TOOLS
            begun = await anna.call_tool("start", {"topic": "Silk Road", "makes": "outline", "settings": SMALL})
            view = begun.structured_content
            assert (view, view["state"], view["caller"]) == (json.loads(text(begun)), "running", "anna")
            run = view["run"]
            while (view := (await anna.call_tool("status", {"run": run})).structured_content)["state"] == "running":
                await asyncio.sleep(0.1)
            assert (view["state"], view["ready"], view["makes"]) == ("finished", True, "outline")
            written = await anna.call_tool(
                "write", {"topic": "Amber Road", "recipe": "direct"}, progress_callback=progress
            )
            article = written.structured_content
            assert text(written) == f"Run: {article['run']}\n\n{article['markdown']}"
            exported = (await anna.call_tool("export", {"run": article["run"]})).structured_content
            assert exported["text"] == article["markdown"]
            for tool in ("status", "stop", "resume", "export"):
                refused = await bert.call_tool(tool, {"run": run})
                assert refused.is_error
                assert "no run of this name" in text(refused)
            listed = [json.loads((await one.read_resource("storm://runs")).contents[0].text) for one in (anna, bert)]
            assert ([one["run"] for one in listed[0]], listed[1]) == ([article["run"], run], [])
            with pytest.raises(mcp.MCPError):
                await bert.read_resource(f"storm://runs/{run}/outline")

    with FakeModel(answers()) as model:
        over_http(tmp_path, model, talks, "anna", "bert")
    dones = [done for done, _ in steps]
    assert dones == sorted(set(dones))
    assert len(dones) > 2
    assert all(total is not None and done <= total for done, total in steps)
    assert steps[-1][0] == steps[-1][1]


def test_strangers_and_other_sites_are_refused_and_a_call_that_is_cancelled_stops_its_run(tmp_path: Path) -> None:
    async def talks(client: Callable[..., Any]) -> None:
        for headers in (
            {"Authorization": "Bearer wrong"},
            {"Host": "evil.example"},
            {"Origin": "https://evil.example"},
        ):
            with pytest.raises((mcp.MCPError, ExceptionGroup)):
                async with client("anna", **headers) as refused:
                    await refused.list_tools()
        begun = asyncio.Event()

        async def progress(*_: object) -> None:
            begun.set()

        async with client("anna", Origin="http://localhost:3000") as anna:
            call = asyncio.ensure_future(anna.call_tool("write", {"topic": "Silk"}, progress_callback=progress))
            await begun.wait()
            call.cancel()
        async with client("anna") as anna:
            (view,) = json.loads((await anna.read_resource("storm://runs")).contents[0].text)
            while (view := (await anna.call_tool("status", {"run": view["run"]})).structured_content)[
                "state"
            ] == "running":
                await asyncio.sleep(0.1)
            assert view["state"] == "stopped"

    with FakeModel(answers(), faults={"FindRelatedTopics": [Reply(500, delay=2.0)] * 9}) as model:
        over_http(tmp_path, model, talks, "anna")
