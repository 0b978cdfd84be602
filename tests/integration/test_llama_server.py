"""The embedded model server. The live tests run the smaller pinned model."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import openai
import pytest

from storm_pipeline.errors import MissingExtraError, ModelError, SettingsError
from storm_pipeline.models.llama_server import LocalServer, shared_server, start_server
from storm_pipeline.run import assets

CACHE = Path(__file__).resolve().parents[2] / "cache"
SMALL = "qwen2.5-coder-0.5b-instruct-q4_k_m"


@pytest.fixture(scope="module")
def small_model() -> Path:
    return assets.fetch(SMALL, CACHE)


@pytest.fixture(scope="module")
def server(small_model: Path) -> Iterator[LocalServer]:
    with closing(start_server(small_model, slots=2, context=4096, threads=1)) as running:
        yield running


def client_of(server: LocalServer, key: str | None = None) -> openai.OpenAI:
    return openai.OpenAI(base_url=server.url, api_key=key or server.key, max_retries=0)


def ask(server: LocalServer, text: str, **more: object) -> openai.types.chat.ChatCompletion:
    with client_of(server) as client:
        return client.chat.completions.create(
            model=server.model, messages=[{"role": "user", "content": text}], **{"max_tokens": 1} | more
        )


@pytest.mark.parametrize("start", [start_server, shared_server])
@pytest.mark.parametrize(
    "content", [None, b"", b"GG", b"PK\x03\x04 not a model", b"GGUF\x03\x00\x00\x00" + b"\x00" * 12]
)
def test_a_file_that_is_no_model_is_told_and_nothing_is_printed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], content: bytes | None, start: Callable[..., LocalServer]
) -> None:
    path = tmp_path / "odd.gguf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelError, match=r"cannot load .*odd\.gguf.*verify"):
        start(path, context=512)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("slots", "context"), [(0, 4096), (-1, 4096), (4, 0)])
def test_room_for_no_request_is_refused(tmp_path: Path, slots: int, context: int) -> None:
    with pytest.raises(SettingsError, match="at least 1 slot"):
        start_server(tmp_path / "any.gguf", slots=slots, context=context)


def test_without_the_extra_its_name_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "some.gguf"
    path.write_bytes(b"GGUF")
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(MissingExtraError, match=r"storm-pipeline\[local\]"):
        start_server(path)


@pytest.mark.assets
@pytest.mark.model
def test_replies_keep_to_a_json_schema(server: LocalServer) -> None:
    properties = {"river": {"type": "string", "maxLength": 20}, "long": {"type": "boolean"}}
    schema = {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}
    form = {"type": "json_schema", "json_schema": {"name": "river", "schema": schema, "strict": True}}
    reply = ask(server, "Name a river.", max_tokens=48, response_format=form)
    answer = json.loads(reply.choices[0].message.content or "")
    assert isinstance(answer["river"], str) and isinstance(answer["long"], bool)
    assert server.model == reply.model == SMALL


@pytest.mark.assets
@pytest.mark.model
def test_only_who_knows_the_key_is_served_and_only_what_is_needed(server: LocalServer) -> None:
    assert server.url.startswith("http://127.0.0.1:")
    assert len(server.key) >= 32
    with client_of(server, "guess") as stranger, pytest.raises(openai.AuthenticationError):
        stranger.models.list()
    with client_of(server) as client:
        for path in ("/slots", "/metrics", "/"):
            with pytest.raises(openai.APIStatusError):
                client.get(server.url.removesuffix("/v1") + path, cast_to=object)


@pytest.mark.assets
@pytest.mark.model
def test_close_ends_requests_in_flight_and_prints_nothing(small_model: Path, capfd: pytest.CaptureFixture[str]) -> None:
    server = start_server(small_model, slots=1, context=2048, threads=1)
    ended: list[Exception] = []

    def wait_for_a_long_reply() -> None:
        try:
            ask(server, "Tell a long story.", max_tokens=2000, extra_body={"ignore_eos": True})
        except openai.APIConnectionError as error:
            ended.append(error)

    asking = [threading.Thread(target=wait_for_a_long_reply) for _ in range(2)]
    for thread in asking:
        thread.start()
    time.sleep(1)
    server.close()
    server.close()
    for thread in asking:
        thread.join(timeout=20)
    assert len(ended) == 2
    assert server.closed
    with pytest.raises(openai.APIConnectionError):
        ask(server, "Anybody there?")
    assert capfd.readouterr() == ("", "")


EXIT_WITH_REQUESTS_IN_FLIGHT = """
import sys, threading, time, openai
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from storm_pipeline.models.llama_server import shared_server

def start(_):
    return shared_server(Path(sys.argv[1]), slots=2, context=2048, threads=1)

def ask():
    client = openai.OpenAI(base_url=server.url, api_key=server.key)
    client.chat.completions.create(model=server.model, messages=[{"role": "user", "content": "Tell a story."}])

with ThreadPoolExecutor(3) as pool:
    server, *others = pool.map(start, range(3))
assert all(other is server for other in others)
for _ in range(3):
    threading.Thread(target=ask, daemon=True).start()
time.sleep(1)
"""


@pytest.mark.assets
@pytest.mark.model
def test_a_process_with_a_busy_shared_server_ends_cleanly(small_model: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", EXIT_WITH_REQUESTS_IN_FLIGHT, str(small_model)],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
