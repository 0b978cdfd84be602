"""The recording that ships: the pieces of one finished run, compressed, which pages show like those of any run.

Make it anew from the folder of a finished run, whose texts must be free:

    python -m storm_pipeline.interfaces.web.recording RUN
"""

import functools
import gzip
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from storm_pipeline.interfaces.server.pieces import RunPieces, read_pieces
from storm_pipeline.interfaces.server.redaction import Redactor
from storm_pipeline.run.article_json import from_json
from storm_pipeline.run.events import adapter_of
from storm_pipeline.settings import Settings
from storm_pipeline.types import Article

_FOLDER = Path(__file__).with_name("recording")


@functools.cache
def recorded_article() -> Article:
    """Return the article of the recording."""
    return from_json(_read("article.json").decode())


@functools.cache
def recorded_events() -> tuple[tuple[int, dict[str, Any]], ...]:
    """Return the events of the recording, each with its number, from 1."""
    return tuple(enumerate(map(json.loads, _read("events.jsonl").splitlines()), 1))


@functools.cache
def recorded_pieces() -> RunPieces:
    """Return what the run of the recording has found and written."""
    pieces: RunPieces = adapter_of(RunPieces).validate_json(_read("pieces.json"))
    return pieces


def _read(name: str) -> bytes:
    return gzip.decompress((_FOLDER / f"{name}.gz").read_bytes())


def record(run: Path, folder: Path = _FOLDER) -> int:
    """Make the recording of a finished run in a folder, and return its size in bytes. Raises OSError: one lacks."""
    pieces = read_pieces(run, Settings(), Redactor())
    contents = {
        "article.json": json.loads((run / "article.json").read_bytes()),
        "pieces.json": adapter_of(RunPieces).dump_python(replace(pieces, sections=(), lead=()), mode="json"),
    }
    texts = {name: json.dumps(value, ensure_ascii=False, separators=(",", ":")) for name, value in contents.items()}
    events = map(json.loads, (run / "events.jsonl").read_text(encoding="utf-8").splitlines())
    plain = ({**event, "folder": ""} if "folder" in event else event for event in events)
    texts["events.jsonl"] = "".join(json.dumps(event, ensure_ascii=False) + "\n" for event in plain)
    packed = {name: gzip.compress(text.encode(), 9, mtime=0) for name, text in texts.items()}
    folder.mkdir(exist_ok=True)
    for name, content in packed.items():
        (folder / f"{name}.gz").write_bytes(content)
    return sum(map(len, packed.values()))


if __name__ == "__main__":
    sys.stdout.write(f"{record(Path(sys.argv[1])):,} bytes\n")
