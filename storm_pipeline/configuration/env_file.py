"""Environment variables from the file ``.env`` of a folder."""

import os
from pathlib import Path

from storm_pipeline.errors import SettingsError


def load_env(folder: Path) -> None:
    """Set the environment variables of ``.env`` in a folder, except those that are set already.

    Raises:
        SettingsError: the file cannot be read.
    """
    file = folder / ".env"
    if not file.is_file():
        return
    from dotenv import dotenv_values

    try:
        values = dotenv_values(file, interpolate=False, encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise SettingsError(f"{file} cannot be read: {error}") from error
    for name, value in values.items():
        if name and value is not None and "\0" not in value:
            os.environ.setdefault(name, value)
