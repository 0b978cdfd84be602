"""WikiGenBench (WikiGenBen): articles on recent events with the pages that editors cited and that a search found.

A folder with ``manifest.csv``, ``wiki/ID.json`` (key, url, text, outlines, contents, info_kv, reference: citation,
address and text) and ``google/ID.json`` (title, link, text), the latter for some topics only.
"""

import csv
import re
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

from pydantic import BaseModel, RootModel

from storm_pipeline.documents.plain import plain_text, web_address
from storm_pipeline.errors import DatasetError
from storm_pipeline.evaluation.datasets.back_matter import without_back_matter
from storm_pipeline.evaluation.datasets.dataset import DataSet, folder_of, read_model
from storm_pipeline.evaluation.datasets.documents import usable
from storm_pipeline.evaluation.datasets.wikigenbench_article import article_tree
from storm_pipeline.evaluation.types import Document, HumanArticle, Topic
from storm_pipeline.text.words import MARKER

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
    """The topics of a folder, by their numbers.

    A topic's ``documents`` are the pages that hold something to read, each once, cited ones (``origin`` human) first;
    of the original data those have lost capitals and punctuation. ``human.references`` has all that editors cited.

    Args:
        folder: holds ``wiki/`` and, for pages found by search, ``google/``.
        core_only: only the topics that the manifest marks as ``in_core``: with enough pages, and no mere lists.
        strict: whether a damaged file is refused instead of skipped.

    Raises:
        DatasetError: the folder is no such data set, nothing in it could be read, or, if strict, a file is damaged.
    """
    folder = folder_of(folder, "wiki")
    rows = _manifest(folder / MANIFEST)
    if core_only and not rows:
        raise DatasetError(f"{folder} has no {MANIFEST}, which marks the core topics; read all of them or fetch it")
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
        raise DatasetError(f"{folder} holds no article that can be read: {problems[0] if problems else 'it is empty'}")
    return DataSet(NAME, tuple(topics), tuple(problems))


def _manifest(file: Path) -> Mapping[str, str]:
    """Id → whether the topic is in the core; empty where there is no manifest."""
    if not file.is_file():
        return {}
    try:
        with file.open(encoding="utf-8", newline="") as opened:
            return {row["id"]: row.get("in_core", "") for row in csv.DictReader(opened)}
    except (OSError, ValueError, KeyError, csv.Error) as error:
        raise DatasetError(f"{file} is damaged: it names no topics by their id; fetch or build it anew") from error


def _topic(folder: Path, name: str) -> Topic:
    page = read_model(folder / "wiki" / f"{name}.json", _Page)
    lead, tree = article_tree(page.text, page.outlines, page.contents)
    body, back = without_back_matter(tree)
    title = plain_text(page.key.replace("_", " "))
    if not title or not (lead or body):
        raise DatasetError(f"{folder / 'wiki' / name}.json holds no article: its key or text is empty; fetch it anew")
    cited = tuple(Document(web_address(url), _title(plain_text(said)), text) for said, url, text in page.reference)
    human = HumanArticle(title, web_address(page.url), lead, body, cited, tuple(_infobox(page.info_kv)), back)
    return Topic(name, title, human, usable(chain(cited, _found(folder / "google" / f"{name}.json"))))


def _title(citation: str) -> str:
    """What stands in quotation marks in a citation, the title of the page; the whole of it if nothing does."""
    found = _QUOTED.search(citation)
    return found[1].strip() if found else citation


def _infobox(fields: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for field, value in fields.items():
        name, plain = plain_text(field), plain_text(MARKER.sub("", value))
        if name and plain:
            yield name, plain


def _found(file: Path) -> tuple[Document, ...]:
    """What a search for the title found; nothing where the topic has no such file."""
    if not file.is_file():
        return ()
    hits = read_model(file, _Hits).root
    return tuple(Document(web_address(hit.link), plain_text(hit.title), hit.text, "search") for hit in hits)
