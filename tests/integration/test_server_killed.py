"""A server that is killed in the middle of a run, and started again: the run goes on, and so do its readers."""

import json
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest
from llm import FakeModel
from test_http_api import serving, started, watched
from test_resume import answers

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")


def read_until(client: httpx.Client, run: str, event: str) -> list[tuple[int, dict[str, Any]]]:
    """The events of a run up to one of a name, each with its number."""
    events: list[tuple[int, dict[str, Any]]] = []
    fields: dict[str, str] = {}
    with client.stream("GET", f"/runs/{run}/events") as stream:
        for line in stream.iter_lines():
            if line:
                name, _, value = line.partition(": ")
                fields[name] = value
            else:
                events.append((int(fields["id"]), json.loads(fields["data"])))
                if events[-1][1]["event"] == event:
                    break
    return events


def test_a_run_goes_on_after_a_kill_and_its_stream_misses_and_repeats_nothing(tmp_path: Path) -> None:
    writing, may_write = threading.Event(), threading.Event()

    def write_later(user: str) -> str:
        writing.set()
        may_write.wait(60)
        written: str = answers()["WriteSection"](user)
        return written

    with FakeModel(answers() | {"WriteSection": write_later}) as model:
        with serving(model.lm, tmp_path) as (client, process):
            run = started(client, recipe="storm")
            before = read_until(client, run, "Searched")
            assert writing.wait(60)
            process.kill()
            process.wait()
        bought = [asked.prompt for asked in model.asked if asked.signature != "WriteSection"]
        may_write.set()
        last = before[-1][0]
        with serving(model.lm, tmp_path, GO_ON="1") as (client, _):
            after, state = watched(client, run, last)
            assert client.get(f"/runs/{run}/article").status_code == 200
    assert state == "finished"
    log = (tmp_path / "runs" / run / "events.jsonl").read_text(encoding="utf-8").splitlines()
    numbers = [number for number, _ in (*before, *after)]
    assert numbers == list(range(1, len(log) + 1))
    named = [(record["event"], record["at"]) for _, record in (*before, *after)]
    assert named == [(record["event"], record["at"]) for record in map(json.loads, log)]
    assert [record["session"] for _, record in (*before, *after) if record["event"] == "RunStarted"] == [1, 2]
    again = [asked.prompt for asked in model.asked if asked.signature != "WriteSection"]
    assert sum(prompt in bought for prompt in again) == len(bought)  # nothing that was answered is asked again
