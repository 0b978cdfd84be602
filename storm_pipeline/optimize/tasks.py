"""What can be compiled from finished articles: for each program its examples, and the metric that judges its replies.

A heading tree teaches the outline; a section's opening sentences and its heading teach the naming of sections.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import dspy

from storm_pipeline.documents.articles.pages import AvailablePages
from storm_pipeline.documents.articles.reading import SUFFIXES, read_article
from storm_pipeline.errors import DatasetError
from storm_pipeline.optimize.metrics import Metric, heading_metric, outline_metric
from storm_pipeline.references.similarity import Embed
from storm_pipeline.settings import Role, Settings
from storm_pipeline.types import Article, Section
from storm_pipeline.writers import writer_for

_FEWEST_HEADINGS = 3
"""Sections of an article that teaches an outline, at least."""
_SUBSECTIONS, _SECTIONS = 3, 20
"""What the outline's signature allows."""
_SENTENCES = 8
"""Sentences of a section shown to name it."""
_PER_ARTICLE = 4
"""Sections of one article that teach their naming."""


@dataclass(frozen=True)
class Task:
    """One program that can be compiled.

    Attributes:
        program: name in :class:`storm_pipeline.models.programs.Programs`.
        role: whose model is asked.
        metric: makes the metric, from an encoder.
        metric_name: its name.
        examples: an article, and the settings of runs → examples with the program's inputs and outputs.
    """

    program: str
    role: Role
    metric: Callable[[Embed], Metric]
    metric_name: str
    examples: Callable[[Article, Settings], Iterator[dspy.Example]]


def _outline_examples(article: Article, settings: Settings) -> Iterator[dspy.Example]:
    sections = [
        {"title": section.heading, "subsections": [one.heading for one in section.subsections][:_SUBSECTIONS]}
        for section in article.sections
        if section.heading
    ]
    if len(sections) >= _FEWEST_HEADINGS:
        wanted = writer_for(settings).wanted_sections(settings)
        inputs = {"topic": article.title, "language": settings.language_name, "wanted": wanted}
        yield dspy.Example(**inputs, sections=sections[:_SECTIONS]).with_inputs(*inputs)


def _heading_examples(article: Article, _: Settings) -> Iterator[dspy.Example]:
    named = [(section, texts) for section in article.sections if section.heading and (texts := _texts(section))]
    for section, texts in named[:_PER_ARTICLE]:
        inputs = {"topic": article.title, "sentences": "\n".join(texts[:_SENTENCES])}
        yield dspy.Example(**inputs, heading=section.heading).with_inputs(*inputs)


def _texts(section: Section) -> list[str]:
    return [sentence.text for sentence in section.sentences()]


TASKS = {
    task.program: task
    for task in (
        Task("draft", "outliner", outline_metric, "outline", _outline_examples),
        Task("heading", "writer", heading_metric, "heading", _heading_examples),
    )
}
"""Name of a program → how it is compiled."""


def read_articles(folder: Path) -> tuple[Article, ...]:
    """The articles of a folder, one a file: Markdown, JSON, wikitext; the title is the file's first heading or name.

    Raises:
        DatasetError: there is no such folder, or a file is damaged.
    """
    if not folder.is_dir():
        raise DatasetError(f"{folder} is no folder: name one with an article a file ({', '.join(SUFFIXES)})")
    files = sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES and path.is_file())
    return tuple(read_article(path, _title(path), AvailablePages()) for path in files)


def examples_of(
    task: Task, articles: Sequence[Article], settings: Settings
) -> tuple[tuple[str, tuple[dspy.Example, ...]], ...]:
    """The examples by topic, in the order of the articles; an article without any is left out."""
    made = ((article.title, tuple(task.examples(article, settings))) for article in articles)
    return tuple((title, examples) for title, examples in made if examples)


def _title(path: Path) -> str:
    if path.suffix == ".md":
        first = path.read_text(encoding="utf-8", errors="replace").lstrip().partition("\n")[0]
        if first.startswith("# "):
            return first[2:].strip()
    return path.stem.replace("_", " ")
