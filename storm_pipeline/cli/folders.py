"""Folders of commands that take no settings."""

from pathlib import Path

import typer

from storm_pipeline.cli.consent import settings_known
from storm_pipeline.errors import SettingsError


def configured_cache() -> Path:
    """The cache folder of the configuration."""
    try:
        return settings_known().cache
    except SettingsError as error:
        raise typer.BadParameter(str(error)) from error
