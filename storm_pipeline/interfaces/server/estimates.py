"""Estimates of runs in the form for callers: as ``storm estimate --json``, and the time by earlier runs."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from pathlib import Path
from typing import Annotated

from pydantic import Field

from storm_pipeline.errors import StormError
from storm_pipeline.interfaces.estimate import Estimate, estimate
from storm_pipeline.interfaces.server.redaction import plain_name
from storm_pipeline.method.outlines import outline_to_markdown
from storm_pipeline.method.saved_settings import changed_settings
from storm_pipeline.recipes import recipe_of_run
from storm_pipeline.run.events import adapter_of
from storm_pipeline.settings import Settings
from storm_pipeline.text.files import read_plain
from storm_pipeline.types import Outline, Range, Usage, is_plausible


@dataclass(frozen=True)
class EstimateView(Estimate):
    """Estimated calls, tokens, dollars and minutes of a run, without addresses and paths."""

    minutes: Annotated[
        Range | None, Field(description="By the last runs with the same models; null if there are none.")
    ]
    outline: Annotated[str, Field(description="The given outline as it will be used, as Markdown; empty: none.")]

    @classmethod
    def of(cls, estimated: Estimate, earlier: Iterable[Path], outline: Outline | None = None) -> "EstimateView":
        """Return the view of an estimate; ``earlier``: folders of runs, newest first."""
        plain = {name: plain_name(name) for name in estimated.prices}
        minutes = _minutes(estimated.tokens_out, {*plain.values()}, earlier)
        rows = tuple(replace(row, model=plain_name(row.model)) for row in estimated.rows)
        notes = tuple(reduce(lambda text, name: text.replace(name, plain[name]), plain, n) for n in estimated.notes)
        prices = {plain[name]: price for name, price in estimated.prices.items()}
        shown = outline_to_markdown(outline) if outline else ""
        return cls(**vars(replace(estimated, rows=rows, notes=notes, prices=prices)), minutes=minutes, outline=shown)


def _minutes(made: Range, models: set[str], earlier: Iterable[Path]) -> Range | None:
    """Return the minutes that the tokens take at the speed of the newest run with these models; None if unknown."""
    for folder in earlier:
        try:
            usage: Usage = adapter_of(Usage).validate_json(read_plain(folder / "usage.json"))
        except (OSError, ValueError, RecursionError):
            continue
        if min(usage.tokens_out, usage.seconds) > 0 and is_plausible(usage) and {r.model for r in usage.rows} == models:
            seconds = usage.seconds / usage.tokens_out
            return Range(*(round(n * seconds / 60, 1) for n in (made.low, made.likely, made.high)))
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
