"""Reads Wiki Live Challenge: new Good Articles of Wikipedia, other systems' articles, and cited pages.

The folder contains ``NAME.json.gz``, one per topic: ``title``; ``article``, Markdown without references;
``statements``, the article's facts; ``pages`` (url, title, text), all pages the systems cited; ``systems``, by name,
each with ``article`` and ``statements`` (``fact`` or ``statement``, and the cited URLs). Or it is a copy of the
authors' repository (WangShao2000/Wiki_Live_Challenge), a folder tree for each benchmark:
``data/BENCHMARK/wiki_data/cleaned_data/article/NAME.md`` and ``…/statement/NAME_statements.json`` hold the human
article and its facts; ``data/BENCHMARK/test_data/SYSTEM/json_data/NAME.json`` a system's article, statements and the
pages that it cites.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pydantic import BaseModel

from storm_bench.datasets.dataset import (
    DataSet,
    as_model,
    not_such,
    read_json,
    read_model,
    read_text,
    read_topics,
    without_back_matter,
)
from storm_bench.datasets.usable_documents import usable
from storm_bench.folders import without_links
from storm_bench.types import CitedStatement, HumanArticle, HumanSection, SystemArticle, Topic, TopicDocument, TopicRead
from storm_pipeline import DatasetError
from storm_pipeline.api import objects, plain_text, readable_title, web_address
from storm_pipeline.output.articles.markdown_blocks import HeadingNode, plain_markdown

NAME = "wiki_live"
SUFFIX = ".json.gz"
ARTICLES, _STATEMENTS = "wiki_data/cleaned_data/article", "wiki_data/cleaned_data/statement"
_SYSTEMS = "test_data/*/json_data"
_ABOUT = ("Title:", "URL Source:", "Published Time:", "Markdown Content:", "Citations:")
"""Lines of a published human article's file that name its origin."""


class _Page(BaseModel):
    url: str
    title: str = ""
    text: str


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


class _Cited(BaseModel):
    url: str | None = None
    title: str | None = None
    content: str | None = None


class _SystemPage(BaseModel):
    extract: str = ""
    statements: list[dict[str, Any]] = []
    citation_contents: dict[str, _Cited | None] = {}


class _Query(BaseModel):
    pages: dict[str, _SystemPage]


class _SystemFile(BaseModel):
    query: _Query


def read_wiki_live(folder: Path) -> DataSet:
    """Read the topics of a folder, ordered by file name.

    A topic's ``documents`` are the usable pages, each once, as plain text; they include copies of the article, which
    are removed when a corpus is built (:mod:`.leakage`). Damaged files are skipped, and listed in ``problems``.
    ``folder``: contains ``NAME.json.gz``, or is a copy of the repository. Raises DatasetError: nothing can be read.
    """
    folder = without_links(folder)
    benchmarks = (folder, *sorted(folder.glob("data/*")))
    published = [file for benchmark in benchmarks for file in sorted((benchmark / ARTICLES).glob("[!.]*.md"))]
    files = [*sorted(folder.glob(f"[!.]*{SUFFIX}")), *published]
    if not files:
        raise DatasetError(not_such(folder, NAME, f"it has no {SUFFIX} file and no {ARTICLES}/"))
    return read_topics(NAME, folder, files, _topic)


def _topic(path: str) -> Iterator[TopicRead]:
    file = Path(path)
    data = as_model(file, _File, _published_values(file) if file.suffix == ".md" else read_json(file))
    title = plain_text(data.title.replace("_", " "))
    tree = HeadingNode.of_markdown(data.article, title)
    body, back = without_back_matter(tuple(map(_section, tree.subsections)))
    statements = tuple(filter(None, map(plain_text, data.statements)))
    if not title or not (tree.paragraphs or body) or not statements:
        raise DatasetError(f"{file} holds no article: title, text or statements are missing; download it again")
    address = f"https://en.wikipedia.org/wiki/{quote(title.replace(' ', '_'))}"
    human = HumanArticle(title, address, _text(tree), body, back_matter=back, statements=statements)
    documents = usable(
        TopicDocument(web_address(page.url), readable_title(page.title), plain_markdown(page.text), "search")
        for page in data.pages
    )
    name = file.stem if file.suffix == ".md" else file.name.removesuffix(SUFFIX)
    yield Topic(name, title, human, documents, tuple(_systems(data.systems))), ()


def _published_values(article: Path) -> dict[str, Any]:
    """Return a topic as :class:`_File`, from the file of its human article and those beside it.

    Each page that a system cites is taken once, from the first system that has its text. Raises DatasetError: a file is
    damaged.
    """
    name, benchmark = article.stem, article.parents[3]
    systems: dict[str, Any] = {}
    pages: dict[str, dict[str, str]] = {}
    for folder in sorted(benchmark.glob(_SYSTEMS)):
        file = folder / f"{name}.json"
        found = read_model(file, _SystemFile).query.pages.values() if file.is_file() else ()
        for page in islice(found, 1):  # the one article in the system's file
            systems[folder.parent.name] = {"article": page.extract, "statements": page.statements}
            for cited in filter(None, page.citation_contents.values()):
                if cited.url and cited.content:
                    pages.setdefault(cited.url, {"url": cited.url, "title": cited.title or "", "text": cited.content})
    lines = read_text(article).splitlines()
    return {
        "title": name,
        "article": "\n".join(line for line in lines if not line.startswith(_ABOUT)),
        "statements": _statements(benchmark / _STATEMENTS / f"{name}_statements.json"),
        "pages": list(pages.values()),
        "systems": systems,
    }


def _statements(file: Path) -> list[str]:
    if not file.is_file():
        return []
    return [str(row.get("statement", "")) for row in objects(read_json(file))]


def _section(part: HeadingNode) -> HumanSection:
    return HumanSection(part.heading, _text(part), tuple(map(_section, part.subsections)))


def _text(part: HeadingNode) -> str:
    return "\n\n".join(part.paragraphs)


def _systems(data: Mapping[str, _System]) -> Iterator[SystemArticle]:
    """Yield the systems' non-empty articles, ordered by system name."""
    for name, own in sorted(data.items()):
        if plain_text(own.article):
            yield SystemArticle(name, own.article, tuple(filter(lambda one: one.text, map(_stated, own.statements))))


def _stated(given: _Statement) -> CitedStatement:
    urls = [given.url] if isinstance(given.url, str) else given.url or ()
    addresses = dict.fromkeys(filter(None, map(web_address, urls)))
    return CitedStatement(plain_text(given.fact or given.statement), tuple(addresses))
