"""What the benchmarks share: options, Markdown tables, and readers of labelled data."""

import argparse
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_FIELD = re.compile(r"<(docno|title|text)>(.*?)</\1>", re.S)


def options(doc: str | None, *shared: str) -> argparse.ArgumentParser:
    """A parser of options that shows a module's docstring, with those of ``data`` and ``cache`` that are named."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    defaults = {"data": Path(os.environ.get("STORM_DATA", ROOT.parent / "shared" / "data")), "cache": ROOT / "cache"}
    for name in shared:
        parser.add_argument(f"--{name}", type=Path, default=defaults[name])
    return parser


def print_table(head: Sequence[str], rows: Iterable[Sequence[object]], *, marks: str = "") -> None:
    """A Markdown table, row by row; ``marks`` has one of ``<`` and ``>`` for each column, by default all ``<``."""
    aligned = (f"---{':' if mark == '>' else ''}" for mark in marks or "<" * len(head))
    print(f"| {' | '.join(head)} |\n|{'|'.join(aligned)}|")
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |", flush=True)


def cranfield(folder: Path) -> tuple[dict[str, tuple[str, str]], dict[str, str], dict[str, set[str]]]:
    """Cranfield's abstracts (title and text), its questions, and the relevant abstracts of each: grades from 1 up.

    Judgements refer to questions by their position in the file, from 1, whatever their ``<num>`` is.
    """
    pages = {}
    for document in (folder / "cran.all.1400.xml").read_text(encoding="utf-8").split("</doc>"):
        fields = {name: " ".join(value.split()) for name, value in _FIELD.findall(document)}
        if fields.get("text"):
            pages[fields["docno"]] = (fields["title"], fields["text"])
    asked = re.findall(r"<title>(.*?)</title>", (folder / "cran.qry.xml").read_text(encoding="utf-8"), re.S)
    queries = {str(n): " ".join(text.split()) for n, text in enumerate(asked, 1)}
    relevant: dict[str, set[str]] = {}
    for line in (folder / "cranqrel.trec.txt").read_text(encoding="utf-8").splitlines():
        query, _, page, grade = line.split()
        if int(grade) >= 1 and page in pages:
            relevant.setdefault(query, set()).add(page)
    return pages, queries, relevant
