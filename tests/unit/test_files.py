"""Files that are replaced as a whole, and files that are none: pipes, devices, folders, links, full disks."""

import errno
import json
import os
import resource
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from commands import run_storm
from hypothesis import given
from hypothesis import strategies as st
from special_files import SPECIAL, special_file

from storm_pipeline.errors import RunError, SettingsError, StormError
from storm_pipeline.interfaces.batch import read_topics
from storm_pipeline.interfaces.configuration.layers import load_settings
from storm_pipeline.interfaces.listing import list_runs, run_entry, run_state
from storm_pipeline.interfaces.server.run_folders import EventFile, RunFolders
from storm_pipeline.method.context import read_outline
from storm_pipeline.run.folder import RunStore, is_held
from storm_pipeline.run.locking import lock_folder
from storm_pipeline.settings import Settings
from storm_pipeline.text import files
from storm_pipeline.text.configuration.variables import use_files
from storm_pipeline.text.files import cannot_write, read_bounded, write_atomically


def test_a_write_that_fails_leaves_the_old_file_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state.json"
    write_atomically(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "begun, then \ud800")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_gone_is_not_made_again(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "gone" / "state.json", "text")
    assert list(tmp_path.iterdir()) == []


def test_writers_at_once_and_long_names_do_not_meet(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    texts = [str(number) * 50_000 for number in range(8)]
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda text: write_atomically(path, text), texts))
    assert path.read_text() in texts
    assert list(tmp_path.iterdir()) == [path]
    (tmp_path / "plain").write_text("x")
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode, "whom the user lets may read it"


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="os.walk has no limit there")
@pytest.mark.parametrize("command", [["check", "--offline"], ["documents"]])
def test_folders_nested_too_deeply_are_named(tmp_path: Path, command: list[str]) -> None:
    deep = tmp_path
    for _ in range(1500):
        deep /= "d"
        deep.mkdir()
    try:
        said = run_storm(*command, str(tmp_path)).output
        with pytest.raises(StormError, match="nested too deeply"):
            lock_folder(tmp_path, "run.lock")
    finally:
        while deep != tmp_path:
            deep.rmdir()
            deep = deep.parent
    assert f"error: {tmp_path} has folders nested too deeply: move or delete" in said


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.ENOSPC, "No space left on device; free some space"),
        (errno.EROFS, "Read-only file system; make the disk writable again"),
        (errno.EIO, "check the disk"),
        (errno.EACCES, "Permission denied; check the folder's permissions"),
        (errno.ENOENT, "restore the folder"),
        (errno.EMFILE, "see that the folder can be written"),
    ],
)
def test_a_file_that_cannot_be_written_is_named_with_what_helps(number: int, remedy: str) -> None:
    told = cannot_write(Path("runs/x/run.json"), OSError(number, os.strerror(number)))
    assert told.startswith("cannot write runs/x/run.json: ")
    assert told.endswith(remedy)


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


def test_a_pipe_is_read_in_a_process_with_many_open_files() -> None:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ExitStack() as stack:
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, limits)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(limits[0], 2000), limits[1]))
        for _ in range(1100):
            stack.callback(os.close, os.open(os.devnull, os.O_RDONLY))
        test_what_another_program_writes_is_read()


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


@pytest.mark.parametrize("kind", ["pipe", "/dev/zero", "folder", "loop", "endless"])
@pytest.mark.parametrize("name", ["storm.toml", "pyproject.toml", ".env"])
def test_a_folders_settings_may_be_no_file(tmp_path: Path, name: str, kind: str) -> None:
    special_file(tmp_path / name, kind)

    def read() -> Settings:
        use_files(env=tmp_path / name if name == ".env" else None)
        return load_settings(folder=tmp_path)

    if kind == "pipe":  # one that nobody writes to is empty
        assert read() == Settings()
    else:
        with pytest.raises(SettingsError, match=name):
            read()


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
    if kind == "my own file":
        (folder / name).symlink_to(mine)
    else:
        special_file(folder / name, kind)
    assert {entry.folder for entry in list_runs(tmp_path / "runs")} == {folder, others}
    served = RunFolders(tmp_path / "runs")
    for read in (served.article, served.outline, served.settings):
        with suppress(RunError):
            assert "my own text" not in str(read(folder.name))
    if kind != "endless":
        assert tuple(EventFile(folder, 0).read()) == (() if name == "events.jsonl" else ((1, {}),))
    run_entry(folder)
    for command in (["show"], ["export", "--to", "wikitext"], ["resume", "--search", "none"]):
        result = run_storm(command[0], str(folder), *command[1:])
        assert "unexpected" not in result.output and "my own text" not in result.output
    assert mine.read_text() == "my own text"


BLOATED = {
    "journal.jsonl": ('{"kind": "x", "key": "", "value": [' + "{}," * 1_000_001 + "0]}", "0\n" * 100_001),
    "events.jsonl": ('{"event": [' + "[]," * 1_000_001 + "0]}", "{}\n" * 100_001),
    "article.json": ('{"schema": 1, "article": [' + "{}," * 1_000_001 + "0]}",),
}


@pytest.mark.parametrize(("name", "content"), [(name, one) for name, found in BLOATED.items() for one in found])
def test_what_would_take_minutes_or_gigabytes_is_refused_by_name(tmp_path: Path, name: str, content: str) -> None:
    folder = made_run(tmp_path)
    (folder / name).write_text(content)
    article = folder / "article.json"
    commands = {
        "journal.jsonl": [["resume", folder, "--search", "none"], ["resume", folder, "--yes", "--search", "none"]],
        "events.jsonl": [["resume", folder, "--search", "none"], ["show", folder], ["runs", "--out", tmp_path]],
        "article.json": [[*one, "--to", "bibtex"] for one in (["export", folder], ["export", article])],
    }
    for command in commands[name]:
        result = run_storm(*command)
        text = " ".join(result.output.split())
        assert "it has more than 1" in text and (name in text or command[0] == "runs"), text


def test_an_article_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    folder = made_run(tmp_path)
    for text in ("[" * 100_000, '{"schema": 1, "article": ' + "9" * 5000 + "}", '{"schema": 1, "article": [1e999]}'):
        (folder / "article.json").write_text(text)
        result = run_storm("export", str(folder), "--to", "bibtex")
        assert result.exit_code == 1 and f"error: {folder / 'article.json'}: " in result.output.replace("\n", "")


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        *(("sessions", "9" * 4300, ""), ("topic", r'"Silk \ud800"', ""), ("from", r'"\udfff"', "")),
        ("topic", f'"{"Silk " * 100_000}"', "its topic has 500,000 characters"),
    ],
    ids=lambda text: text[:9],
)
def test_a_state_from_elsewhere_is_no_unexpected_fault(tmp_path: Path, field: str, value: str, said: str) -> None:
    folder = made_run(tmp_path)
    state = json.loads((folder / "run.json").read_text()) | {field: "VALUE"}
    (folder / "run.json").write_text(json.dumps(state).replace('"VALUE"', value))
    result = run_storm("resume", str(folder), "--yes", "--search", "none")
    assert result.exit_code and "unexpected" not in result.output and said in " ".join(result.output.split())


@pytest.mark.parametrize("status", ["running", "stopped"])
@pytest.mark.parametrize("kind", ["hard link", "link", "text"])
def test_a_lock_that_holds_something_or_leads_elsewhere_is_not_emptied(tmp_path: Path, kind: str, status: str) -> None:
    folder = made_run(tmp_path / "runs")
    state = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(state | {"status": status}))
    mine = tmp_path / "mine"
    mine.write_text("my own text")
    lock = folder / "run.lock"
    lock.unlink(missing_ok=True)
    if kind == "hard link":
        lock.hardlink_to(mine)
    elif kind == "link":
        lock.symlink_to(mine)
    else:
        lock.write_text("my own text")
    list_runs(tmp_path / "runs")
    run_state(folder)
    with pytest.raises(RunError, match=r"run\.lock .*delete it"):
        RunStore.open(folder)
    with pytest.raises(RunError, match=r"run\.lock .*delete it"):
        RunFolders(tmp_path / "runs").settings(folder.name)
    assert "my own text" in (mine.read_text(), lock.read_text() if kind == "text" else "")
    assert mine.read_text() == "my own text"


def test_looking_at_a_run_makes_no_lock_and_follows_no_link_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    folder = made_run(tmp_path / "runs")
    state = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(state | {"status": "running"}))
    (folder / "run.lock").unlink(missing_ok=True)
    (folder / "run.lock").symlink_to(tmp_path / "mine" / "made.txt")
    (tmp_path / "runs" / "other").symlink_to(tmp_path / "mine")
    list_runs(tmp_path / "runs")
    assert not is_held(folder) and not is_held(tmp_path / "runs" / "other")
    (folder / "run.lock").unlink()
    assert not is_held(folder)
    assert not (folder / "run.lock").exists()
    assert list((tmp_path / "mine").iterdir()) == []


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
    command = [sys.executable, "-m", "storm_pipeline", *arguments]
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=100)
    assert ended.returncode == 1
    assert "No space left on device" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "unexpected" not in ended.stderr
    assert ended.stderr.count("\n") == 1
