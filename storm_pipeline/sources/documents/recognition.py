"""Text recognition of scans by OCRmyPDF and Tesseract: a searchable copy beside each file."""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from storm_pipeline.errors import CorpusError, MissingExtraError, unforeseen
from storm_pipeline.run.child_process import run

SUFFIX = ".ocr.pdf"  # what a searchable copy is called: ``minutes.pdf`` becomes ``minutes.ocr.pdf``
_SECONDS = 3600
# 4 GB of memory and an hour of processor time for each of its processes, but on Windows
_LIMIT = (
    "import os, resource as r, sys; r.setrlimit(r.RLIMIT_DATA, (4_000_000_000,) * 2); "
    f"r.setrlimit(r.RLIMIT_CPU, ({_SECONDS},) * 2); os.execv(sys.argv[1], sys.argv[1:])"
)
_LIMITED = (sys.executable, "-P", "-c", _LIMIT) if find_spec("resource") else ()
_INSTALL = (
    "text recognition needs OCRmyPDF and Tesseract: pip install 'storm-pipeline[ocr]', and install the system's "
    "packages tesseract-ocr and ghostscript"
)


def searchable_copy(file: Path) -> Path:
    """Return the path of a scan's searchable copy."""
    return file.with_name(file.name[: -len(file.suffix)] + SUFFIX)


def recognise(file: Path, language: str = "eng") -> Path:
    """Make a searchable copy of a PDF beside it. ``language``: Tesseract's codes, such as ``deu+eng``.

    Raises MissingExtraError: OCRmyPDF or Tesseract is not installed; CorpusError: the recognition fails.
    """
    file = file.absolute()  # a name that begins with a dash is no option
    copy = searchable_copy(file)
    made = copy.with_name(f".{copy.name}.part.pdf")
    command = [*_LIMITED, *_program(), "--skip-text", "--quiet", f"--language={language}", str(file), str(made)]
    try:
        done = run(command, seconds=_SECONDS)
        if done.returncode or not made.is_file():
            said = done.stderr.decode("utf-8", "replace").strip()[-300:]
            raise CorpusError(f"{file} could not be recognised ({said or 'no reason given'})")
        os.replace(made, copy)  # noqa: PTH105
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CorpusError(f"{file} could not be recognised ({unforeseen(error)})") from error
    finally:
        made.unlink(missing_ok=True)
    return copy


def _program() -> list[str]:
    if not shutil.which("tesseract"):
        raise MissingExtraError(_INSTALL)
    if found := shutil.which("ocrmypdf"):
        return [found]
    if find_spec("ocrmypdf"):
        return [sys.executable, "-P", "-m", "ocrmypdf"]  # -P: no module of the current folder
    raise MissingExtraError(_INSTALL)
