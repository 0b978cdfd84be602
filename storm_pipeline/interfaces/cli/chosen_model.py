"""The settings of a command, and the question which model writes where a key is set and no model was chosen."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from storm_pipeline.interfaces.cli.output import is_interactive

if TYPE_CHECKING:
    from storm_pipeline.settings import Settings


def configured(given: Mapping[str, Any] | None = None, *, folder: Path | None = Path()) -> "Settings":
    """As :func:`storm_pipeline.interfaces.configuration.layers.configured`, which is imported when it is used."""
    from storm_pipeline.interfaces.configuration import layers

    return layers.configured(given, folder=folder)


def with_chosen_model(settings: "Settings", *, quiet: bool = False) -> "Settings":
    """Return the settings with the model that the user chooses on the terminal; unchanged where nothing is to be asked.

    Away from a terminal nothing is asked, and the run itself says which model writes. Raises typer.Abort: the user
    interrupted the question.
    """
    from storm_pipeline.settings import Settings
    from storm_pipeline.text.configuration.providers import provider_with_key

    provider = provider_with_key()
    if quiet or provider is None or "lm" in settings.model_fields_set or not is_interactive():
        return settings
    question = f"{provider.variables[0]} is set. Use {provider.model}? Otherwise all runs on this machine."
    lm = provider.model if typer.confirm(question, default=True, err=True) else "embedded"
    typer.echo(f"using {lm}; `storm init` keeps the choice, --lm overrides it", err=True)
    return Settings.build(settings.model_dump(exclude_unset=True) | {"lm": lm})
