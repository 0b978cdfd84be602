"""The report of a round: tables in the papers' layout as Markdown, all results as JSON, and the ratings as CSV."""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

from storm_bench.errors import RatingError
from storm_bench.raters.results import Mean, Rating, Results
from storm_bench.raters.scales import ERRORS, FACTS, PUBLISHED, SCALES, USEFULNESS
from storm_bench.reporting.formats import UNDEFINED, p_value
from storm_bench.reporting.markdown import template, tidied
from storm_bench.reporting.plots import drawings
from storm_pipeline.api import write_atomically

_LEVELS = next(iter(USEFULNESS.values())).levels
_COLOURS = ("#b35806", "#f1a340", "#bbbbbb", "#998ec3", "#542788")
"""From strong disagreement to strong agreement; distinct for the colour-blind."""


def write_report(folder: Path, results: Results) -> list[Path]:
    """Write ``report.md``, ``results.json``, ``means.csv``, ``ratings.csv``, and ``figure-3.svg`` if it was asked.

    Equal answers give equal bytes. Raises RatingError: the folder cannot be written.
    """
    files = {
        "report.md": markdown(results),
        "results.json": json.dumps(results.as_record(), indent=1, ensure_ascii=False),
        "means.csv": _table(Mean, results.means),
        "ratings.csv": _table(Rating, results.ratings),
    }
    if _has_figure(results):
        files["figure-3.svg"] = figure_3(results)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            write_atomically(folder / name, text)
    except OSError as error:
        raise RatingError(f"cannot write {folder}: {error.strerror}; choose another folder with --out") from error
    return [folder / name for name in files]


def markdown(results: Results) -> str:
    """Return the report as Markdown."""
    pairs = dict.fromkeys((row.first, row.second) for row in results.differences)
    values = {
        "results": results,
        "kinds": Counter(results.raters.values()),
        "questions": SCALES | results.questions,
        "statements": USEFULNESS,
        "published": PUBLISHED,
        "has_storm": any(name.startswith("storm.") for name in results.questions) and bool(pairs),
        "tables_6": list(pairs),
        "rows_6": lambda first, second: _table_6(results, first, second),
        "scale_note": _good_note(results),
        "fact_labels": list(FACTS),
        "error_labels": list(ERRORS),
        "levels": _LEVELS,
        "figure": _has_figure(results),
        "span": _span,
        "share": _share,
    }
    return tidied(template("storm_bench.raters").render(values))


def figure_3(results: Results) -> str:
    """Return a bar for each statement on usefulness, its parts as long as the shares of levels, as SVG."""
    text = io.StringIO()
    with drawings() as made:
        drawing = made(figsize=(7.2, 1.0 + 0.6 * len(results.usefulness)), layout="constrained")
        axes = drawing.subplots()
        for place, row in enumerate(results.usefulness):
            start, total = 0.0, sum(row["counts"])
            for colour, count in zip(_COLOURS, row["counts"], strict=True):
                axes.barh(place, 100 * count / total, left=start, color=colour, height=0.6)
                start += 100 * count / total
        axes.set_yticks(range(len(results.usefulness)), [SCALES[row["statement"]].title for row in results.usefulness])
        axes.set_xlim(0, 100)
        axes.set_ylim(len(results.usefulness) - 0.5, -0.5)
        axes.set_xlabel("% of raters")
        for colour, level in zip(_COLOURS, _LEVELS, strict=True):
            axes.bar(0, 0, color=colour, label=level)
        drawing.legend(loc="outside lower center", ncols=3, frameon=False)
        drawing.savefig(text, format="svg", metadata={"Date": None, "Creator": None, "Title": "Usefulness"})
    return text.getvalue()


def _has_figure(results: Results) -> bool:
    return bool(results.usefulness) and find_spec("matplotlib") is not None


def _table_6(results: Results, first: str, second: str) -> list[list[str]]:
    """Return the rows of a comparison in the layout of STORM's table 6, with intervals and further p-values."""
    means = {(row.question, row.system): row for row in results.means}
    rows = []
    for row in (one for one in results.differences if (one.first, one.second) == (first, second)):
        own = [means[row.question, system] for system in (first, second)]
        cells = [cell for mean in own for cell in (f"{mean.mean:.2f} {_span(mean)}".strip(), _share(mean.good))]
        tests = map(p_value, (row.t_test, row.corrected_t, row.corrected_permutation))
        rows.append([results.questions[row.question].title, *cells, *tests])
    for preferred in results.preferences:
        if (preferred["first"], preferred["second"]) == (first, second):
            one, other = map(str, preferred["preferred"])
            rows.append(["#Preferred", one, "", other, "", p_value(preferred["p"]), "", ""])
    return rows


def _good_note(results: Results) -> str:
    bounds = {scale.good for scale in results.questions.values()}
    return f"≥ {bounds.pop()}" if len(bounds) == 1 and None not in bounds else "good"


def _span(mean: Mean) -> str:
    return "" if mean.low is None or mean.high is None else f"[{mean.low:.2f}, {mean.high:.2f}]"


def _share(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.1%}"


def _table(kind: type, rows: Iterable[Mean | Rating]) -> str:
    """Return rows as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(kind.__annotations__), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        values = row._asdict() | {"shown": " | ".join(row.shown)} if isinstance(row, Rating) else asdict(row)
        writer.writerow({name: _as_cell(value) for name, value in values.items()})
    return text.getvalue()


def _as_cell(value: object) -> object:
    """Return a value as a cell that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value[:1] in {*"=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"} else value
