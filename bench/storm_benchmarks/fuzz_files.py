"""Further kinds of random input: configuration files, whole run folders, and requests to the HTTP API."""

import asyncio
import json
import random
import tempfile
from collections.abc import Mapping, MutableMapping
from functools import cache
from pathlib import Path
from typing import Any

from storm_pipeline.errors import SettingsError, StormError
from storm_pipeline.interfaces.configuration.layers import load_settings
from storm_pipeline.interfaces.listing import list_runs, read_timeline
from storm_pipeline.interfaces.server.run_folders import EventFile
from storm_pipeline.run.article_json import from_json
from storm_pipeline.run.folder import RunStore
from storm_pipeline.settings import Settings

MEMORY = Path("/dev/shm")
"""Where files are written if it exists, since a disk takes longer to sync than they take to read."""
_NUMBERS = (0, -1, 3, 0.5, 10**30, 10**400, -(10**400), 1e308, float("inf"), float("nan"))
_REFUSED = {400, 404, 405, 409, 413, 422, 429}


def value(text: str, chance: random.Random, depth: int = 2) -> Any:
    """Return a random value of JSON that holds parts of a text."""
    if depth and chance.random() < 0.3:
        if chance.random() < 0.5:
            return [value(text, chance, depth - 1) for _ in range(chance.randint(0, 3))]
        return {text[:9]: value(text, chance, depth - 1), "topic": value(text, chance, depth - 1)}
    return chance.choice((text, text[:40], None, True, *_NUMBERS))


def configuration(text: str, _: object, chance: random.Random) -> None:
    """A folder's storm.toml or pyproject.toml: settings of any value, or any text."""
    name = chance.choice(list(Settings.model_fields))
    written = value(text, chance)
    line = f"{name} = {json.dumps(written)}" if written is not None else f"{name} = {text}"
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as place:
        file = Path(place) / chance.choice(("storm.toml", "pyproject.toml"))
        head = "[tool.storm]\n" if file.name == "pyproject.toml" else ""
        file.write_text(chance.choice((head + line, head + text, text)), encoding="utf-8", errors="replace")
        load_settings(folder=Path(place))


def folder_of_a_run(text: str, _: object, chance: random.Random) -> None:
    """A run's state, events and article with random fields, listed beside a run in order, shown and opened."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as place:
        root = Path(place)
        for name in ("bad", "good"):
            with RunStore.create(root, name, "storm") as run:
                run.begin(Settings.build({}))
            _write(run.folder / "events.jsonl", _events(text, random.Random(0) if name == "good" else chance))
            if name == "good":
                continue
            state = json.loads((run.folder / "run.json").read_text("utf-8"))
            changed = {chance.choice([*state, text[:9]]): value(text, chance) for _place in range(chance.randint(0, 3))}
            _write(run.folder / "run.json", [state | changed])
            article = {"schema": 1, "article": {"title": text[:99], chance.choice(_OF_ARTICLES): value(text, chance)}}
            _write(run.folder / "article.json", [article])
            bad = run.folder
        assert {entry.topic for entry in list_runs(root)} >= {"good"}
        EventFile(bad).read()
        for read in (read_timeline, lambda folder: from_json((folder / "article.json").read_text("utf-8")), _opened):
            try:
                read(bad)
            except StormError:
                continue


_OF_ARTICLES = ("lead", "sections", "sources", "outline", "conversations", "usage", "report", "written", "language")


def _opened(folder: Path) -> None:
    with RunStore.open(folder, keep_edited=True) as run:
        run.saved_settings()


def _events(text: str, chance: random.Random) -> list[dict[str, Any]]:
    call = {"event": "CallFinished", "at": 1.7e9, "stage": "sections", "role": "writer", "model": "m", "tokens_in": 1}
    call |= {"tokens_cached": 0, "tokens_out": 1, "seconds": 1.0, "cost": 0.1}
    started = {"event": "RunStarted", "at": 1.7e9, "stage": "run", "topic": "good", "folder": "", "session": 1}
    return [one | {chance.choice(list(one)): value(text, chance)} for one in (started, call, call)]


def _write(path: Path, records: list[Any]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8", errors="replace")


def request(text: str, _: object, chance: random.Random) -> None:
    """A request to the HTTP API with a random path, query or body; every answer is a refusal in the documented form."""
    path = chance.choice(("/runs", "/runs/x/resume", "/runs/x/stop", "/runs/x/article", "/" + text[:30]))
    body = chance.choice((json.dumps(value(text, chance)), json.dumps({"topic": value(text, chance, 0)}), text))
    if chance.random() < 0.5:  # a setting that no caller may choose is refused before a run is made
        body = json.dumps({"topic": text[:99], "settings": {"out": "x", "perspectives": value(text, chance)}})
    method = chance.choice(("POST", "POST", "GET", "PUT"))
    status, answer = asyncio.run(_asked(method, path, text[:50], body.encode("utf-8", "replace")))
    if status in _REFUSED:
        assert set(json.loads(answer)) == {"error", "kind"}, f"{status} has another form"
    else:
        assert status < 300, f"{method} {path[:30]!r} was answered with {status}"


async def _asked(method: str, path: str, query: str, body: bytes) -> tuple[int, bytes]:
    sent: list[MutableMapping[str, Any]] = []

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    async def receive() -> Mapping[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    raw = {"raw_path": path.encode("utf-8", "replace"), "query_string": query.encode("utf-8", "replace")}
    scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http", "root_path": ""}
    own = {"method": method, "path": path, "headers": headers, "client": ("127.0.0.1", 1), "server": ("localhost", 80)}
    await _application()(scope | own | raw, receive, send)
    return int(sent[0]["status"]), b"".join(message.get("body", b"") for message in sent[1:])


@cache
def _application() -> Any:
    from storm_pipeline.interfaces.server.http_api import create_app
    from storm_pipeline.interfaces.server.remote_settings import RemoteSettings
    from storm_pipeline.interfaces.server.run_service import RunService

    def refuse(_: Settings) -> Any:
        raise SettingsError("no run is started here")

    owner = Settings.build({"out": str(Path(tempfile.gettempdir()) / "no-runs-here")})
    return create_app(RunService(RemoteSettings.build(owner), open_storm=refuse))
