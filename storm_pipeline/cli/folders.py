"""Folders of commands that take no settings."""

from pathlib import Path

import typer

from storm_pipeline.errors import SettingsError


def configured_cache() -> Path:
    """The cache folder of the configuration."""
    from storm_pipeline.configuration.layers import configured

    try:
        return configured().cache
    except SettingsError as error:
        raise typer.BadParameter(str(error)) from error
