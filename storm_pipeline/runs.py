"""A run's folder: each finished piece is saved as it is done, and nothing is ever overwritten by another run."""

import json
import os
import re
import tempfile
import time
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from storm_pipeline.errors import RunError


class RunStore:
    """Writes the pieces of one run into its folder, atomically; without a folder it writes nothing."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    @classmethod
    def create(cls, root: Path, topic: str) -> "RunStore":
        """Make a new folder ``<slug>-<time>`` below ``root``.

        Raises:
            RunError: the folder cannot be made.
        """
        name = f"{slug(topic)}-{time.strftime('%Y%m%d-%H%M%S')}"
        for attempt in range(100):
            folder = root / (name if attempt == 0 else f"{name}-{attempt + 1}")
            try:
                folder.mkdir(parents=True)
            except FileExistsError:
                continue
            except OSError as error:
                raise RunError(
                    f"cannot make a run folder in {root}: {error.strerror}; choose another with --out"
                ) from error
            return cls(folder)
        raise RunError(f"cannot find a free name for {name} in {root}; choose another folder with --out")

    def save_text(self, name: str, text: str) -> None:
        """Write one text file.

        Raises:
            RunError: the file cannot be written.
        """
        if self.folder is None:
            return
        try:
            write_atomically(self.folder / name, text)
        except OSError as error:
            raise RunError(
                f"cannot write {self.folder / name}: {error.strerror}; free some space or choose --out"
            ) from error

    def save_json(self, name: str, value: Any) -> None:
        """Write dataclasses, models and plain values as indented JSON; errors as :meth:`save_text`."""
        plain = TypeAdapter(type(value)).dump_python(value, mode="json")
        self.save_text(name, json.dumps(plain, ensure_ascii=False, indent=1) + "\n")


def slug(topic: str) -> str:
    """The topic as a file name: words joined by hyphens, at most 60 characters, never empty."""
    return re.sub(r"[\W_]+", "-", topic.casefold()).strip("-")[:60].rstrip("-") or "topic"


def write_atomically(path: Path, text: str) -> None:
    """Write UTF-8 text so that at any moment the path holds the old or the new file, whole."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
