"""The user's own folders: where downloads are kept, and where the user's configuration is."""

import os
from pathlib import Path

_APP = "storm-pipeline"


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
