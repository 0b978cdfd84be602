"""Twenty readers of four runs that are written at once: nothing is lost, nothing is mixed.

``pytest -s`` prints how long their pages took and what the server held.
"""

import itertools
import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from llm import Answer, FakeModel
from test_http_api import serving, started, watched
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


def read(
    address: str, run: str, topic: str, number: int, seconds: list[tuple[float, str]]
) -> list[tuple[int, dict[str, Any]]]:
    """Follow a run to its end, and meanwhile look at its page, the library and the first page in turn."""
    is_over = threading.Event()

    def look() -> None:
        is_over.wait(_PAUSE * number / READERS)
        with httpx.Client(
            base_url=address, headers={"Accept": "text/html"}, trust_env=False, timeout=60, verify=False
        ) as client:
            paths = (f"/watch/{run}", "/library", f"/watch/{run}/now", "/", "/example")
            for path in itertools.islice(itertools.cycle(paths), number % len(paths), None):
                began = time.monotonic()
                answer = client.get(path)
                seconds.append((time.monotonic() - began, path.replace(run, "RUN")))
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
    with FakeModel(slow) as model, serving(model.lm, tmp_path, AT_ONCE="4") as (client, process):
        runs = {topic: started(client, topic, recipe="storm") for topic in TOPICS}
        seconds: list[tuple[float, str]] = []
        address = str(client.base_url)
        with ThreadPoolExecutor(READERS) as pool:
            readers = [
                (topic, pool.submit(read, address, runs[topic], topic, number, seconds))
                for topic, number in zip(itertools.cycle(TOPICS), range(READERS), strict=False)
            ]
        for topic, reader in readers:
            log = (tmp_path / "runs" / runs[topic] / "events.jsonl").read_text(encoding="utf-8").splitlines()
            events = reader.result()
            assert [number for number, _ in events] == list(range(1, len(log) + 1))
            assert next(event["topic"] for _, event in events if event["event"] == "RunStarted") == topic
        for topic, run in runs.items():
            assert topic in client.get(f"/read/{run}").text
        held = Path(f"/proc/{process.pid}/status")
        memory = next((line for line in held.read_text().splitlines() if "VmHWM" in line), "") if held.exists() else ""
    for path in sorted({path for _, path in seconds}):
        of_path = [1000 * taken for taken, at in seconds if at == path]
        print(f"{path}: {len(of_path)} times, median {statistics.median(of_path):.0f} ms, most {max(of_path):.0f} ms")
    p95 = statistics.quantiles([1000 * taken for taken, _ in seconds], n=20)[-1]
    print(f"{len(seconds)} pages, 95 % of them within {p95:.0f} ms; {memory}")
