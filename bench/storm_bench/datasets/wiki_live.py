"""Reads Wiki Live Challenge: new Good Articles of the English Wikipedia, other systems' articles, and cited pages.

The folder contains ``NAME.json.gz``, one per topic: ``title``; ``article``, Markdown without references;
``statements``, the article's facts; ``pages`` (url, title, text), all pages the systems cited; ``systems``, by name,
each with ``article`` and ``statements`` (``fact`` or ``statement``, and the cited URLs). Rounds that
:mod:`.wiki_live_builder` builds have no systems, and their pages have an ``origin``.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from pydantic import BaseModel

from storm_bench.datasets.dataset import DataSet, as_model, not_such, read_json
from storm_bench.datasets.human_back_matter import without_back_matter
from storm_bench.datasets.usable_documents import usable
from storm_bench.datasets.wiki_live_published import ARTICLES, article_files, benchmarks_in, topic_values
from storm_bench.types import (
    CitedStatement,
    HumanArticle,
    HumanSection,
    SystemArticle,
    Topic,
    TopicDocument,
)
from storm_pipeline import DatasetError
from storm_pipeline.api import (
    HeadingNode,
    plain_markdown,
    plain_text,
    readable_title,
    web_address,
)

NAME = "wiki_live"
_SUFFIX = ".json.gz"


class _Page(BaseModel):
    url: str
    title: str = ""
    text: str
    origin: Literal["human", "search"] = "search"


class _Statement(BaseModel):
    fact: str = ""
    statement: str = ""
    url: str | list[str | None] | None = None


class _System(BaseModel):
    article: str
    statements: list[_Statement] = []


class _File(BaseModel):
    title: str
    article: str
    statements: list[str]
    pages: list[_Page]
    systems: dict[str, _System] = {}


def read_wiki_live(folder: Path, *, strict: bool = False) -> DataSet:
    """Read the topics of a folder, ordered by file name.

    A topic's ``documents`` are the usable pages, each once, as plain text; they include copies of the article, which
    are removed when a corpus is built (:mod:`.leakage`).

    Args:
        folder: contains ``NAME.json.gz``, or is a copy of the repository (:mod:`.wiki_live_published`).
        strict: fail on a damaged file instead of skipping it.

    Raises:
        DatasetError: nothing can be read, or, if strict, a file is damaged.
    """
    folder = Path(folder).expanduser()
    topics: list[Topic] = []
    problems: list[str] = []
    published = [file for benchmark in benchmarks_in(folder) for file in article_files(benchmark)]
    for file in [*sorted(folder.glob(f"*{_SUFFIX}")), *published]:
        try:
            topics.append(_topic(file))
        except DatasetError as error:
            if strict:
                raise
            problems.append(f"skipped: {error}")
    if not topics:
        if problems:
            raise DatasetError(f"{folder} holds no readable topic: {problems[0]}")
        raise DatasetError(not_such(folder, NAME, f"it has no {_SUFFIX} file and no {ARTICLES}/"))
    return DataSet(NAME, tuple(topics), tuple(problems))


def _topic(file: Path) -> Topic:
    data = as_model(file, _File, topic_values(file) if file.suffix == ".md" else read_json(file))
    title = plain_text(data.title.replace("_", " "))
    tree = HeadingNode.of_markdown(data.article, title)
    body, back = without_back_matter(tuple(map(_section, tree.subsections)))
    statements = tuple(filter(None, map(plain_text, data.statements)))
    if not title or not (tree.paragraphs or body) or not statements:
        raise DatasetError(f"{file} holds no article: title, text or statements are missing; download it again")
    address = f"https://en.wikipedia.org/wiki/{quote(title.replace(' ', '_'))}"
    human = HumanArticle(title, address, _text(tree), body, back_matter=back, statements=statements)
    documents = usable(map(_document, data.pages))
    name = file.stem if file.suffix == ".md" else file.name.removesuffix(_SUFFIX)
    return Topic(name, title, human, documents, tuple(_systems(data.systems)))


def _section(part: HeadingNode) -> HumanSection:
    return HumanSection(part.heading, _text(part), tuple(map(_section, part.subsections)))


def _text(part: HeadingNode) -> str:
    return "\n\n".join(part.paragraphs)


def _document(page: _Page) -> TopicDocument:
    return TopicDocument(web_address(page.url), readable_title(page.title), plain_markdown(page.text), page.origin)


def _systems(data: Mapping[str, _System]) -> Iterator[SystemArticle]:
    """The systems' non-empty articles, ordered by system name."""
    for name, own in sorted(data.items()):
        if plain_text(own.article):
            yield SystemArticle(name, own.article, tuple(filter(lambda one: one.text, map(_stated, own.statements))))


def _stated(given: _Statement) -> CitedStatement:
    urls = [given.url] if isinstance(given.url, str) else given.url or ()
    addresses = dict.fromkeys(filter(None, map(web_address, urls)))
    return CitedStatement(plain_text(given.fact or given.statement), tuple(addresses))
