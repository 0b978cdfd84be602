"""Shared parts of the benchmarks: options, Markdown tables, memory, and the parts of a source nearest to a sentence."""

import argparse
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from storm_pipeline.errors import StormError
from storm_pipeline.text.chunks import chunks
from storm_pipeline.text.formatting import printable
from storm_pipeline.text.lexical import terms

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


def resident(*, mapped: bool = True) -> float:
    """Return the resident megabytes of this process; ``mapped``: with mapped files."""
    memory = psutil.Process().memory_info()
    return float(memory.rss - (0 if mapped else memory.shared)) / 1e6


def nearest_parts(source: str, sentence: str, words: int) -> list[str]:
    """Return the parts of a source, those with most of a sentence's content words first: what a search would find."""
    wanted = frozenset(terms(sentence))
    return sorted(chunks(source, words), key=lambda part: -len(wanted & frozenset(terms(part))))
