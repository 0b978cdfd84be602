"""The process's environment, what a file of variables adds to it, and the folders that it names.

What that file says never enters the process's environment, which libraries and child processes would obey.
"""

import io
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from storm_pipeline.errors import SettingsError
from storm_pipeline.files import read_bounded

_APP = "storm-pipeline"
OWN = "STORM_"
"""Beginning of the package's own variables."""
MOST_OF_A_FILE = 1_000_000
"""Bytes of a file of settings or variables, at most."""
_SECRETS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL")


@dataclass(frozen=True)
class NamedFiles:
    """The files that the user named when he started the program."""

    config: Path | None = None  # settings
    env: Path | None = None  # variables, which the environment's come before
    variables: Mapping[str, str] = field(default_factory=dict)  # what ``env`` says


_named = NamedFiles()


def named_files() -> NamedFiles:
    """The files that :func:`use_files` was given last."""
    return _named


def use_files(config: Path | None = None, env: Path | None = None) -> None:
    """Let the program use these files, and no others; programs call it once, when they start.

    Raises SettingsError: ``env`` cannot be read.
    """
    global _named  # noqa: PLW0603 - as the environment is
    _named = NamedFiles(config, env, _read_env(env) if env else {})


def variable(name: str) -> str:
    """A variable, stripped; the environment comes before the named file. Empty if it is not set."""
    return os.environ.get(name, "").strip() or _named.variables.get(name, "").strip()


def variables() -> dict[str, str]:
    """All variables of the environment and those of the named file."""
    return {**_named.variables, **os.environ}


def child_environment() -> dict[str, str]:
    """The environment for programs that are started: no keys, and nothing that changes what Python and git execute."""
    return {name: value for name, value in os.environ.items() if not _is_not_for_children(name)}


def _is_not_for_children(name: str) -> bool:
    decides = name.upper().startswith((OWN, "PYTHON", "GIT_")) and not name.upper().startswith("PYTHONHOME")
    return decides or names_secret(name)


def names_secret(variable: str) -> bool:
    """Whether a variable's name says that its value is secret, as ``…_KEY`` and ``…_TOKEN`` do."""
    return variable.upper().rstrip("S").endswith(_SECRETS)


def _read_env(file: Path) -> dict[str, str]:
    """The variables in a file, as they stand there. Raises SettingsError: it cannot be read."""
    from dotenv import dotenv_values

    try:
        text = read_bounded(file, MOST_OF_A_FILE).decode("utf-8-sig")
        values = dotenv_values(stream=io.StringIO(text), interpolate=False)
    except (OSError, ValueError) as error:
        raise SettingsError(f"{file} cannot be read: {error}") from error
    return {name: value for name, value in values.items() if name and value and "\0" not in value}


def default_cache() -> Path:
    """``$STORM_HOME/cache``; without that variable, the folder that the platform has for a program's cache."""
    from platformdirs import user_cache_path

    home = _home()
    return home / "cache" if home else user_cache_path(_APP, appauthor=False)


def user_configuration() -> Path:
    """The user's ``storm.toml``: in ``$STORM_HOME``, else where the platform has a program's configuration."""
    from platformdirs import user_config_path

    return (_home() or user_config_path(_APP, appauthor=False)) / "storm.toml"


def _home() -> Path | None:
    given = os.environ.get("STORM_HOME", "").strip()
    return Path(given).expanduser() if given else None
