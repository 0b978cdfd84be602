"""Files that are no files: pipes without a writer, devices, folders, full disks."""

import os
import shutil
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from special_files import SPECIAL, special_file
from typer.testing import CliRunner

from storm_pipeline import files
from storm_pipeline.batch import read_topics
from storm_pipeline.cli import app
from storm_pipeline.configuration.layers import configured
from storm_pipeline.configuration.variables import use_files
from storm_pipeline.errors import RunError, SettingsError
from storm_pipeline.files import read_bounded
from storm_pipeline.run.folder import RunStore
from storm_pipeline.run.listing import list_runs, run_entry
from storm_pipeline.run.user_pieces import read_outline
from storm_pipeline.server.run_folders import EventFile, RunFolders
from storm_pipeline.settings import Settings

READERS = {"t.txt": read_topics, "t.jsonl": read_topics, "t.md": lambda path: read_outline(path, "Silk Road")}


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


@pytest.mark.parametrize("kind", ["pipe", "/dev/zero", "folder", "loop"])
@pytest.mark.parametrize("name", ["storm.toml", "pyproject.toml", ".env"])
def test_a_folders_settings_may_be_no_file(tmp_path: Path, name: str, kind: str) -> None:
    special_file(tmp_path / name, kind)

    def read() -> Settings:
        use_files(env=tmp_path / name if name == ".env" else None)
        return configured(folder=tmp_path)

    if kind == "pipe":  # one that nobody writes to is empty
        assert read() == Settings()
    else:
        with pytest.raises(SettingsError, match=name):
            read()


def test_an_env_file_is_bounded(tmp_path: Path) -> None:
    with (tmp_path / ".env").open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(SettingsError, match="more than"):
        use_files(env=tmp_path / ".env")


def made_run(root: Path) -> Path:
    with RunStore.create(root, "Silk Road", "storm") as store:
        store.begin(Settings())
        for name in ("article.json", "outline.md", "events.jsonl"):
            (store.folder / name).write_text("{}\n")
        store.update_state(status="finished")
        return store.folder


@pytest.mark.parametrize("kind", ["pipe", "/dev/zero", "my own file", "endless"])
@pytest.mark.parametrize(
    "name", ["run.json", "settings.json", "journal.jsonl", "events.jsonl", "article.json", "outline.md", "run.lock"]
)
def test_what_is_no_file_of_a_run_is_not_read(tmp_path: Path, name: str, kind: str) -> None:
    """A folder from elsewhere may hold anything: nothing hangs, and no other file is read or changed."""
    folder = made_run(tmp_path / "runs")
    others = made_run(tmp_path / "runs")
    shutil.rmtree(folder / name) if (folder / name).is_dir() else (folder / name).unlink(missing_ok=True)
    mine = tmp_path / "mine"
    mine.write_text("my own text")
    if kind == "endless":
        with (folder / name).open("wb") as file:
            file.truncate(2**40)
    elif kind == "my own file":
        (folder / name).symlink_to(mine)
    else:
        special_file(folder / name, kind)
    assert {entry.folder for entry in list_runs(tmp_path / "runs")} == {folder, others}
    served = RunFolders(tmp_path / "runs")
    for read in (
        lambda: served.article(folder.name),
        lambda: served.outline(folder.name),
        lambda: served.settings(folder.name),
    ):
        with suppress(RunError):
            assert "my own text" not in str(read())
    if kind != "endless":
        assert EventFile(folder, 0).read() == (() if name == "events.jsonl" else ((1, {}),))
    run_entry(folder)
    for command in (["show"], ["export", "--to", "wikitext"], ["resume", "--search", "none"]):
        result = CliRunner().invoke(app, [command[0], str(folder), *command[1:]])
        assert "unexpected" not in result.output and "my own text" not in result.output
    assert mine.read_text() == "my own text"


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
