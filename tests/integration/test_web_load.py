"""Twenty readers of four runs that are written at once: nothing is lost, nothing is mixed."""

import itertools
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from llm import Answer, FakeModel
from test_http_api import served, started, watched
from test_resume import answers

pytest.importorskip("fastapi")
pytest.importorskip("python_multipart")

TOPICS = ("Silk Road", "Amber Road", "Tin Road", "Salt Road")
READERS = 20
_PAUSE = 1.5  # seconds, that a page which is watched leaves between two looks


def slowly(answer: Answer) -> Answer:
    """The answer of a model that takes a moment."""

    def later(user: str) -> str:
        time.sleep(0.4)
        return answer if isinstance(answer, str) else answer(user)

    return later


def read(address: str, run: str, topic: str, number: int) -> list[tuple[int, dict[str, Any]]]:
    """Follow a run to its end, and meanwhile look at its page, the library and the first page in turn."""
    is_over = threading.Event()

    def look() -> None:
        is_over.wait(_PAUSE * number / READERS)
        with httpx.Client(
            base_url=address, headers={"Accept": "text/html"}, trust_env=False, timeout=60, verify=False
        ) as client:
            paths = (f"/watch/{run}", "/library", f"/watch/{run}/now", "/", "/example")
            for path in itertools.islice(itertools.cycle(paths), number % len(paths), None):
                answer = client.get(path)
                assert answer.status_code == 200, answer.text
                if path == f"/watch/{run}":
                    assert f"<title>{topic} · storm</title>" in answer.text
                if is_over.wait(_PAUSE):
                    return

    with (
        ThreadPoolExecutor(1) as pool,
        httpx.Client(base_url=address, trust_env=False, timeout=60, verify=False) as client,
    ):
        looking = pool.submit(look)
        events, state = watched(client, run)
        is_over.set()
        looking.result()
    assert state == "finished"
    return events


def test_many_readers_of_several_runs_miss_and_mix_nothing(tmp_path: Path) -> None:
    slow = {name: slowly(answer) for name, answer in answers().items()}
    with FakeModel(slow) as model, served(model.lm, tmp_path, AT_ONCE="4") as client:
        runs = {topic: started(client, topic, recipe="storm") for topic in TOPICS}
        with ThreadPoolExecutor(READERS) as pool:
            readers = [
                (topic, pool.submit(read, str(client.base_url), runs[topic], topic, number))
                for topic, number in zip(itertools.cycle(TOPICS), range(READERS), strict=False)
            ]
        for topic, reader in readers:
            log = (tmp_path / "runs" / runs[topic] / "events.jsonl").read_text(encoding="utf-8").splitlines()
            events = reader.result()
            assert [number for number, _ in events] == list(range(1, len(log) + 1))
            assert next(event["topic"] for _, event in events if event["event"] == "RunStarted") == topic
        for topic, run in runs.items():
            assert topic in client.get(f"/read/{run}").text
