"""Reads WikiGenBench (WikiGenBen): articles on recent events, with pages cited by editors and found by search.

The folder contains ``manifest.csv``, ``wiki/ID.json`` (key, url, text, outlines, contents, info_kv, reference:
citation, URL and text) and, for some topics, ``google/ID.json`` (title, link, text).
"""

import csv
import re
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

from pydantic import BaseModel, RootModel

from storm_bench.datasets.dataset import DataSet, folder_of, read_model
from storm_bench.datasets.human_back_matter import without_back_matter
from storm_bench.datasets.usable_documents import usable
from storm_bench.datasets.wikigenbench_article import article_tree
from storm_bench.types import HumanArticle, Topic, TopicDocument
from storm_pipeline import DatasetError
from storm_pipeline.api import MARKER, plain_text, web_address

NAME = "wikigenbench"
MANIFEST = "manifest.csv"
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


class _Hits(RootModel[list[_Hit]]):
    pass


def read_wikigenbench(folder: Path, *, core_only: bool = False, strict: bool = False) -> DataSet:
    """Read the topics of a folder, ordered by number.

    A topic's ``documents`` are the usable pages, each once, cited ones (``origin`` human) first; in the original data
    those have lost capitals and punctuation. ``human.references`` has all citations.

    Args:
        folder: contains ``wiki/`` and, for pages found by search, ``google/``.
        core_only: only topics marked ``in_core`` in the manifest: with enough pages, and not mere lists.
        strict: fail on a damaged file instead of skipping it.

    Raises:
        DatasetError: the folder is not such a data set, nothing can be read, or, if strict, a file is damaged.
    """
    folder = folder_of(folder, "wiki")
    rows = _manifest(folder / MANIFEST)
    if core_only and not rows:
        raise DatasetError(f"{folder} has no {MANIFEST}, which marks the core topics; use all topics or download it")
    names = {file.stem for file in (folder / "wiki").glob("*.json")} | set(rows)
    topics: list[Topic] = []
    problems: list[str] = []
    for name in sorted(names, key=lambda name: (len(name), name)):
        if core_only and rows.get(name) != "1":
            continue
        try:
            topics.append(_topic(folder, name))
        except DatasetError as error:
            if strict:
                raise
            problems.append(f"skipped: {error}")
    if not topics:
        raise DatasetError(f"{folder} holds no readable article: {problems[0] if problems else 'it is empty'}")
    return DataSet(NAME, tuple(topics), tuple(problems))


def _manifest(file: Path) -> Mapping[str, str]:
    """Topic id → ``in_core`` as in the manifest; empty without a manifest."""
    if not file.is_file():
        return {}
    try:
        with file.open(encoding="utf-8", newline="") as opened:
            return {row["id"]: row.get("in_core", "") for row in csv.DictReader(opened)}
    except (OSError, ValueError, KeyError, csv.Error) as error:
        raise DatasetError(f"{file} is damaged: it has no column of topic ids; download or rebuild it") from error


def _topic(folder: Path, name: str) -> Topic:
    page = read_model(folder / "wiki" / f"{name}.json", _Page)
    lead, tree = article_tree(page.text, page.outlines, page.contents)
    body, back = without_back_matter(tree)
    title = plain_text(page.key.replace("_", " "))
    if not title or not (lead or body):
        raise DatasetError(f"{folder / 'wiki' / name}.json holds no article: key or text is empty; download it again")
    cited = tuple(TopicDocument(web_address(url), _title(plain_text(said)), text) for said, url, text in page.reference)
    human = HumanArticle(title, web_address(page.url), lead, body, cited, tuple(_infobox(page.info_kv)), back)
    return Topic(name, title, human, usable(chain(cited, _found(folder / "google" / f"{name}.json"))))


def _title(citation: str) -> str:
    """The title of a cited page: the quoted part of the citation, or all of it."""
    found = _QUOTED.search(citation)
    return found[1].strip() if found else citation


def _infobox(fields: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for field, value in fields.items():
        name, plain = plain_text(field), plain_text(MARKER.sub("", value))
        if name and plain:
            yield name, plain


def _found(file: Path) -> tuple[TopicDocument, ...]:
    """The pages found by search; empty if the topic has no such file."""
    if not file.is_file():
        return ()
    hits = read_model(file, _Hits).root
    return tuple(TopicDocument(web_address(hit.link), plain_text(hit.title), hit.text, "search") for hit in hits)
