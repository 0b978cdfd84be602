"""Writes topics in Wiki Live's format: ``NAME.json.gz`` with article, statements and pages."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from storm_bench.datasets.dataset import write_json
from storm_bench.types import HumanArticle, HumanSection, Topic
from storm_pipeline.api import escape, escape_heading

SUFFIX = ".json.gz"
_LOWEST = 6


def write_topic(folder: Path, topic: Topic) -> None:
    """Write the file of a topic, which its id names.

    Args:
        folder: the data set's folder.
        topic: its article needs statements.

    Raises:
        DatasetError: it cannot be written.
    """
    write_json(folder / f"{topic.id}{SUFFIX}", topic_json(topic))


def topic_json(topic: Topic) -> dict[str, Any]:
    """A topic as JSON values. Article and pages are Markdown, in which all that is not markup is escaped."""
    return {
        "title": topic.title,
        "article": article_markdown(topic.human),
        "statements": list(topic.human.statements),
        "pages": [
            {
                "url": document.url,
                "title": document.title,
                "text": "\n".join(map(_literal, document.text.splitlines())),
                "origin": document.origin,
            }
            for document in topic.documents
        ],
        "systems": {},
    }


def article_markdown(article: HumanArticle) -> str:
    """Title, lead and body, without references and back matter; one paragraph per line."""
    blocks = [f"# {_heading(article.title)}", *_paragraphs(article.lead)]
    for section in article.sections:
        blocks += _blocks(section, 2)
    return "\n\n".join(blocks) + "\n"


def _blocks(section: HumanSection, level: int) -> Iterator[str]:
    yield f"{'#' * min(level, _LOWEST)} {_heading(section.heading)}"
    yield from _paragraphs(section.text)
    for part in section.subsections:
        yield from _blocks(part, level + 1)


def _paragraphs(text: str) -> Iterator[str]:
    return filter(None, map(_literal, text.splitlines()))


def _heading(text: str) -> str:
    return _unlinked(escape_heading(text))


def _literal(text: str) -> str:
    return _unlinked(escape(text))


def _unlinked(markdown: str) -> str:
    """Without what the reader takes for a link: it ignores that a bracket is escaped, as published pages need it."""
    return markdown.replace("](", "]\\(")
