"""Settings from files and the environment, for programs that people start; the library itself reads none of them.

A setting comes from the first of these places that has it:

1. what the caller gives, such as the options of a command,
2. the environment, ``STORM_<SETTING>`` (``STORM_LM``, ``STORM_MAX_COST``),
3. ``.env`` of the current folder, by the same names,
4. ``storm.toml`` of the current folder,
5. ``[tool.storm]`` in ``pyproject.toml`` of the current folder,
6. the user's ``storm.toml``, see :func:`storm_pipeline.configuration.variables.user_configuration`.

The files of the current folder decide by themselves what is written, and no more; see
:mod:`storm_pipeline.configuration.trust`. Keys of providers and search engines come from environment variables or
``.env`` alone.
"""

import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_origin

from storm_pipeline.configuration.providers import settable_in_env_file
from storm_pipeline.configuration.renamed import GONE_SETTINGS, SETTINGS, is_gone
from storm_pipeline.configuration.trust import CAPS, Claim, decides_alone, decision, untrusted
from storm_pipeline.configuration.variables import MOST_OF_A_FILE, OWN, read_env, use_variables, user_configuration
from storm_pipeline.errors import InvalidSettingError, SettingsError
from storm_pipeline.files import read_bounded
from storm_pipeline.settings import Settings, displaced, no_such_setting


@dataclass(frozen=True)
class Given:
    """A setting's value, and the place that it comes from (``STORM_LM``, ``storm.toml``; empty: the caller)."""

    value: Any
    origin: str = ""
    claim: Claim | None = None  # what the user has yet to consent to, before the value counts


@dataclass(frozen=True)
class FolderFile:
    """A file of a folder."""

    settings: Mapping[str, Given]  # what it sets
    claim: Claim | None  # what of it needs the user's consent; None if nothing does


def configured(
    given: Mapping[str, Any] | None = None, folder: Path | None = None, *, without_untrusted: bool = False
) -> Settings:
    """The settings of the configuration, overridden by ``given``.

    Args:
        folder: the folder whose files are read; default: the current one.
        without_untrusted: leave out what the folder's files may not decide without the user's consent, instead of
            raising an error.

    Raises:
        UntrustedError: the folder's files decide what needs the user's consent, and nothing overrides it.
        SettingsError: a file cannot be read, or a setting is unknown or invalid; names the place.
    """
    found = configuration(given, folder)
    claims = pending(found, folder)
    if claims and without_untrusted:
        found = configuration(given, folder, without_untrusted=True)
    try:
        settings = Settings.build({name: one.value for name, one in found.items()})
    except InvalidSettingError as error:
        origin = found[error.setting].origin if error.setting in found else ""
        if not origin:
            raise
        raise InvalidSettingError(f"{error} (from {origin})", error.setting) from None
    if claims and not without_untrusted:
        raise untrusted(claims)
    return settings


def configuration(
    given: Mapping[str, Any] | None = None, folder: Path | None = None, *, without_untrusted: bool = False
) -> dict[str, Given]:
    """Every setting that has a value somewhere, with its origin; see the module for the order of the places.

    Values that count only once the user consents have a ``claim``; ``without_untrusted`` leaves them out. Raises
    SettingsError: a file cannot be read, or names an unknown setting.
    """
    folder = folder or Path()
    load_env(folder)
    own = of_toml(user_configuration())
    layers = [
        own,
        *(_counting(file, own, without_untrusted=without_untrusted) for file in files_of(folder)),
        of_variables(os.environ),
        {name: Given(value) for name, value in (given or {}).items()},
    ]
    found: dict[str, Given] = {}
    for layer in layers:
        found = {name: one for name, one in found.items() if name not in displaced(layer)} | layer
    return found


def pending(found: Mapping[str, Given], folder: Path | None = None) -> tuple[Claim, ...]:
    """The claims that the user has yet to decide on, among those settings and the other variables of ``.env``."""
    claims = [*(one.claim for one in found.values()), load_env(folder or Path())]
    return tuple({claim.digest: claim for claim in claims if claim}.values())


def _counting(file: FolderFile, own: Mapping[str, Given], *, without_untrusted: bool) -> dict[str, Given]:
    """The settings of a folder's file that count, or will once the user consents; no cap is higher than the user's."""
    layer = {name: one for name, one in file.settings.items() if not _is_higher_cap(name, one, own.get(name))}
    counts = file.claim is None or decision(file.claim)
    if counts:
        return layer
    free = {name: one for name, one in layer.items() if decides_alone(name, one.value)}
    if counts is None and not without_untrusted:
        return {name: one if name in free else replace(one, claim=file.claim) for name, one in layer.items()}
    return free


def _is_higher_cap(name: str, one: Given, own: Given | None) -> bool:
    try:
        return name in CAPS and own is not None and float(one.value) > float(own.value)
    except (TypeError, ValueError):
        return False  # it is refused as a value


def files_of(folder: Path) -> tuple[FolderFile, ...]:
    """The files of a folder, from the lowest precedence to the highest; those of the user's own folder claim nothing.

    Raises SettingsError: a file cannot be read, or names an unknown setting.
    """
    project, file = folder / "pyproject.toml", folder / "storm.toml"
    tables = [(project, of_toml(project, ("tool", "storm"))), (file, of_toml(file))]
    env = _of_env(folder)
    return (
        *(FolderFile(found, _claim(path, {n: one.value for n, one in found.items()})) for path, found in tables),
        FolderFile(of_variables(env, " in .env"), _claim(folder / ".env", env)),
    )


def load_env(folder: Path) -> Claim | None:
    """Let the program use the keys in ``.env`` of a folder, and the package's other variables if the user trusts them.

    Returns:
        What it claims, if that is more than settings, such as STORM_API_TOKEN, and the user has yet to decide on it.

    Raises SettingsError: the file cannot be read.
    """
    values = _of_env(folder)
    claim = _claim(folder / ".env", values)
    counts = claim is None or decision(claim)
    use_variables({name: value for name, value in values.items() if counts or not name.startswith(OWN)})
    further = claim and any(_setting(name) not in Settings.model_fields for name in claim.values)
    return claim if further and counts is None else None


def _of_env(folder: Path) -> dict[str, str]:
    return {name: value for name, value in read_env(folder).items() if settable_in_env_file(name)}


def _claim(file: Path, values: Mapping[str, Any]) -> Claim | None:
    """What the values of a file, by setting or variable, decide beyond what is written."""
    settings = {name: _setting(name) for name in values}
    needs = {name: values[name] for name, one in settings.items() if one and not decides_alone(one, values[name])}
    is_users = file.parent.resolve() == user_configuration().parent.resolve()
    return Claim(file, needs) if needs and not is_users else None


def _setting(name: str) -> str:
    """The setting that a variable gives; empty for a key."""
    return name.removeprefix(OWN).lower() if name.startswith(OWN) else "" if name.isupper() else name


def of_variables(variables: Mapping[str, str], where: str = "") -> dict[str, Given]:
    """The settings that variables give; ``where`` completes their origin.

    Raises SettingsError: a variable names a setting as earlier versions did.
    """
    for name in SETTINGS:
        if variables.get(OWN + name.upper()):
            raise SettingsError(f"{OWN + name.upper()}{where}: {no_such_setting(name)}")
    for name in GONE_SETTINGS:
        if variables.get(OWN + name.upper()):
            is_gone(name, OWN + name.upper() + where)
    found = {}
    for name, field in Settings.model_fields.items():
        variable = OWN + name.upper()
        if text := variables.get(variable, "").strip():
            many = get_origin(field.annotation) is tuple
            value = [part.strip() for part in text.split(",") if part.strip()] if many else text
            found[name] = Given(value, variable + where)
    return found


def of_toml(file: Path, table: Sequence[str] = ()) -> dict[str, Given]:
    """The settings of a TOML file, or of a table in it; none without the file.

    Raises SettingsError: it cannot be read, or names an unknown setting.
    """
    try:
        values: Any = tomllib.loads(read_bounded(file, MOST_OF_A_FILE).decode("utf-8-sig"))
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
    values = {name: value for name, value in values.items() if not is_gone(name, origin)}
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
        raise SettingsError(f"{origin}: {no_such_setting(name)}")
