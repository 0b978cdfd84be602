"""Shared parts of the benchmarks: options and Markdown tables."""

import argparse
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from storm_pipeline.errors import StormError
from storm_pipeline.text.formatting import printable

ROOT = Path(__file__).resolve().parents[2]


def options(doc: str | None, *shared: str) -> argparse.ArgumentParser:
    """Return a parser with a module's docstring and the named ones of the options ``data`` and ``cache``."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    defaults = {"data": Path(os.environ.get("STORM_DATA", ROOT.parent / "shared" / "data")), "cache": ROOT / "cache"}
    for name in shared:
        parser.add_argument(f"--{name}", type=Path, default=defaults[name])
    return parser


def print_table(head: Sequence[str], rows: Iterable[Sequence[object]], *, marks: str = "") -> None:
    """Print a Markdown table; ``marks`` has ``<`` or ``>`` for each column, by default ``<``."""
    aligned = (f"---{':' if mark == '>' else ''}" for mark in marks or "<" * len(head))
    print(f"| {' | '.join(head)} |\n|{'|'.join(aligned)}|")
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |", flush=True)


@contextmanager
def stating_errors() -> Iterator[None]:
    """End the program with one line where files cannot be read, are too large, or hold something else."""
    try:
        yield
    except StormError as error:
        raise SystemExit(f"error: {printable(str(error))}") from error
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise SystemExit(f"error: a file cannot be read: {printable(str(error))}") from error
