"""What can be compiled from finished articles: for each program its examples, metric and usual optimiser."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

import dspy

from storm_pipeline.documents.articles.pages import AvailablePages
from storm_pipeline.documents.articles.reading import SUFFIXES, read_article, title_of
from storm_pipeline.errors import DatasetError
from storm_pipeline.files import is_plain
from storm_pipeline.optimize import examples as made
from storm_pipeline.optimize.metrics import MakeMetric, cited_metric, outline_metric, queries_metric, verdicts_metric
from storm_pipeline.settings import Role, Settings
from storm_pipeline.types import Article

ENTRY_POINTS = "storm_pipeline.training"
"""Group of entry points: installed packages name what reads a data set's folder as articles there."""
Topics = tuple[tuple[str, tuple[dspy.Example, ...]], ...]
"""Title of a topic, and its examples."""


@dataclass(frozen=True)
class Task:
    """One program that can be compiled."""

    program: str  # name in :class:`storm_pipeline.models.programs.Programs`
    role: Role
    metric: MakeMetric
    metric_name: str
    examples: Callable[[Article, Settings], Iterator[dspy.Example]]  # those of an article, by the settings of runs
    optimizer: str = "bootstrap"  # its usual one: ``gepa`` where examples would make prompts too long


TASKS = {
    task.program: task
    for task in (
        Task("queries", "expert", queries_metric, "queries", made.query_examples),
        Task("passage_answer", "expert", cited_metric("answer"), "cited text", made.answer_examples),
        Task("draft", "outliner", outline_metric, "outline", made.outline_examples),
        Task("section", "writer", cited_metric("text"), "cited text", made.section_examples, "gepa"),
        Task("lead", "writer", cited_metric("lead"), "cited text", made.lead_examples, "gepa"),
        Task("check", "judge", verdicts_metric, "verdicts", made.check_examples),
    )
}
"""Name of a program → how it is compiled, in the order in which a run asks them."""


def read_training(place: str) -> tuple[Article, ...]:
    """Articles to learn from: a folder of the user's own, or ``NAME:FOLDER`` of a data set that a package reads."""
    name, colon, folder = place.partition(":")
    readers = {entry.name: entry for entry in entry_points(group=ENTRY_POINTS)}
    if not colon or len(name) == 1 or Path(place).is_dir():  # C:\...
        return read_articles(Path(place))
    if name not in readers:
        known = ", ".join(sorted(readers)) or "none is installed (storm-bench has some)"
        raise DatasetError(f"nothing reads the data set {name!r}: choose among {known}, or name a folder of articles")
    read: Callable[[Path], Sequence[Article]] = readers[name].load()
    return tuple(read(Path(folder)))


def read_articles(folder: Path) -> tuple[Article, ...]:
    """The articles of a folder, one a file: Markdown, JSON, wikitext; the title is the file's first heading or name.

    Raises DatasetError: there is no such folder, or a file is damaged or a link.
    """
    if not folder.is_dir():
        raise DatasetError(f"{folder} is no folder: name one with an article a file ({', '.join(SUFFIXES)})")
    files = sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES and path.is_file())
    if linked := next((path for path in files if not is_plain(path)), None):
        raise DatasetError(f"{linked} is a link, and what it leads to would be shown to the model: copy the file")
    return tuple(read_article(path, title_of(path), AvailablePages()) for path in files)


def examples_of(task: Task, articles: Sequence[Article], settings: Settings) -> Topics:
    """The examples by topic, in the order of the articles; articles of one title are one topic."""
    by_topic: dict[str, list[dspy.Example]] = {}
    for article in articles:
        by_topic.setdefault(article.title.strip().casefold(), []).extend(task.examples(article, settings))
    titles = {article.title.strip().casefold(): article.title for article in articles}
    return tuple((titles[topic], tuple(own)) for topic, own in by_topic.items() if own)
