"""Files that are no files: pipes without a writer, devices, folders, full disks."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from special_files import SPECIAL, special_file

from storm_pipeline import files
from storm_pipeline.batch import read_topics
from storm_pipeline.errors import RunError, SettingsError
from storm_pipeline.files import read_bounded
from storm_pipeline.run.folder import RunStore
from storm_pipeline.run.user_pieces import read_outline
from storm_pipeline.settings import Settings

READERS = {
    "t.txt": read_topics,
    "t.jsonl": read_topics,
    "t.md": lambda path: read_outline(path, "Silk Road"),
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("kind", SPECIAL)
def test_what_is_no_file_is_refused(tmp_path: Path, name: str, kind: str) -> None:
    path = special_file(tmp_path / name, kind)
    with pytest.raises(SettingsError, match=name):
        READERS[name](path)


def test_what_another_program_writes_is_read() -> None:
    """As a shell does for ``<(program)``."""
    reading, writing = os.pipe()
    content = b"# History\n" * 20_000

    def write() -> None:
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(content)
            pipe.flush()
            time.sleep(0.1)
            pipe.write(b"# Legacy")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert read_bounded(Path(f"/dev/fd/{reading}"), 1_000_000) == content + b"# Legacy"
    finally:
        os.close(reading)
        writer.join()


def test_a_silent_pipe_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_PATIENCE", 0.1)
    path = tmp_path / "t.txt"
    os.mkfifo(path)
    holder = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    try:
        with pytest.raises(SettingsError, match=r"nothing came within 0\.1 s"):
            read_topics(path)
    finally:
        os.close(holder)


@given(content=st.binary(max_size=200), limit=st.integers(0, 200))
def test_a_file_is_read_up_to_a_limit(tmp_path_factory: pytest.TempPathFactory, content: bytes, limit: int) -> None:
    path = tmp_path_factory.mktemp("files") / "file"
    path.write_bytes(content)
    if len(content) <= limit:
        assert read_bounded(path, limit) == content
    else:
        with pytest.raises(OSError, match="more than"):
            read_bounded(path, limit)


@pytest.mark.parametrize("content", ["[" * 100_000, '{"a":' * 100_000, "[]", "null", "\x00", ""])
def test_settings_that_cannot_be_read_are_damaged(tmp_path: Path, content: str) -> None:
    with RunStore.create(tmp_path, "Silk Road", "storm") as store:
        store.begin(Settings())
        (store.folder / "settings.json").write_text(content)
        with pytest.raises(RunError, match="missing or damaged"):
            store.saved_settings()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize("arguments", [("search", "engines"), ("--version",), ("--help",)])
def test_a_full_disk_is_said(arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "storm_pipeline", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=100,
        )
    assert ended.returncode == 1
    assert "No space left on device" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "unexpected" not in ended.stderr
    assert ended.stderr.count("\n") == 1
