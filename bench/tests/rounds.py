"""Rounds of ratings for tests: studies with made-up articles, and raters who answer by a function."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from fastapi.testclient import TestClient
from servers import closed_port

from storm_bench.raters.app import create_app
from storm_bench.raters.articles import read_articles
from storm_bench.raters.assignment import draw
from storm_bench.raters.store import set_up
from storm_bench.raters.study import Study, read_study
from storm_pipeline.api import Reach

SYSTEMS = ("oRAG", "STORM")
TEXT = """# {title}

The road is long [1]. Silk was sold on it [2].

## History

It was built in 100 BC [1]. It is still used.

## References

1. https://a.example/road Roads of the world
2. https://b.example/silk Silk
"""
PAGES = """{"url": "https://a.example/road", "title": "Roads", "text": "The road was built in 100 BC."}
{"url": "https://b.example/silk", "title": "Silk", "text": "Silk was sold on the road."}
"""
Choose = Callable[[str, Mapping[str, Any]], str]
"""Rater's name and question → value."""


def study_file(
    folder: Path,
    *,
    head: str,
    raters: Iterable[str] = ("anna", "boris"),
    topics: int = 2,
    more: str = "",
    every: str = "",
) -> Path:
    """Write a study of two systems' articles; ``every``: further lines of each article's table."""
    lines = ['title = "Roads"', head, 'pages = "pages.jsonl"']
    lines += [f'[[raters]]\nname = "{name}"' for name in raters]
    (folder / "pages.jsonl").write_text(PAGES, "utf-8")
    for topic in range(topics):
        for system in SYSTEMS:
            file = folder / f"{topic}-{system}.md"
            file.write_text(TEXT.format(title=f"Road {topic}"), "utf-8")
            lines.append(f'[[articles]]\ntopic = "Road {topic}"\nsystem = "{system}"\npath = "{file.name}"\n{every}')
    path = folder / "study.toml"
    path.write_text("\n".join([*lines, more]), "utf-8")
    return path


def set_up_round(path: Path, to: Path) -> tuple[Study, dict[str, str]]:
    """Set up a round, and return its study and rater → token."""
    study = read_study(path)
    return study, set_up(to, study, read_articles(study, path.parent), draw(study))


def client(folder: Path, token: str = "", **more: Any) -> TestClient:
    """Return a program's client of a round."""
    program = TestClient(create_app(folder, Reach.build("testserver")), **more)
    program.headers |= {"Authorization": f"Bearer {token}"} if token else {}
    return program


def rate_all(folder: Path, tokens: Mapping[str, str], choose: Choose, marks: Mapping[str, str] | None = None) -> None:
    """Answer every question of every rater, through the door for programs."""
    for name, token in tokens.items():
        program = client(folder, token)
        while (page := program.get("/api/next").json())["page"]:
            answers = {one["name"]: choose(name, page | one) for one in page["questions"] if one["choices"]}
            answers |= (marks or {}) if "marks" in page else {}
            answer = program.post("/api/answers", json={"page": page["page"], "answers": answers})
            assert answer.json()["missing"] == [], answer.text


@contextmanager
def serving(folder: Path) -> Iterator[tuple[str, "subprocess.Popen[bytes]"]]:
    """Serve a round in a process of its own, and yield its address and the process."""
    with closed_port() as address:
        command = [
            sys.executable,
            "-m",
            "storm_bench.raters",
            "serve",
            str(folder),
            "--port",
            address.rpartition(":")[2],
        ]
    paths = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": paths}, stdout=subprocess.DEVNULL)
    try:
        for _ in range(600):
            try:
                httpx.get(f"{address}/api/next", trust_env=False)
                break
            except httpx.TransportError:
                assert process.poll() is None, "the server ended"
                time.sleep(0.1)
        yield address, process
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)
