"""Settings from files and the environment, for programs; the library reads none of them.

A setting comes from the first of these places that sets it:

1. the caller, such as the options of a command,
2. the environment, ``STORM_<SETTING>`` (``STORM_LM``, ``STORM_MAX_COST``), then the file of ``--env-file``,
3. the file of ``--config``,
4. ``storm.toml`` of the current folder,
5. ``[tool.storm]`` in ``pyproject.toml`` of the current folder,
6. the user's ``storm.toml``, see :func:`storm_pipeline.text.configuration.variables.user_configuration`.

The files of the current folder are untrusted: they may only set content (:data:`storm_pipeline.settings.CONTENT`);
other settings in them are an error. Keys of providers and search engines only come from variables.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_origin

from storm_pipeline.errors import InvalidSettingError, SettingsError
from storm_pipeline.settings import CONTENT, Settings, discarded_settings, no_such_setting, option_name
from storm_pipeline.text.configuration.variables import OWN, named_files, user_configuration
from storm_pipeline.text.files import read_toml


@dataclass(frozen=True)
class ConfiguredValue:
    """A setting's value and its origin (``STORM_LM``, ``storm.toml``; empty: the caller)."""

    value: Any
    origin: str = ""


def load_settings(given: Mapping[str, Any] | None = None, folder: Path | None = Path()) -> Settings:
    """Return the settings of the configuration, overridden by ``given``.

    ``folder``: the folder whose files are read; None: only the user's configuration.

    Raises SettingsError: an unreadable file, an unknown or invalid setting, or one that a folder's file must not set;
    the message names the origin.
    """
    values = configuration(given, folder)
    try:
        return Settings.build({name: value.value for name, value in values.items()})
    except InvalidSettingError as error:
        origin = values[error.setting].origin if error.setting in values else ""
        if not origin:
            raise
        raise InvalidSettingError(f"{error} (from {origin})", error.setting) from None


def configuration(given: Mapping[str, Any] | None = None, folder: Path | None = Path()) -> dict[str, ConfiguredValue]:
    """Return every configured setting with its origin, in the order of places described by the module.

    Raises SettingsError: as for :func:`load_settings`, but values are not checked.
    """
    named = named_files()
    layers = [
        from_toml(user_configuration()),
        *_from_folder(folder),
        from_toml(named.config) if named.config else {},
        from_variables(named.variables, f" in {named.env}"),
        from_variables(os.environ),
        {name: ConfiguredValue(value) for name, value in (given or {}).items()},
    ]
    values: dict[str, ConfiguredValue] = {}
    for layer in layers:
        values = {name: value for name, value in values.items() if name not in discarded_settings(layer)} | layer
    return values


def _from_folder(folder: Path | None) -> list[dict[str, ConfiguredValue]]:
    """Return the settings in a folder's files, or raise SettingsError if they set more than content."""
    if folder is None:
        return []
    project, file = folder / "pyproject.toml", folder / "storm.toml"
    user_files = {os.path.realpath(path) for path in (user_configuration(), named_files().config) if path}
    layers = [from_toml(project, ("tool", "storm")), {} if os.path.realpath(file) in user_files else from_toml(file)]
    others = {name: value.origin for layer in layers for name, value in layer.items() if name not in CONTENT}
    if others:
        ways = {name: f"{name} ({option_name(name)}, {OWN}{name.upper()})" for name in others}
        places = "; ".join(
            f"{place} sets {', '.join(ways[name] for name in others if others[name] == place)}"
            for place in dict.fromkeys(others.values())
        )
        raise SettingsError(
            f"{places}: a folder's file says only what is written, such as length and style; take that out, and use "
            f"the options or variables, your own {user_configuration()} (`storm init`), or a file that --config names"
        )
    return layers


def from_variables(variables: Mapping[str, str], where: str = "") -> dict[str, ConfiguredValue]:
    """Return the settings in variables; ``where`` completes their origin."""
    values = {}
    for name, field in Settings.model_fields.items():
        variable = OWN + name.upper()
        if text := variables.get(variable, "").strip():
            many = get_origin(field.annotation) is tuple
            value = [part.strip() for part in text.split(",") if part.strip()] if many else text
            values[name] = ConfiguredValue(value, variable + where)
    return values


def from_toml(file: Path, table: Sequence[str] = ()) -> dict[str, ConfiguredValue]:
    """Return the settings of a TOML file or of a table in it; none without the file.

    Raises SettingsError: it cannot be read, or names an unknown setting.
    """
    try:
        values: Any = read_toml(file)
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
    return {name: ConfiguredValue(value, origin) for name, value in values.items()}


def _check_names(names: Iterable[str], origin: str) -> None:
    for name in names:
        if name in Settings.model_fields:
            continue
        if "key" in name.lower() or "token" in name.lower():
            raise SettingsError(
                f"{origin} has {name!r}: keys do not belong in it, since it is shared; put the key into the "
                "environment or a file that --env-file names, and name its variable with api_key_env if it is not the "
                "provider's usual one"
            )
        raise SettingsError(f"{origin}: {no_such_setting(name)}")
