"""Names that settings and recipes had in earlier versions, and settings and values that are gone.

Earlier names are refused where people write them, with the name of now; read where runs and batches recorded them; and
are in hashes, so that what an earlier version made is found again. Settings that are gone are ignored in files,
with a warning.
"""

import warnings
from collections.abc import Mapping
from typing import Any

SETTINGS = {
    "attempts": "call_attempts",
    "samples": "parse_attempts",
    "language": "source_language",
    "sources": "source_policy",
}
"""Setting of earlier versions → its name now."""
GONE_SETTINGS = {"rounds": "open questions are looked up once, before anything is written"}
"""Setting of earlier versions → why there is none any more."""
GONE = {"judge": {"small": "use screen, model, or the folder or hub name of a cross-encoder"}}
"""Setting → its values of earlier versions, each with what to use instead."""
_RECIPES = {"storm+gaps": "storm-iterative"}
_BEFORE = {now: before for before, now in (SETTINGS | _RECIPES).items()}


class IgnoredSettingWarning(UserWarning):
    """Warning of a setting, in a file or a run, that is gone."""


def current_settings(recorded: Mapping[str, Any]) -> dict[str, Any]:
    """Rename recorded settings to their current names, and leave out those that are gone."""
    return {SETTINGS.get(name, name): value for name, value in recorded.items() if not is_gone(name)}


def is_gone(name: str, where: str = "a run of an earlier version") -> bool:
    """Return whether a setting is gone, and warn if it is; ``where``: the file or run that has it."""
    if why := GONE_SETTINGS.get(name):
        warnings.warn(f"{where}: the setting {name!r} is ignored: {why}", IgnoredSettingWarning, stacklevel=2)
    return bool(why)


def gone_values(recorded: Mapping[str, Any]) -> list[str]:
    """Return the names of recorded settings whose values are gone."""
    return [name for name, values in GONE.items() if recorded.get(name) in values]


def current_recipe(recorded: str) -> str:
    """Return the current name of a recorded recipe."""
    return _RECIPES.get(recorded, recorded)


def hashed_name(name: str) -> str:
    """Return the name of a setting or recipe in hashes: the first that it had."""
    return _BEFORE.get(name, name)


def renaming(name: str) -> str:
    """Return a message about an earlier name of a setting or recipe; empty if the name is not one."""
    if why := GONE_SETTINGS.get(name):
        return f"{name!r} is gone, leave it out: {why}"
    now = SETTINGS.get(name) or _RECIPES.get(name)
    return f"{name!r} is called {now!r} now" if now else ""
