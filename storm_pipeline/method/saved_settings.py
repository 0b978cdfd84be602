"""The settings that a run's folder holds, and which of them count when it is resumed.

The folder may be another person's. Its settings of content and its caps are used. All other settings that were not the
default, such as the model, must equal the user's configuration or be given anew: only the user decides which model is
asked, which server gets a key, and which files are read.
"""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from storm_pipeline.errors import SettingsError
from storm_pipeline.models.model_objects import is_object
from storm_pipeline.run.folder import SavedSettings
from storm_pipeline.settings import CAPS, CONTENT, Settings, discarded_settings, option_name
from storm_pipeline.sources.search.registry import choose, engine_info
from storm_pipeline.text.formatting import printable

_OF_THE_USER = frozenset(
    "out cache workers process_workers tokens_per_minute lm_timeout call_attempts parse_attempts max_failures prices "
    "search_rate".split()
)
"""Settings without effect on requests and article: the user's current ones apply to resumed runs."""


def changed_settings(saved: SavedSettings, override: Settings) -> Settings:
    """Return the settings of a run's last session, overridden by those explicitly set in ``override``.

    Another ``lm`` drops the saved address and key of the old one. Raises
    SettingsError: the saved settings are no longer valid.
    """
    now = {name: getattr(override, name) for name in override.model_fields_set}
    return Settings.build({**_known_settings(saved, now), **now})


def resumed_settings(
    place: Path, saved: SavedSettings, given: Settings, user: Settings | None = None, *, costs: str = ""
) -> Settings:
    """Return the settings with which a run or batch is resumed.

    Args:
        place: its folder, for messages.
        saved: its settings.
        given: settings given for it, which override saved ones.
        user: the user's configuration. It has to agree with what was saved, but for the settings that say what is
            written, which stay, and for caps and paths, which are the user's.
        costs: cost of using another model, as the end of a sentence.

    Raises SettingsError: neither of them names a model, an engine or the like with which the run was made; or the saved
    settings are no longer valid.
    """
    now = {name: getattr(given, name) for name in given.model_fields_set}
    configuration = {name: getattr(user, name) for name in user.model_fields_set} if user else {}
    configuration = {n: v for n, v in configuration.items() if n not in CONTENT | discarded_settings(now)}
    word = Settings.build({**configuration, **now})
    known = {name: value for name, value in _known_settings(saved, now).items() if name not in _OF_THE_USER}
    if others := _settings_to_name(known, word, now):
        raise SettingsError(
            f"{place} was made with {as_options(others)}, which neither your options nor your configuration say: give "
            f"them to go on with what is recorded, or others{costs}"
        )
    objects = {name for name, value in known.items() if _was_object(name, value)}
    word_alone = {name: value for name, value in configuration.items() if name not in objects}
    return Settings.build({**known, **word_alone, **now})


def _known_settings(saved: SavedSettings, now: Mapping[str, Any]) -> dict[str, Any]:
    dropped = discarded_settings({"lm"} & now.keys())
    return {name: value for name, value in saved.items() if name in Settings.model_fields and name not in dropped}


def _settings_to_name(saved: Mapping[str, Any], word: Settings, now: Mapping[str, Any]) -> dict[str, Any]:
    """Return saved settings that matter beyond content and are neither given now nor equal to the user's settings.

    For settings saved as not set the user's apply, except a role's model: that was ``lm``.
    """
    values = word.model_dump(mode="json")
    known = {}
    for name, value in saved.items():
        if value is None and name.endswith("_lm") and values[name] is not None:
            value = saved.get("lm")  # noqa: PLW2901 - whom the role asked
        decided = value is None or name in now or name in CONTENT or name in CAPS
        if not decided and value != values[name] and not _was_object(name, value):
            known[name] = value
    return known


def _was_object(name: str, value: object) -> bool:
    """Return whether a saved setting is the name of a model that was passed as an object, which only models can be."""
    return (name == "lm" or name.endswith("_lm")) and isinstance(value, str) and is_object(value)


def pinned_engine(search: str, engine: object) -> str:
    """Return the engine of a resumed run: for ``auto``, the one that the run used.

    ``search``: the setting. ``engine``: the one in the run's ``run.json``, which is untrusted.

    Raises SettingsError: the engine is paid, and ``auto`` would not choose it now.
    """
    info = engine_info(engine) if isinstance(engine, str) else None
    if search != "auto" or info is None:
        return search
    if not info.free and choose().spec != info.base_name:
        raise SettingsError(
            f"the run searched with {info.base_name}, which is not what `auto` chooses now: give --search "
            f"{info.base_name}, or another engine"
        )
    return info.base_name


def as_options(values: Mapping[str, Any]) -> str:
    """Format settings as command-line options, without content, caps and the user's own (paths, caches, limits)."""
    chosen = {n: v for n, v in values.items() if n not in CONTENT | _OF_THE_USER and n not in CAPS}
    return printable(" ".join(f"{option_name(name)} {shlex.quote(str(value))}" for name, value in chosen.items()))
