"""Worked examples: small models follow a form that they have seen far better than one that they are told.

They stand in ``examples.toml``. All are about one invented place, so that no fact of them can leak into a real article
unnoticed. Headings that name it are dropped from outlines of other topics (:func:`names_invented`).
"""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

_INVENTED = ("lake orrin", "orrin dam", "orrin line")


def names_invented(text: str) -> bool:
    """Whether a text names the examples' invented lake, dam or railway, as copies of them by a small model do."""
    return any(name in text.casefold() for name in _INVENTED)


def worked(program: str) -> list[dict[str, Any]]:
    """The examples of a program, each the values of its signature's fields."""
    return _tables()[program]


@cache
def _tables() -> dict[str, list[dict[str, Any]]]:
    tables = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    alone = [{name: value for name, value in one.items() if name != "perspective"} for one in tables["question"]]
    return tables | {"plain_question": alone}  # the same interview by a writer without a perspective
