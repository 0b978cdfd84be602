"""The questions that raters answer: scales of the papers in our own words, and those of a study."""

import tomllib
from importlib.resources import files
from typing import Any

from pydantic import Field, model_validator

from storm_bench.experiments.config_tables import ConfigTable


class Scale(ConfigTable):
    """A question that is answered by a level of a scale."""

    title: str = Field(min_length=1)  # short, for tables
    question: str = Field(min_length=1)
    levels: tuple[str, ...] = Field(min_length=2, max_length=9)  # what each level means, from the lowest on
    lowest: int = Field(default=1, ge=0, le=1)  # the number of the first level
    good: int | None = None  # the level from which a rating counts as good

    @model_validator(mode="after")
    def _check(self) -> "Scale":
        if self.good is not None and not self.lowest < self.good <= self.highest:
            raise ValueError(f"good = {self.good} is not between {self.lowest + 1} and {self.highest}")
        return self

    @property
    def highest(self) -> int:
        """The number of the last level."""
        return self.lowest + len(self.levels) - 1

    @property
    def choices(self) -> dict[str, str]:
        """Number → what it means."""
        return {str(number): text for number, text in enumerate(self.levels, self.lowest)}


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(files("storm_bench.raters").joinpath(name).read_text(encoding="utf-8"))


_TABLES = _read("scales.toml")
FACTS: dict[str, str] = _TABLES["choices"]["facts"]
"""How far an article states a fact → in words."""
ERRORS: dict[str, str] = _TABLES["choices"]["errors"]
"""The classes of unsupported sentences (STORM, table 9), and the rest → in words."""
PREFERENCE: dict[str, str] = _TABLES["choices"]["preference"]
SCALES = {
    f"{paper}.{name}": Scale(**scale)
    for paper, own in _TABLES.items()
    if paper != "choices"
    for name, scale in own.items()
}
"""The papers' scales, such as ``storm.interest``."""
USEFULNESS = {name: scale for name, scale in SCALES.items() if name.startswith("usefulness.")}
"""The statements on usefulness (STORM, appendix D)."""
PUBLISHED: dict[str, Any] = _read("published.toml")
"""Figures of the papers."""
