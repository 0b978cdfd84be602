"""Settings from files and the environment, for programs that people start; the library itself reads none of them.

A setting comes from the first of these places that has it:

1. what the caller gives, such as the options of a command,
2. the environment, ``STORM_<SETTING>`` (``STORM_LM``, ``STORM_MAX_COST``), and ``.env`` of the current folder,
3. ``storm.toml`` of the current folder,
4. ``[tool.storm]`` in ``pyproject.toml`` of the current folder,
5. the user's ``storm.toml``, see :func:`storm_pipeline.configuration.home.user_configuration`.

Keys of providers and search engines come from environment variables or ``.env`` alone.
"""

import difflib
import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_origin

from storm_pipeline.configuration.env_file import load_env
from storm_pipeline.configuration.home import user_configuration
from storm_pipeline.errors import InvalidSettingError, SettingsError
from storm_pipeline.settings import PRESET, Settings

_PREFIX = "STORM_"
_OF_THE_MODEL = ("api_base", "api_key_env")
"""Settings that belong to ``lm``: where a place names another model, those of lower places are left out."""


@dataclass(frozen=True)
class Given:
    """A setting's value, and the place that it comes from (``STORM_LM``, ``storm.toml``; empty: the caller)."""

    value: Any
    origin: str = ""


def configured(given: Mapping[str, Any] | None = None, folder: Path | None = None) -> Settings:
    """The settings of the configuration, overridden by ``given``.

    Args:
        given: settings by name.
        folder: the folder whose files are read; default: the current one.

    Raises:
        SettingsError: a file cannot be read, or a setting is unknown or invalid; names the place.
    """
    found = configuration(given, folder)
    try:
        return Settings.build({name: one.value for name, one in found.items()})
    except InvalidSettingError as error:
        origin = found[error.setting].origin if error.setting in found else ""
        if not origin:
            raise
        raise InvalidSettingError(f"{error} (from {origin})", error.setting) from None


def configuration(given: Mapping[str, Any] | None = None, folder: Path | None = None) -> dict[str, Given]:
    """Every setting that has a value somewhere, with its origin; see the module for the order of the places.

    Raises:
        SettingsError: a file cannot be read, or names an unknown setting.
    """
    folder = folder or Path()
    load_env(folder)
    layers = [
        _file_layer(user_configuration()),
        _file_layer(folder / "pyproject.toml", ("tool", "storm")),
        _file_layer(folder / "storm.toml"),
        _environment_layer(),
        {name: Given(value) for name, value in (given or {}).items()},
    ]
    found: dict[str, Given] = {}
    for layer in layers:
        found = {name: one for name, one in found.items() if name not in _displaced(layer)} | layer
    return found


def _displaced(layer: Mapping[str, Given]) -> set[str]:
    """Settings of lower places that a place overrides without naming them."""
    names = set(PRESET) if "depth" in layer else set()
    return names | (set(_OF_THE_MODEL) if "lm" in layer else set())


def _environment_layer() -> dict[str, Given]:
    found = {}
    for name, field in Settings.model_fields.items():
        variable = _PREFIX + name.upper()
        if text := os.environ.get(variable, "").strip():
            many = get_origin(field.annotation) is tuple
            value = [part.strip() for part in text.split(",") if part.strip()] if many else text
            found[name] = Given(value, variable)
    return found


def _file_layer(file: Path, table: Sequence[str] = ()) -> dict[str, Given]:
    """The settings of a TOML file, or of a table in it."""
    try:
        values: Any = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise SettingsError(f"{file} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{file} is not valid TOML: {error}") from error
    for name in table:
        values = values.get(name, {}) if isinstance(values, dict) else {}
    origin = f"[{'.'.join(table)}] in {file}" if table else str(file)
    if not isinstance(values, dict):
        raise SettingsError(f"{origin} is not a table of settings")
    _check_names(values, origin)
    return {name: Given(value, origin) for name, value in values.items()}


def _check_names(names: Iterable[str], origin: str) -> None:
    for name in names:
        if name in Settings.model_fields:
            continue
        if "key" in name.lower() or "token" in name.lower():
            raise SettingsError(
                f"{origin} has {name!r}: keys do not belong in it, since it is shared; put the key into the "
                "environment or .env, and name the variable with api_key_env if it is not the provider's usual one"
            )
        close = difflib.get_close_matches(name.replace("-", "_"), Settings.model_fields, 1)
        hint = f"did you mean {close[0]!r}?" if close else "see `storm write --help` for those that exist"
        raise SettingsError(f"{origin}: there is no setting {name!r}; {hint}")
