"""A file that is replaced as a whole: never half of it, whatever happens."""

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.text.files import cannot_write, write_atomically


@given(st.lists(st.text(st.characters(codec="utf-8")), min_size=1, max_size=3))
def test_the_last_text_stands_to_the_byte_and_nothing_else(texts: list[str]) -> None:
    with TemporaryDirectory() as name:
        path = Path(name) / "state.json"
        for text in texts:
            write_atomically(path, text)
        assert path.read_bytes() == texts[-1].encode()
        assert list(Path(name).iterdir()) == [path]


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


def test_a_file_may_be_read_by_whom_the_user_lets(tmp_path: Path) -> None:
    write_atomically(tmp_path / "ours", "x")
    (tmp_path / "plain").write_text("x")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.ENOSPC, "No space left on device; free some space"),
        (errno.EDQUOT, "free some space"),
        (errno.EROFS, "Read-only file system; make the disk writable again"),
        (errno.EIO, "check the disk"),
        (errno.EACCES, "Permission denied; check the folder's permissions"),
        (errno.EPERM, "check the folder's permissions"),
        (errno.ENOENT, "restore the folder"),
        (errno.EMFILE, "see that the folder can be written"),
    ],
)
def test_a_file_that_cannot_be_written_is_named_with_what_helps(number: int, remedy: str) -> None:
    told = cannot_write(Path("runs/x/run.json"), OSError(number, os.strerror(number)))
    assert told.startswith("cannot write runs/x/run.json: ")
    assert told.endswith(remedy)
