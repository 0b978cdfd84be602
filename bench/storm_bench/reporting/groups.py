"""Assigns measures to tables, as ``groups.toml`` says: the papers' tables first, then descriptive measures and cost."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from pydantic import TypeAdapter

from storm_bench.metrics.base import Measure


@dataclass(frozen=True)
class Group:
    """The layout of a table."""

    key: str  # short, for file names and anchors
    title: str
    measures: tuple[str, ...]  # names of its columns, in order
    origin: str = ""  # the paper's table it corresponds to; may be empty
    judged: tuple[str, ...] = ()  # measures that depend on a judge
    plotted: tuple[str, ...] = ()  # measures whose differences are plotted
    beside: tuple[str, ...] = ()  # measures of other tables whose means are repeated here, to be read beside these
    note: str = ""  # how to read the table


def _groups() -> tuple[Group, ...]:
    tables = tomllib.loads(files("storm_bench.reporting").joinpath("groups.toml").read_text(encoding="utf-8"))
    for table in tables.values():
        if table.get("judged") is True:
            table["judged"] = table["measures"]
    return TypeAdapter(tuple[Group, ...]).validate_python([{"key": key, **own} for key, own in tables.items()])


GROUPS = _groups()
"""All tables, in report order."""
OTHER = Group("other", "Further measures", ())
"""Table of measures that belong to no other."""


def grouped(measures: Sequence[Measure]) -> list[tuple[Group, tuple[Measure, ...]]]:
    """Return each non-empty table with its measures, in column order."""
    known = {measure.name: measure for measure in measures}
    found = [(group, tuple(known[name] for name in group.measures if name in known)) for group in GROUPS]
    placed = {name for group in GROUPS for name in group.measures}
    rest = tuple(measure for measure in measures if measure.name not in placed)
    return [(group, own) for group, own in [*found, (OTHER, rest)] if own]
