"""Endpoints that misbehave: absurd usage, replies without end, replies that drip, and errors that echo the key."""

import gzip
import json
import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dspy
import httpx
import pytest
from commands import run_storm
from llm import completion
from servers import ENDLESS, Reply, ScriptedServer, raw_server, until_hung_up
from test_models import models, related

from storm_pipeline.errors import BudgetSpentError, ModelError, StormError
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.models.asking import LanguageModels
from storm_pipeline.models.open_models import open_models
from storm_pipeline.models.transport import LARGEST_REPLY
from storm_pipeline.run.events import CallbackSink, Event, Events, read_events
from storm_pipeline.run.log import RedactingFormatter
from storm_pipeline.settings import Settings

pytestmark = pytest.mark.filterwarnings("ignore:.*ReadOnly:UserWarning")  # LiteLLM's, as it is imported
KEY = "sk-proj-4f9a8e7d6c5b4a39"
CLIENTS = pytest.mark.parametrize("model", ["openai/fake", "anthropic/fake", "cohere_chat/fake", "lm_studio/fake"])
"""Models that OpenAI's client, DSPy's own and LiteLLM ask."""
HUGE = 10**400


@pytest.mark.parametrize(
    "event",
    [
        *({"event": "CallFinished", "tokens_in": HUGE}, {"event": "CallFinished", "cost": float("inf")}),
        *({"event": "CallFinished", "seconds": HUGE}, {"event": "CallFinished", "at": HUGE}),
        *({"event": "StageFinished", "seconds": float("nan")}, {"event": "Counted", "name": "x", "number": HUGE}),
    ],
)
def test_a_run_with_absurd_events_hides_no_other(tmp_path: Path, event: dict[str, Any]) -> None:
    call = {"stage": "x", "role": "writer", "model": "m", "tokens_in": 1, "tokens_cached": 0, "tokens_out": 1}
    usual = call | {"at": 1.7e9, "seconds": 1.0, "cost": 0.1, "event": "CallFinished"}
    state = {"version": 1, "recipe": "storm", "given": {}, "status": "finished", "sessions": 1, "created": 1.7e9}
    for name, record in {"bad": usual | event, "good": usual}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text(json.dumps(state | {"topic": name}))
        (tmp_path / name / "events.jsonl").write_text(f"{json.dumps(record)}\n")
    assert list(read_events(tmp_path / "bad" / "events.jsonl")) == []
    for command in (["runs", "--out", str(tmp_path)], ["show", str(tmp_path / "bad")]):
        shown = run_storm(*command)
        assert (shown.exit_code, "unexpected" in shown.output) == (0, False), shown.output
        assert command[0] == "show" or "good" in shown.output


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORM_TEST_KEY", KEY)


@contextmanager
def endless_server(piece: bytes, status: int = 200) -> Iterator[tuple[str, list[int]]]:
    """Chunks without end; yields the address and the bytes sent with each, together at most 200 MB."""
    sent: list[int] = []

    def talk(line: socket.socket, closing: threading.Event) -> None:
        line.sendall(b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" % status)
        while len(sent) * len(piece) < 200_000_000 and not closing.is_set():
            line.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
            sent.append(len(piece))

    with raw_server(talk) as port:
        yield f"http://127.0.0.1:{port}/v1", sent


@pytest.mark.parametrize(
    "model",
    [
        "openai/fake",  # through OpenAI's client
        *("anthropic/fake", "gemini/fake", "groq/fake", "deepseek/fake", "ollama/fake"),  # through DSPy's own client
        *("lm_studio/fake", "azure_ai/fake", "cohere_chat/fake"),  # through LiteLLM
    ],
)
@pytest.mark.parametrize("status", [200, 400])
def test_a_reply_without_end_is_not_read_to_memory(model: str, status: int) -> None:
    with endless_server(b" " * 1_000_000, status=status) as (url, sent):
        with pytest.raises(ModelError, match=r"larger than 8 MiB"):
            related(models(f"{model}@{url}", call_attempts=1, lm_timeout=60, api_key_env="STORM_TEST_KEY"))
        assert sum(sent) < LARGEST_REPLY + 20_000_000  # what the sockets hold


@pytest.mark.parametrize("status", [302, 307])
@CLIENTS
def test_no_redirect_is_followed_with_key_and_prompt(model: str, status: int) -> None:
    with ScriptedServer(Reply(body={})) as other:
        with ScriptedServer(Reply(status, headers={"Location": f"{other.url}/v1?key=x"})) as server:
            with pytest.raises(ModelError, match="redirects to another address"):
                related(models(f"{model}@{server.url}/v1", api_key_env="STORM_TEST_KEY"))
            assert len(server.requests) == 1
        assert other.requests == []


MANY = Reply(200, b"[" + b"{}," * 300_000 + b"1]", {"Content-Type": "application/json"})
STRINGS = Reply(200, b'["' + b'a","' * 300_000 + b'"]', {"Content-Type": "application/json"})
PACKED = Reply(200, gzip.compress(gzip.compress(b" " * 10_000_000)), {"Content-Encoding": "gzip, gzip"})


@pytest.mark.parametrize(
    ("reply", "says"), [*((many, "than 200,000 values") for many in (MANY, STRINGS)), (PACKED, "reply is compressed")]
)
@CLIENTS
def test_a_reply_that_would_fill_the_memory_is_neither_unpacked_nor_taken_apart(
    model: str, reply: Reply, says: str
) -> None:
    with ScriptedServer(reply) as server, pytest.raises(ModelError, match=says):
        related(models(f"{model}@{server.url}/v1", call_attempts=1, api_key_env="STORM_TEST_KEY"))
    assert server.requests[0].headers["accept-encoding"] == "identity"


@CLIENTS
@pytest.mark.parametrize(("head", "piece"), ENDLESS)
def test_a_reply_without_end_ends_with_the_timeout_of_a_call(model: str, head: bytes, piece: bytes) -> None:
    talk, hung_up = until_hung_up(head, piece)
    with raw_server(talk) as port:
        asked = f"{model}@http://127.0.0.1:{port}"
        with pytest.raises(ModelError, match=r"no complete reply within 0\.5 s.*--lm-timeout|an interim one"):
            related(models(asked, call_attempts=1, lm_timeout=0.5, api_key_env="STORM_TEST_KEY"))
        assert hung_up.wait(10)


def test_other_requests_of_the_process_are_not_bounded() -> None:
    with endless_server(b" ") as (url, _), pytest.raises(ModelError):
        related(models(f"openai/fake@{url}", call_attempts=1, lm_timeout=0.1))
    large = b" " * (LARGEST_REPLY + 1)
    with ScriptedServer(Reply(200, gzip.compress(large), {"Content-Encoding": "gzip"})) as server:
        assert httpx.post(server.url, content=b"{}").content == large
        assert "gzip" in server.requests[0].headers["accept-encoding"]


def test_a_reply_that_drips_ends_with_the_minutes_of_the_run() -> None:
    drip = Reply(body=completion('{"related_topics": ["A"]}' + " " * 500), pieces=0.02)  # is whole after 15 s
    with ScriptedServer(drip) as server, pytest.raises(BudgetSpentError, match="--max-minutes"):
        related(models(f"openai/fake@{server.url}/v1", lm_timeout=60, max_minutes=1.5 / 60, call_attempts=3))


@pytest.mark.parametrize("status", [400, 500])
@pytest.mark.parametrize("by", ["environment", "object"])
def test_a_key_that_an_error_echoes_is_not_shown(monkeypatch: pytest.MonkeyPatch, status: int, by: str) -> None:
    events: list[Event] = []
    echo = Reply(status, {"error": {"message": f"Incorrect API key provided: {KEY}. Bearer {KEY}"}})
    with ScriptedServer(echo) as server:
        if by == "environment":
            monkeypatch.setenv("OPENAI_API_KEY", KEY)
            asking = models(f"openai/fake@{server.url}/v1", events, call_attempts=2)
        else:
            lm = dspy.LM("openai/fake", api_base=f"{server.url}/v1", api_key=KEY, cache=False, num_retries=0)
            settings = Settings.build({"lm": "object:openai/fake", "call_attempts": 2})
            table = open_models(settings, objects={"lm": lm})
            asking = LanguageModels.outside_a_run(table, settings, Events(CallbackSink(events.append)))
        with pytest.raises(StormError) as raised:
            related(asking)
        assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert "Incorrect API key" in str(raised.value)
    assert KEY not in str(raised.value)
    assert KEY not in str(events)


def test_an_echoed_key_is_neither_saved_nor_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr("storm_pipeline.storm.shared_embedder", lambda *_: HashingEmbedder())
    (tmp_path / "notes.txt").write_text("Silk was carried along the Silk Road.")
    echo = Reply(400, {"error": {"message": {"text": f"Incorrect API key provided: {KEY}"}}})
    with ScriptedServer(echo) as server:
        search = f"corpus:{tmp_path / 'notes.txt'}"
        options = ["--lm", "openai/fake", "--api-base", f"{server.url}/v1", "--search", search, "--debug"]
        shown = run_storm("write", "Silk Road", *options, "--out", str(tmp_path / "runs"))
    assert (shown.exit_code, "nexpected" in shown.output) == (1, False)
    assert KEY not in shown.output
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


def test_logs_of_libraries_hide_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", KEY)
    try:
        raise ValueError(f"refused: {KEY}")
    except ValueError as error:
        info = (type(error), error, error.__traceback__)
    record = logging.LogRecord("httpx", logging.ERROR, __file__, 1, "key %s", (KEY,), info)
    shown = RedactingFormatter("%(message)s").format(record)
    assert KEY not in shown
    assert "key ***" in shown
    assert "ValueError: refused: ***" in shown
