"""Pieces of a run that the user gives instead of having them made: an outline, perspectives."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from storm_pipeline.documents.decoding import decoded
from storm_pipeline.errors import RunError, SettingsError
from storm_pipeline.run.context import Given
from storm_pipeline.text.outlines import outline_to_markdown, parse_outline
from storm_pipeline.types import Outline, Perspective

MOST_SECTIONS = 1000
"""An outline that the user wrote is taken as it is."""
_LARGEST = 100_000
"""Bytes of an outline's file."""
_LONGEST_LINE = 80
"""Characters of a line that is a heading without a mark; what is longer is prose."""
_SENTENCE_END = re.compile(r"[.!?;,。！？؟]$")
_HOW = "write a line such as '# History' for each section, or a list"


def read_given(path: Path) -> Any:
    """An edited piece, as its file holds it: Markdown as text, JSON as values.

    Raises:
        RunError: the file cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8")
        return json.loads(text) if path.suffix == ".json" else text
    except (OSError, ValueError, RecursionError) as error:
        raise RunError(
            f"cannot read {path}: {error}; it must be there, as the run wrote it or edited by hand"
        ) from error


def read_outline(outline: Outline | Path | str, topic: str) -> str:
    """The outline that is to be written from, as a run keeps it: text that :func:`parse_given` understands.

    Args:
        outline: of one's own; or a file with ``#`` headings, a list, or a heading a line, indented by level. A heading
            that is the topic, and back matter, are no sections.
        topic: of the article; the file of a template for many articles does not name it.

    Raises:
        SettingsError: the file cannot be read, is no text or too large, or has no heading.
    """
    if isinstance(outline, Outline):
        where, text = "the outline", outline_to_markdown(outline)
    else:
        where = f"--outline {outline}"
        text = _text_of(Path(outline), where)
    if not _parsed(text, topic).sections:
        raise SettingsError(f"{where} has no heading: {_HOW}")
    return text


def parse_given(topic: str, given: Mapping[str, Any]) -> Given:
    """The pieces that the user gives, parsed.

    Raises:
        RunError: one cannot be used.
    """
    outline = perspectives = None
    if (text := given.get("outline")) is not None:
        outline = _parsed(str(text), topic)
        if not outline.sections:
            raise RunError(f"the outline that was given has no heading: {_HOW}")
    if (values := given.get("perspectives")) is not None:
        try:
            perspectives = TypeAdapter(tuple[Perspective, ...]).validate_python(values)
        except ValidationError as error:
            raise RunError(
                'the perspectives that were given are no list of {"name": …, "focus": …}: '
                + str(error.errors()[0]["msg"])
            ) from error
    return Given(perspectives, outline)


def _text_of(path: Path, where: str) -> str:
    try:
        path = path.expanduser()
        if path.stat().st_size > _LARGEST:
            raise SettingsError(f"{where} has more than {_LARGEST:,} bytes: an outline is a list of headings")
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SettingsError(f"{where} cannot be read ({reason}): name a file with a heading a line") from error
    text = decoded(data)
    if not text.strip():
        raise SettingsError(f"{where} is empty: {_HOW}")
    if any(c < " " and c not in "\t\n\f" for c in text) or "\ufffd" in text:
        raise SettingsError(f"{where} is no text: give a Markdown file, {_HOW}")
    return text


def _parsed(text: str, topic: str) -> Outline:
    bounds = {"max_sections": MOST_SECTIONS, "max_depth": 6}
    outline = parse_outline(text, topic, **bounds)
    return outline if outline.sections else parse_outline(_with_marks(text), topic, **bounds)


def _with_marks(text: str) -> str:
    """Lines that are headings without marks, as a list; nothing where one of them is prose."""
    lines = [line.rstrip() for line in text.expandtabs(4).splitlines() if line.strip()]
    if any(len(line.strip()) > _LONGEST_LINE or _SENTENCE_END.search(line) for line in lines):
        return ""
    return "\n".join(re.sub(r"^(\s*)", r"\1- ", line) for line in lines)
