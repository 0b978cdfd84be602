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
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from storm_pipeline.configuration.place_files import FolderFile, Given, files_of, load_env, of_toml, of_variables
from storm_pipeline.configuration.trust import CAPS, Claim, decision, untrusted
from storm_pipeline.configuration.variables import user_configuration
from storm_pipeline.errors import InvalidSettingError
from storm_pipeline.settings import PRESET, Settings

_OF_THE_MODEL = ("api_base", "api_key_env")
"""Settings that belong to ``lm``: where a place names another model, those of lower places are left out."""


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


def displaced(layer: Iterable[str]) -> set[str]:
    """Settings of lower places that a place overrides without naming them."""
    names = set(PRESET) if "depth" in layer else set()
    return names | (set(_OF_THE_MODEL) if "lm" in layer else set())


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
    if counts is None and not without_untrusted:
        return {name: replace(one, claim=file.claim) if file.claims(name) else one for name, one in layer.items()}
    return {name: one for name, one in layer.items() if not file.claims(name)}


def _is_higher_cap(name: str, one: Given, own: Given | None) -> bool:
    try:
        return name in CAPS and own is not None and float(one.value) > float(own.value)
    except (TypeError, ValueError):
        return False  # it is refused as a value
