"""The process's environment, what ``.env`` of the current folder adds to it, and the folders that it names.

What ``.env`` says never enters the process's environment, which libraries and child processes would obey.
"""

import io
import os
from collections.abc import Mapping
from pathlib import Path

from storm_pipeline.errors import SettingsError
from storm_pipeline.files import read_bounded

_APP = "storm-pipeline"
OWN = "STORM_"
"""Beginning of the package's own variables."""
MOST_OF_A_FILE = 1_000_000
"""Bytes of a file of settings or variables, at most."""
_of_the_file: dict[str, str] = {}
_SECRETS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL")


def variable(name: str) -> str:
    """A variable, stripped; the environment comes before ``.env``. Empty if it is not set."""
    return os.environ.get(name, "").strip() or _of_the_file.get(name, "").strip()


def variables() -> dict[str, str]:
    """All variables of the environment and those used of ``.env``."""
    return {**_of_the_file, **os.environ}


def use_variables(values: Mapping[str, str]) -> None:
    """Let :func:`variable` find these, in place of those used before; programs call it once, when they start."""
    _of_the_file.clear()
    _of_the_file.update(values)


def child_environment() -> dict[str, str]:
    """The environment for programs that are started: no keys, and nothing that changes what Python and git execute."""
    return {name: value for name, value in os.environ.items() if not _is_not_for_children(name)}


def _is_not_for_children(name: str) -> bool:
    decides = name.upper().startswith((OWN, "PYTHON", "GIT_")) and not name.upper().startswith("PYTHONHOME")
    return decides or names_secret(name)


def names_secret(variable: str) -> bool:
    """Whether a variable's name says that its value is secret, as ``…_KEY`` and ``…_TOKEN`` do."""
    return variable.upper().rstrip("S").endswith(_SECRETS)


def read_env(folder: Path) -> dict[str, str]:
    """The variables in ``.env`` of a folder, as they stand there; none without the file.

    Raises SettingsError: the file cannot be read.
    """
    file = folder / ".env"
    if not file.is_file():
        return {}
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


def user_state() -> Path:
    """Where the user's consents are kept: ``$STORM_HOME/state``, else where the platform has a program's state."""
    from platformdirs import user_state_path

    home = _home()
    return home / "state" if home else user_state_path(_APP, appauthor=False)


def _home() -> Path | None:
    given = os.environ.get("STORM_HOME", "").strip()
    return Path(given).expanduser() if given else None
