"""Wiki Live Challenge as its authors publish it (WangShao2000/Wiki_Live_Challenge): a folder tree for each benchmark.

``data/BENCHMARK/wiki_data/cleaned_data/article/NAME.md`` and ``…/statement/NAME_statements.json`` hold the human
article and its facts; ``data/BENCHMARK/test_data/SYSTEM/json_data/NAME.json`` a system's article, statements and the
pages that it cites.
"""

from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from storm_bench.datasets.dataset import read_json, read_model, read_text
from storm_pipeline.api import objects

ARTICLES, _STATEMENTS = "wiki_data/cleaned_data/article", "wiki_data/cleaned_data/statement"
_SYSTEMS = "test_data/*/json_data"
_ABOUT = ("Title:", "URL Source:", "Published Time:", "Markdown Content:", "Citations:")
"""Lines of a human article's file that tell where it was taken from."""


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


def benchmarks_in(folder: Path) -> tuple[Path, ...]:
    """The folders of benchmarks in a copy of the repository, or the folder itself if it is one; by name."""
    roots = [folder, *sorted(folder.glob("data/*"))]
    return tuple(root for root in roots if (root / ARTICLES).is_dir())


def article_files(benchmark: Path) -> tuple[Path, ...]:
    """The files of a benchmark's human articles, by name."""
    return tuple(sorted((benchmark / ARTICLES).glob("*.md")))


def topic_values(article: Path) -> dict[str, Any]:
    """A topic in the form that :mod:`.wiki_live` reads, from the file of its human article and those beside it.

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
    return [str(one.get("statement", "")) for one in objects(read_json(file))]
