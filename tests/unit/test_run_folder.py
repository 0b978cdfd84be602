"""A run's folder: names made of topics and headings."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.errors import RunError
from storm_pipeline.run.folder import RunStore, slug
from storm_pipeline.run.locking import locked

LONGEST = 143
"""Bytes of a file name on the file system that allows fewest (eCryptfs)."""
SCRIPTS = ("abz ", "äßœ-", "жщя ", "漢字仮", "𐎠𐎡𐎢", "𠀀𠀁𠀂", "\U0001f9f5 _/.")


@given(st.sampled_from(SCRIPTS).flatmap(lambda letters: st.text(st.sampled_from(letters), max_size=300)))
def test_names_fit_every_file_system(topic: str) -> None:
    name = slug(topic)
    assert name
    assert len(name) <= 60
    assert len(f"{name}-20260102-030405-100".encode()) <= LONGEST
    assert len(f"123-{name}-0a1b2c.json.99.changed".encode()) <= LONGEST
    assert name == slug(name)


def test_short_names_are_kept_whole() -> None:
    assert slug("C++ & Silk/Road: a 'test'") == "c-silk-road-a-test"
    assert slug("Шёлковый путь") == "шёлковый-путь"
    assert slug("x" * 99) == "x" * 60
    assert slug("?!") == "topic"


def test_a_topic_and_a_heading_of_four_byte_letters_are_saved() -> None:
    letters = "\U00010380" * 60
    with TemporaryDirectory() as root, RunStore.create(Path(root), letters, "storm") as run:
        run.save_text(f"sections/01-{slug(letters)}.json", "{}")
        run.save_text(f"conversations/{slug(letters)}-0a1b2c.json", "{}")
        assert run.folder.name.startswith("\U00010380" * 25 + "-")


@pytest.mark.parametrize("name", ["", "sections", "sections/deep"])
def test_a_folder_that_cannot_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    (tmp_path / "run" / "sections" / "deep").mkdir(parents=True)
    hidden, scandir = tmp_path / "run" / name, os.scandir

    def listed(path: Any = ".") -> Any:
        if os.fspath(path) == os.fspath(hidden):  # of mode 0311; root may look into that too
            raise PermissionError(13, "Permission denied", os.fspath(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", listed)
    with pytest.raises(RunError, match=r"cannot look into .*Permission denied"):
        locked(tmp_path / "run", "run.lock")
    assert not (tmp_path / "run" / "run.lock").exists()
