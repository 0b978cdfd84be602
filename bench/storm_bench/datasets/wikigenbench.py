"""Reads WikiGenBench (WikiGenBen): articles on recent events, with pages that are cited or were found.

The folder contains ``wiki/ID.json`` (key, url, text, outlines, contents, info_kv, reference: citation, URL and text),
for some topics ``google/ID.json`` (title, link, text), and perhaps ``manifest.csv``. The authors' repository
(zhzihao/WikiGenBench) has the same files as ``data/ID.json`` and ``data/google/ID.json``.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

from pydantic import BaseModel, RootModel

from storm_bench.datasets.built import read_built
from storm_bench.datasets.dataset import DataSet, folder_of, read_model, read_text, read_topics, without_back_matter
from storm_bench.datasets.usable_documents import usable
from storm_bench.datasets.wikigenbench_article import article_tree
from storm_bench.folders import is_file_name, without_links
from storm_bench.types import HumanArticle, Topic, TopicDocument, TopicRead
from storm_pipeline import DatasetError
from storm_pipeline.api import plain_text, web_address, without_markers

NAME = "wikigenbench"
MANIFEST = "manifest.csv"
_LEAST_PAGES, _LEAST_SECTIONS = 5, 3
_QUOTED = re.compile(r"[\"“]([^\"“”]{3,})[\"”]")


class _Page(BaseModel):
    key: str
    url: str = ""
    text: str
    outlines: list[str]
    contents: list[str]
    info_kv: dict[str, str] = {}
    reference: list[tuple[str, str, str]] = []


class _Hit(BaseModel):
    title: str = ""
    link: str
    text: str = ""


def read_wikigenbench(folder: Path, *, core_only: bool = False) -> DataSet:
    """Read the topics of a folder, ordered by number.

    A topic's ``documents`` are the usable pages, each once, cited ones (``origin`` human) first; in the original data
    those have lost capitals and punctuation. ``human.references`` has all citations. ``folder``: contains ``wiki/``
    and, for pages found by search, ``google/``, is a copy of the repository, or was built here; ``core_only``: only
    topics marked ``in_core`` in the manifest; without a manifest those of :func:`in_core`. Damaged files are skipped,
    and listed in ``problems``. Raises DatasetError: the folder is not such a data set, or nothing can be read.
    """
    folder = without_links(folder)
    if built := read_built(NAME, folder):
        return built  # all of the core: the plan's limits have excluded the others
    articles = folder_of(folder, NAME, "wiki", "data")
    rows = _manifest(articles.parent / MANIFEST)
    names = sorted({file.stem for file in articles.glob("[!.]*.json")} | set(rows), key=lambda name: (len(name), name))
    wanted = [name for name in names if not (core_only and rows) or rows.get(name) == "1"]
    files = (articles / f"{name}.json" for name in wanted)
    why = "it has no topic of the core" if core_only else "it is empty"
    return read_topics(
        NAME, folder, files, _topic, keep=lambda topic: bool(rows) or not core_only or in_core(topic), empty=why
    )


def _manifest(file: Path) -> Mapping[str, str]:
    """Return topic id → ``in_core`` as in the manifest; empty without a manifest."""
    if not file.is_file():
        return {}
    try:
        rows = {row["id"]: row.get("in_core", "") for row in csv.DictReader(io.StringIO(read_text(file)))}
    except (KeyError, csv.Error) as error:
        raise DatasetError(f"{file} is damaged: it has no column of topic ids; download or rebuild it") from error
    if wrong := [name for name in rows if not is_file_name(name)]:
        raise DatasetError(f"{file} is damaged: the id {wrong[0]!r} is not a file name; download or rebuild it")
    return rows


def in_core(topic: Topic) -> bool:
    """Return whether a topic has enough sources and prose: five pages, three sections, not only a list."""
    return (
        len(topic.documents) >= _LEAST_PAGES
        and len(topic.human.sections) >= _LEAST_SECTIONS
        and not topic.title.startswith("List of ")
    )


def _topic(name: str) -> Iterator[TopicRead]:
    file = Path(name)
    articles = file.parent
    page = read_model(file, _Page)
    lead, tree = article_tree(page.text, page.outlines, page.contents)
    body, back = without_back_matter(tree)
    title = plain_text(page.key.replace("_", " "))
    if not title or not (lead or body):
        raise DatasetError(f"{file} holds no article: key or text is empty; download it again")
    cited = tuple(
        TopicDocument(web_address(url), cited_title(plain_text(said)), text) for said, url, text in page.reference
    )
    human = HumanArticle(title, web_address(page.url), lead, body, cited, tuple(_infobox(page.info_kv)), back)
    found = articles / "google" if articles.name == "data" else articles.parent / "google"
    yield Topic(file.stem, title, human, usable(chain(cited, _found(found / file.name)))), ()


def cited_title(citation: str) -> str:
    """Return the title of a cited page: the quoted part of the citation, or all of it."""
    found = _QUOTED.search(citation)
    return found[1].strip() if found else citation


def _infobox(fields: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for field, value in fields.items():
        name, plain = plain_text(field), plain_text(without_markers(value))
        if name and plain:
            yield name, plain


def _found(file: Path) -> tuple[TopicDocument, ...]:
    """Return the pages found by search; empty if the topic has no such file."""
    if not file.is_file():
        return ()
    hits = read_model(file, RootModel[list[_Hit]]).root
    return tuple(TopicDocument(web_address(hit.link), plain_text(hit.title), hit.text, "search") for hit in hits)
