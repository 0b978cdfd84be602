"""Sections as Markdown, one sentence per line; texts are escaped, so that no number in them is read as a citation."""

import re
from collections.abc import Iterator

from storm_pipeline.evidence.citations import marker
from storm_pipeline.text.words import tidy
from storm_pipeline.types import Paragraph, Section

_SPECIAL = re.compile(r"[\\`*_\[\]<|~$]|&(?=#?\w+;)")
_LINE_START = re.compile(r"^[#+\-=>:]|(?<=^\d)[.)]|^\d{2,}[.)]")


def section_to_markdown(section: Section) -> str:
    """Return one section as Markdown, from its heading (``##``) down, without citation markers."""
    return "\n\n".join(section_blocks(section, 2, {})) + "\n"


def escape(text: str, *, heading: bool = False) -> str:
    """Return the text on one line, escaped so that Markdown shows it literally, also at both ends of a heading."""
    escaped = _LINE_START.sub(_escaped_mark, _SPECIAL.sub(r"\\\g<0>", tidy(text)))
    return re.sub(r"#+$", lambda match: "\\#" * len(match[0]), escaped) if heading else escaped


def _escaped_mark(match: re.Match[str]) -> str:
    """Return a mark that would begin a block of Markdown, with a backslash before its last character."""
    return f"{match[0][:-1]}\\{match[0][-1]}"


def section_blocks(section: Section, level: int, numbers: dict[str, int]) -> Iterator[str]:
    """Yield the blocks of a section and its subsections; ``numbers``: of sources by id, none for no markers."""
    yield f"{'#' * min(level, 6)} {escape(section.heading, heading=True)}".rstrip()
    yield from paragraphs_to_markdown(section.paragraphs, numbers)
    for subsection in section.subsections:
        yield from section_blocks(subsection, level + 1, numbers)


def paragraphs_to_markdown(paragraphs: tuple[Paragraph, ...], numbers: dict[str, int]) -> Iterator[str]:
    """Yield one block per paragraph; sentences without text are skipped."""
    for paragraph in paragraphs:
        lines = [
            f"{text}{marker(s, numbers) if numbers else ''}" for s in paragraph.sentences if (text := escape(s.text))
        ]
        if lines:
            yield "\n".join(lines)
