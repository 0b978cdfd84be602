"""A complete article as JSON and back: text, sources, research, usage and report."""

import dataclasses
import json
import math
import sys
from collections.abc import Sequence
from itertools import chain
from typing import Any

from storm_pipeline.errors import RunError
from storm_pipeline.run.events import adapter_of, json_text
from storm_pipeline.text.identity import snippet_id, source_id
from storm_pipeline.types import Article, is_plausible

_SHORT_ID = 13  # length of an id of earlier versions
SCHEMA = 1  # version of the format; incremented when an older reader would misread it


def to_json(article: Article) -> str:
    """Serialise all of an article: ``{"schema": 1, "article": …}``, with the fields' names as keys.

    Lone surrogates, which UTF-8 cannot encode, become question marks.
    """
    record = {"schema": SCHEMA, "article": dataclasses.asdict(article)}
    return json.dumps(record, ensure_ascii=False, indent=1).encode("utf-8", "replace").decode("utf-8")


def files_for_readers(article: Article) -> dict[str, str]:
    """Return name → text of the files of a finished run: the article in three forms, and its references."""
    texts = article.to_markdown(), article.to_html(), article.to_json(), json_text(article.references)
    return dict(zip(("article.md", "article.html", "article.json", "references.json"), texts, strict=True))


def from_json(text: str) -> Article:
    """Read an article that :func:`to_json` wrote; equal to the original.

    Raises RunError: not such a file, another version, or a citation of a missing source or of missing words.
    """
    try:
        record = parse_json(text)
    except (ValueError, RecursionError) as error:
        raise RunError(f"not an article: the text is not JSON ({error}); give the article.json of a run") from error
    if not isinstance(record, dict) or "article" not in record:
        raise RunError("not an article: found no 'article' in the JSON; give the article.json of a run")
    if record.get("schema") != SCHEMA:
        schema = record.get("schema")
        raise RunError(f"the article has format {schema!r}, this version reads {SCHEMA}; update storm-pipeline")
    try:
        article: Article = adapter_of(Article).validate_python(record["article"])
    except (ValueError, RecursionError) as error:
        raise RunError(f"the article is damaged: {_reason(error)}; render it again from its run") from error
    levels = max(_depth(article.sections, "subsections"), _depth(article.outline.sections, "children"))
    if levels > most_levels():
        raise RunError("the article is damaged: its headings are nested too deeply; render it again from its run")
    if not all(map(is_plausible, (article.usage, *article.usage.rows, article.report))):
        raise RunError("the article is damaged: a number of its usage is absurd; render it again from its run")
    _check_citations(article)
    return article


def parse_json(text: str | bytes) -> Any:
    """Parse a file of a run; ids of 12 digits, which earlier versions gave, are lengthened. Raises ValueError."""
    records: list[dict[str, Any]] = []

    def keep(record: dict[str, Any]) -> dict[str, Any]:
        records.append(record)
        return record

    value, names = json.loads(text, object_hook=keep), ("id", "source_id", "snippet_id")
    if any(len(str(record.get(name))) == _SHORT_ID for record in records for name in names):
        pages = [(str(record["url"]), str(record.get("text"))) for record in records if "url" in record]
        ids = {name[:_SHORT_ID]: name for url, text in pages for name in (source_id(url), snippet_id(url, text))}
        for record in records:
            record.update({name: ids.get(str(record[name]), record[name]) for name in names if name in record})
    return value


def most_levels() -> int:
    """Return how deep headings may be nested: a renderer has several frames for each level."""
    return sys.getrecursionlimit() // 20


def _depth(level: Sequence[Any], below: str) -> int:
    depth = 0
    while level:
        level, depth = [child for heading in level for child in getattr(heading, below)], depth + 1
    return depth


def _check_citations(article: Article) -> None:
    """Raise RunError if a sentence cites a source that is not in the article, or words that are not in the passage."""
    known = {source.id for source in article.sources}
    lengths = {snippet.id: len(snippet.text) for source in article.sources for snippet in source.snippets}
    for citation in (citation for sentence in article.sentences() for citation in sentence.citations):
        if citation.source_id not in known:
            raise RunError(f"the article is damaged: it cites the source {citation.source_id} that it lacks")
        bounds = [0, *chain.from_iterable(citation.spans), lengths.get(citation.snippet_id, math.inf)]
        if bounds != sorted(bounds) or any(start == end for start, end in citation.spans):
            raise RunError(f"the article is damaged: spans of its passage {citation.snippet_id} lie outside of it")


def _reason(error: Exception) -> str:
    """Return the first error on one line."""
    from pydantic_core import ValidationError

    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
