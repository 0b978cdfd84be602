"""The runs of a server: names, events as they are written, and formats."""

import io
import json
import os
import re
import zipfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from articles import article, section, sentence, source
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.errors import SettingsError
from storm_pipeline.interfaces.server.callers import digest
from storm_pipeline.interfaces.server.errors import UnknownRunError
from storm_pipeline.interfaces.server.records import RunRecord, records_folder
from storm_pipeline.interfaces.server.redaction import Redactor
from storm_pipeline.interfaces.server.remote_settings import article_as, article_formats
from storm_pipeline.interfaces.server.run_folders import EventFile, RunFolders
from storm_pipeline.types import Problem, Report, Snippet, Source

SILK = source("silk", "Silk was sold in Palmyra.")
ARTICLE = article(section("Goods", sentence("Silk was sold there.", SILK)), sources=(SILK,))
RUNS = ("silk-road-1", "seidenstraße-2")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs beside a hidden one, a link, an empty folder and a file."""
    root = tmp_path_factory.mktemp("server") / "runs"
    for name in (*RUNS, ".hidden", "../outside"):
        (root / name).mkdir(parents=True)
        (root / name / "run.json").write_text("{}")
    (root / "link").symlink_to(root / RUNS[0])
    (root / "empty").mkdir()
    (root / "run.json").write_text("{}")
    return root


def test_wrong_keys_of_links_read_no_records(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders, read, taken = RunFolders(root), list[Path](), Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read.append(path) or taken(path))
    for name in RUNS:
        RunFolders(root).records.put(name, RunRecord(shared=digest(name)))  # by another process
        os.utime(records_folder(root) / "runs", (0, len(name)))  # as if that were long ago
        assert folders.shared(name) == name
        for key in map(str, range(9)):
            with pytest.raises(UnknownRunError, match="not shared"):
                folders.shared(key)
    assert len(read) < 9


PIECES = st.sampled_from(["..", ".", "/", "\\", "outside", "link", "empty", "run.json", ".hidden", "\0", *RUNS])


@given(name=st.one_of(st.text(), st.lists(PIECES, max_size=4).map("".join)))
def test_only_the_name_of_a_run_leads_to_a_folder(root: Path, name: str) -> None:
    if name in RUNS:
        assert RunFolders(root).path(name) == root / name
    else:
        with pytest.raises(UnknownRunError):
            RunFolders(root).path(name)


RECORDS = st.dictionaries(st.text(max_size=5), st.text(max_size=9), max_size=3).map(json.dumps)
LINES = st.lists(RECORDS | st.sampled_from(["", "{", "[1]", "3", "null", '{"event": "cut']), max_size=8)


@given(lines=LINES, cuts=st.lists(st.integers(0, 400), max_size=6), after=st.integers(0, 9))
def test_events_are_the_same_however_the_file_grows(lines: list[str], cuts: list[int], after: int) -> None:
    data = "".join(f"{line}\n" for line in lines).encode()
    expected = []
    for number, line in enumerate(lines, start=1):
        with suppress(ValueError):
            record = json.loads(line)
            if isinstance(record, dict) and number > after:
                expected.append((number, record))
    with TemporaryDirectory() as folder:
        file = EventFile(Path(folder), after)
        found = list(file.read())
        for cut in [*sorted(cuts), len(data)]:
            (Path(folder) / "events.jsonl").write_bytes(data[:cut])
            found += file.read()
    assert found == expected


@given(st.one_of(st.text(st.sampled_from("apa-./\\~A é\n"), max_size=9), st.just("a" * 101)))
def test_a_citation_style_is_never_a_path(style: str) -> None:
    if not re.fullmatch("[ap][ap-]{0,99}", style):
        with pytest.raises(SettingsError, match="given by its name"):
            article_as(ARTICLE, "docx", citation_style=style)


@pytest.mark.parametrize("name", [one.name for one in article_formats() if one.name not in ("json", "pdf")])
def test_documents_of_the_owner_leave_by_their_names(name: str) -> None:
    notes = Snippet("file:///home/me/secret%20project/My%20notes.txt", "", "Silk was sold there.")
    own = Source(notes.source_id, notes.url, "", (notes,))
    content = article_as(article(section("Goods", sentence("Silk was sold.", own)), sources=(own,)), name)
    shown = unpacked(content).replace(b"\\", b"")  # which escape what is Markdown
    assert b"secret" not in shown
    assert b"home/me" not in shown
    assert b"My notes.txt" in shown


def unpacked(content: bytes) -> bytes:
    """The content, or that of all files in it where it is an archive."""
    if not content.startswith(b"PK"):
        return content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return b"\n".join(archive.read(entry) for entry in archive.namelist())


def test_an_article_leaves_without_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-123456")
    leaking = replace(ARTICLE, report=Report(problems=(Problem("run", "failure", "bad key sk-123456"),)))
    shown = Redactor().article(leaking)
    assert shown.report.problems == (Problem("run", "failure", "bad key ***"),)
    assert shown.sections == leaking.sections
