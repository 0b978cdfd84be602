"""Sentences with ``[n]`` markers, as a capable model writes them from numbered passages. Pure functions."""

import re
from collections.abc import Sequence

from storm_pipeline.references.citations import parse_cited
from storm_pipeline.references.grounding import Claim
from storm_pipeline.text.words import MARKER, has_word
from storm_pipeline.types import Citation

_EMPHASIS = re.compile(r"(?<!\d)(\*\*|__|\*)(\S(?:.*?\S)?)\1(?!\d)")
_LONGEST_TITLE = 10  # maximum length of an emphasised title in words
_LONGEST_MARKER = 60  # characters at the end of a text in which to look for its last marker


def claims_of(line: str, shown: int, language: str = "en", names: Sequence[str] = ()) -> tuple[tuple[Claim, ...], int]:
    """The sentences of a line with the positions they cite, and the number of markers that refer to no passage.

    ``line``: text with markers; emphasis is removed, and emphasised text, such as a title, is not split.
    """
    positions = [Citation(str(position), "") for position in range(shown)]
    titles = [found[2] for found in _EMPHASIS.finditer(line) if len(found[2].split()) <= _LONGEST_TITLE]
    cited = parse_cited(without_emphasis(line), positions, language, (*names, *titles))
    sentences = (s for s in cited.sentences if has_word(s.text))
    return tuple(Claim(s.text, tuple(int(c.source_id) for c in s.citations)) for s in sentences), cited.invented


def without_emphasis(line: str) -> str:
    """The line without the asterisks and underscores of bold and italic type."""
    return _EMPHASIS.sub(r"\2", line)


def has_markers_alone(line: str) -> bool:
    """Whether a line is nothing but markers."""
    return bool(MARKER.search(line)) and not has_word(MARKER.sub("", line))


def ends_in_marker(text: str) -> bool:
    """Whether a text ends with a marker; citations come last, so its last sentence is then complete."""
    end = text.rstrip("\n\r\t `*_|")
    return any(found.end() == len(end) for found in MARKER.finditer(end, max(0, len(end) - _LONGEST_MARKER)))
