"""Estimates of runs in the form for callers: as ``storm estimate --json``, and the time by earlier runs."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache, reduce
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from storm_pipeline.errors import StormError
from storm_pipeline.interfaces.estimate import Estimate, EstimateRow, Range, estimate
from storm_pipeline.interfaces.server.redaction import plain_name
from storm_pipeline.method.outlines import outline_to_markdown
from storm_pipeline.method.saved_settings import changed_settings
from storm_pipeline.recipes import recipe_of_run
from storm_pipeline.run.events import adapter_of
from storm_pipeline.settings import Settings
from storm_pipeline.text.files import read_plain
from storm_pipeline.types import Outline, Price, Usage, is_plausible

_Total = Annotated[Range | None, Field(description="US dollars; null if the price of a model is unknown.")]
_Minutes = Annotated[Range | None, Field(description="By the last runs with the same models; null if there are none.")]


@dataclass(frozen=True)
class EstimateView:
    """Estimated calls, tokens, dollars and minutes of a run; each number with its range."""

    topic: str
    recipe: str
    rows: tuple[EstimateRow, ...]
    searches: Range
    calls: Range
    tokens_in: Range
    tokens_out: Range
    known_dollars: Annotated[Range, Field(description="US dollars of the models with known prices.")]
    dollars: _Total
    minutes: _Minutes
    prices: Annotated[Mapping[str, Price | None], Field(description="Model → its price; null if unknown.")]
    outline: Annotated[str, Field(description="The given outline as it will be used, as Markdown; empty: none.")]
    notes: Annotated[tuple[str, ...], Field(description="Omissions and assumptions, one sentence each.")]

    @classmethod
    def of(cls, estimated: Estimate, earlier: Iterable[Path], outline: Outline | None = None) -> "EstimateView":
        """Return the view of an estimate, without addresses and paths; ``earlier``: folders of runs, newest first."""
        plain = {name: plain_name(name) for name, _ in estimated.prices}
        made, seconds = estimated.tokens_out, _seconds_a_token({*plain.values()}, earlier)
        minutes = seconds and Range(*(round(n * seconds / 60, 1) for n in (made.low, made.likely, made.high)))
        rows = tuple(replace(row, model=plain_name(row.model)) for row in estimated.rows)
        notes = tuple(reduce(lambda text, name: text.replace(name, plain[name]), plain, n) for n in estimated.notes)
        prices = {plain[name]: price for name, price in estimated.prices}
        other: dict[str, Any] = {"rows": rows, "notes": notes, "prices": prices, "minutes": minutes or None}
        other["outline"] = outline_to_markdown(outline) if outline else ""
        same = (field.name for field in fields(cls) if field.name not in other)
        return cls(**{name: getattr(estimated, name) for name in same}, **other)


def _seconds_a_token(models: set[str], earlier: Iterable[Path]) -> float | None:
    """Return the seconds of wall time a token of the newest run that asked these models; None if there is none."""
    for folder in earlier:
        try:
            usage: Usage = adapter_of(Usage).validate_json(read_plain(folder / "usage.json"))
        except (OSError, ValueError, RecursionError):
            continue
        if usage.tokens_out > 0 and is_plausible(usage) and {row.model for row in usage.rows} == models:
            return usage.seconds / usage.tokens_out
    return None


@lru_cache(maxsize=256)
def expected_calls(folder: Path, topic: str, recipe: str) -> int:
    """Return about how many calls of a model the run in a folder makes; 0 if that is unknown."""
    name, is_outline = recipe_of_run(recipe)
    try:
        settings = changed_settings(json.loads(read_plain(folder / "settings.json")), Settings())
        likely = estimate(settings, topic, recipe=name, outline_only=is_outline)
    except (OSError, StormError, ValueError, AttributeError, RecursionError):
        return 0
    return round(likely.calls.likely)
