"""What an experiment's file decides only where the command says that it may."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from storm_pipeline import SettingsError
from storm_pipeline.api import CONTENT

_NAMED = frozenset(
    "lm asker_lm expert_lm reader_lm outliner_lm writer_lm reviewer_lm judge_lm embedder structured search_cache "
    "read_pages wikipedia_contents ranker judge judge_form tagger heading_embedder heading_truth headings".split()
)
"""Settings of runs and metrics that name a model, or one of few ways."""
_ENGINE = re.compile(r"wikipedia:[a-z]{2,3}|[a-z][a-z-]*")
_PLAIN_NAME = re.compile(r"(?!gguf:)\w[\w.-]*(?:[:/]\w[\w.-]*)*")


def require_trust(file: Path, tables: Mapping[str, Mapping[str, Any]], *, trusted: bool) -> None:
    """Refuse what a file that the command names decides beyond the writing, numbers, and models at their providers.

    ``tables``: heading → settings under it; ``trusted``: whether the command says that it may (``--trust``). Raises
    SettingsError: it may not; names the settings.
    """
    needs = [
        f"{heading}{name}"
        for heading, settings in tables.items()
        for name, value in settings.items()
        if not _decides_alone(name, value)
    ]
    if needs and not trusted:
        raise SettingsError(
            f"{file} sets {', '.join(needs)}: that decides who gets a key or which files are read: read it, then add "
            "--trust"
        )


def _decides_alone(setting: str, value: Any) -> bool:
    """Whether a value is neither an address, a file, nor a variable's name."""
    is_number = isinstance(value, int | float) or value is None
    form = _ENGINE if setting == "search" else _PLAIN_NAME if setting in _NAMED else None
    is_name = form is not None and isinstance(value, str) and bool(form.fullmatch(value))
    return setting in CONTENT or is_number or is_name
