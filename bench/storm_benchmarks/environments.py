"""Clean environments: how long the package takes to install, what it takes on the disk, and whether it writes there.

    python -m storm_benchmarks.environments [--python python3.11 …] [--tool venv uv] [--torch 2.13.0] [--embedded]

For each interpreter and tool: builds the wheel, installs it in a new environment outside the checkout, without the
tool's cache, and writes an article in an empty folder with a scripted endpoint (`bench_server.py`) or, with
--embedded, with the embedded model. Indexes are those that pip and uv are configured for. Prints a Markdown table; a
failure ends the program with its output.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from storm_benchmarks.bench_server import serving
from storm_benchmarks.shared import ROOT, options
from storm_pipeline.assets import EMBEDDER, LEADS, fetch
from storm_pipeline.render.json import from_json
from storm_pipeline.types import Article

HEADER = (
    "| Python | installed by | torch | minutes | MB | packages | article written by | seconds | words | references |"
)
HIDDEN = ("PYTHONPATH", "VIRTUAL_ENV", "PYTHONHOME")


@dataclass(frozen=True)
class Installed:
    """An environment: its interpreter and its ``storm`` command."""

    python: Path
    storm: Path
    folder: Path


def main() -> None:
    """Print one row for each environment."""
    parser = options(__doc__)
    parser.add_argument("--python", nargs="+", default=["python3.11", "python3.12", "python3.13"], metavar="PATH")
    parser.add_argument("--tool", nargs="+", choices=["venv", "uv"], default=["venv", "uv"])
    parser.add_argument("--torch", default="2.13.0", help="version of torch; the index decides which build")
    parser.add_argument("--embedded", action="store_true", help="write with the embedded model (several minutes)")
    parser.add_argument("--cache", type=Path, default=ROOT / "cache", help="folder of the pinned downloads")
    args = parser.parse_args()
    fetch(EMBEDDER, args.cache)
    print(HEADER)
    print("|" + "---|" * (HEADER.count("|") - 1), flush=True)
    with tempfile.TemporaryDirectory(prefix="storm-environments-") as scratch:
        wheel = build(Path(scratch))
        for python in args.python:
            for tool in args.tool:
                with environment(tool, python, scratch) as folder:
                    print(row(tool, python, wheel, folder, args), flush=True)


def row(tool: str, python: str, wheel: Path, folder: Path, args: argparse.Namespace) -> str:
    """Install, write and measure in one environment; ``folder`` is empty."""
    cache = args.cache.absolute()
    requirement = f"{wheel}[local]" if args.embedded else str(wheel)
    start = time.monotonic()
    installed = INSTALLERS[tool](python, f"torch=={args.torch}", requirement, folder / "environment")
    minutes = (time.monotonic() - start) / 60
    asked = "import platform, torch, importlib.metadata as m; print(platform.python_version(), torch.__version__, "
    asked += "len(list(m.distributions())))"
    version, torch, packages = run([installed.python, "-c", asked], folder).split()
    with nullcontext() if args.embedded else serving(fetch(LEADS, cache)) as bench:
        start = time.monotonic()
        article = written(installed, folder, cache, f"{bench.url}/v1" if bench else None)
        seconds = time.monotonic() - start
    words = sum(len(sentence.text.split()) for sentence in article.sentences())
    writer = "the embedded model" if args.embedded else "a scripted endpoint"
    cells = (
        f"{version} | {tool} | {torch} | {minutes:.1f} | {megabytes(installed.folder):,.0f} | {packages} | {writer} | "
        f"{seconds:.0f} | {words} | {len(article.references)}"
    )
    return f"| {cells} |"


def build(scratch: Path) -> Path:
    """The wheel, built from the checkout."""
    run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", scratch, ROOT], scratch)
    (wheel,) = scratch.glob("*.whl")
    return wheel


@contextmanager
def environment(tool: str, python: str, scratch: str) -> Iterator[Path]:
    """An empty folder for one environment and its run, removed afterwards."""
    folder = Path(scratch) / f"{tool}-{Path(python).parts[-1]}"
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def with_venv(python: str, torch: str, wheel: str, folder: Path) -> Installed:
    """``python -m venv``, then pip."""
    run([python, "-m", "venv", folder], folder.parent)
    run([folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-cache-dir", torch, wheel], folder.parent)
    return Installed(folder / "bin" / "python", folder / "bin" / "storm", folder)


def with_uv(python: str, torch: str, wheel: str, folder: Path) -> Installed:
    """``uv tool install``."""
    commands = folder.parent / "bin"
    places = {"UV_TOOL_DIR": str(folder), "UV_TOOL_BIN_DIR": str(commands)}
    run(
        ["uv", "tool", "install", "--quiet", "--no-cache", "--python", python, "--with", torch, wheel],
        folder.parent,
        **places,
    )
    return Installed(folder / "storm-pipeline" / "bin" / "python", commands / "storm", folder)


INSTALLERS = {"venv": with_venv, "uv": with_uv}


def written(installed: Installed, folder: Path, cache: Path, endpoint: str | None) -> Article:
    """An article that ``storm write`` wrote in an empty folder."""
    work = folder / "work"
    work.mkdir()
    small = ["--perspectives", "2", "--turns", "2"] if endpoint else ["--perspectives", "1", "--turns", "1"]
    lm = ["--lm", "openai/scripted", "--api-base", endpoint] if endpoint else ["--lm", "embedded:1.5b"]
    asked = ["write", "Renaissance", "--search", "wiki-leads", *lm, *small, "--quiet"]
    run([installed.storm, *asked, "--cache", cache], work, OPENAI_API_KEY="none")
    (path,) = work.glob("runs/*/article.json")
    article = from_json(path.read_text(encoding="utf-8"))
    if not article.references or any(not sentence.citations for sentence in article.sentences()):
        raise SystemExit(f"the article of {installed.folder} has sentences without a citation, or no references")
    return article


def megabytes(folder: Path) -> float:
    """What a folder takes on the disk, hard links counted once."""
    files = {(stat.st_dev, stat.st_ino): stat.st_blocks * 512 for stat in map(Path.lstat, folder.rglob("*"))}
    return sum(files.values()) / 1e6


def run(command: Sequence[str | Path], folder: Path, **variables: str) -> str:
    """Standard output of a command that sees nothing of the checkout; a failure ends the program."""
    clean = {name: value for name, value in os.environ.items() if name not in HIDDEN} | variables
    done = subprocess.run(list(map(str, command)), cwd=folder, env=clean, capture_output=True, text=True, check=False)
    if done.returncode:
        shown = re.sub(r"\s+$", "", done.stdout + done.stderr)[-3000:]
        raise SystemExit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{shown}")
    return done.stdout


if __name__ == "__main__":
    main()
