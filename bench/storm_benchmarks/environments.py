"""Clean environments: whether the package installs, and writes an article there.

    python -m storm_benchmarks.environments [--python python3.11 …] [--tool venv uv] [--torch 2.13.0] [--embedded]

For each interpreter and tool: builds the wheel, installs it in a new environment outside the checkout, without the
tool's cache, and writes an article in an empty folder with a scripted endpoint (`faults/server.py`) or, with
--embedded, with the embedded model. Indexes are those that pip and uv are configured for. A failure ends the program
with its output.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

from storm_benchmarks.faults.server import serving
from storm_benchmarks.shared import ROOT, options
from storm_pipeline.run.article_json import from_json
from storm_pipeline.run.assets import EMBEDDER, LEADS, fetch

HIDDEN = ("PYTHONPATH", "VIRTUAL_ENV", "PYTHONHOME")


def main() -> None:
    """Print one line for each environment."""
    parser = options(__doc__, "cache")
    parser.add_argument("--python", nargs="+", default=["python3.11", "python3.12", "python3.13"], metavar="PATH")
    parser.add_argument("--tool", nargs="+", choices=["venv", "uv"], default=["venv", "uv"])
    parser.add_argument("--torch", default="2.13.0", help="version of torch; the index decides which build")
    parser.add_argument("--embedded", action="store_true", help="write with the embedded model (several minutes)")
    args = parser.parse_args()
    for asset in (EMBEDDER, LEADS):
        fetch(asset, args.cache)
    with tempfile.TemporaryDirectory(prefix="storm-environments-") as scratch:
        run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", scratch, ROOT, folder=scratch)
        (wheel,) = Path(scratch).glob("*.whl")
        for python in args.python:
            for tool in args.tool:
                with tempfile.TemporaryDirectory(dir=scratch) as folder:
                    start = time.monotonic()
                    command = installed(tool, python, args, wheel, Path(folder))
                    took = f"{(time.monotonic() - start) / 60:.1f} minutes"
                    print(f"{python} by {tool}: {took}; {written(command, args, Path(folder))}", flush=True)


def installed(tool: str, python: str, args: argparse.Namespace, wheel: Path, folder: Path) -> Path:
    """Return the ``storm`` command of a new environment in a folder."""
    torch, package = f"torch=={args.torch}", f"{wheel}[local]" if args.embedded else str(wheel)
    if tool == "venv":
        run(python, "-m", "venv", folder / "environment", folder=folder)
        pip = ["-m", "pip", "install", "--quiet", "--no-cache-dir"]
        run(folder / "environment" / "bin" / "python", *pip, torch, package, folder=folder)
        return folder / "environment" / "bin" / "storm"
    places = {"UV_TOOL_DIR": str(folder / "environment"), "UV_TOOL_BIN_DIR": str(folder / "bin")}
    uv = ["uv", "tool", "install", "--quiet", "--no-cache", "--python", python, "--with", torch, package]
    run(*uv, folder=folder, **places)
    return folder / "bin" / "storm"


def written(command: Path, args: argparse.Namespace, folder: Path) -> str:
    """Run an installed command in an empty folder; return its output."""
    cache = args.cache.absolute()
    (work := folder / "work").mkdir()
    start = time.monotonic()
    with nullcontext() if args.embedded else serving(folder / "calls.jsonl") as bench:
        lm = ["--lm", bench.lm("written") if bench else "embedded:1.5b"]
        asked = [*"write Renaissance --search wiki-leads --perspectives 1 --turns 1 --quiet".split(), *lm]
        run(command, *asked, "--cache", cache, folder=work, OPENAI_API_KEY="none")
    (path,) = work.glob("runs/*/article.json")
    article = from_json(path.read_text(encoding="utf-8"))
    if not article.references or any(not sentence.citations for sentence in article.sentences()):
        raise SystemExit(f"the article of {command} has sentences without a citation, or no references")
    return f"{len(list(article.sentences()))} sentences in {time.monotonic() - start:.0f} s"


def run(*command: str | Path, folder: str | Path, **variables: str) -> str:
    """Return the standard output of a command that sees nothing of the checkout; a failure ends the program."""
    clean = {name: value for name, value in os.environ.items() if name not in HIDDEN} | variables
    done = subprocess.run(list(map(str, command)), cwd=folder, env=clean, capture_output=True, text=True, check=False)
    if done.returncode:
        shown = (done.stdout + done.stderr).rstrip()[-3000:]
        raise SystemExit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{shown}")
    return done.stdout


if __name__ == "__main__":
    main()
