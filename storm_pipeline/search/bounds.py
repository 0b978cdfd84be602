"""Bounds on what an engine may return: each text is read many times, and all of it ends in files."""

from dataclasses import replace

from storm_pipeline.search.base import Asked
from storm_pipeline.search.result import SearchResult
from storm_pipeline.text.words import encodable
from storm_pipeline.types import Snippet

LONGEST_TEXT, LONGEST_TITLE = 50_000, 500
"""Characters; about 8,000 words, and the longest title that people read."""
_BREAKS = 200  # characters before a bound in which a text is cut at white space


def bounded(result: SearchResult, asked: Asked) -> SearchResult:
    """Cut texts and titles to :data:`LONGEST_TEXT` and :data:`LONGEST_TITLE`; a line in ``lost`` counts the texts."""
    snippets = tuple(map(_bounded, result.snippets))
    cut = sum(len(snippet.text) > LONGEST_TEXT for snippet in result.snippets)
    if not cut:
        return replace(result, snippets=snippets)
    lost = f"{asked.engine} returned {cut} texts of more than {LONGEST_TEXT:,} characters, which were cut"
    return replace(result, snippets=snippets, lost=(*result.lost, lost))


def _bounded(snippet: Snippet) -> Snippet:
    text, title = _cut(snippet.text, LONGEST_TEXT), _cut(snippet.title, LONGEST_TITLE)
    return snippet if (text, title) == (snippet.text, snippet.title) else replace(snippet, text=text, title=title)


def _cut(text: str, most: int) -> str:
    if len(text) > most:
        end = max(text.rfind(" ", most - _BREAKS, most), text.rfind("\n", most - _BREAKS, most))
        text = text[: end if end > 0 else most].rstrip()
    return encodable(text)
