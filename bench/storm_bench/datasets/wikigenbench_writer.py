"""Writes topics in WikiGenBench's format: ``wiki/ID.json``, ``google/ID.json`` and a row of ``manifest.csv``."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from storm_bench.datasets.dataset import write_json, write_text
from storm_bench.datasets.leakage import most_repeated
from storm_bench.datasets.usable_documents import is_usable
from storm_bench.datasets.wikigenbench import MANIFEST
from storm_bench.types import HumanSection, Topic

_COLUMNS = (
    *("id", "title", "split", "in_core", "n_ref_docs", "n_google_docs", "gt_words", "body_sections", "subsections"),
    *("max_8gram_leak", "has_google"),
)


def write_topic(folder: Path, topic: Topic) -> None:
    """Write both files of a topic; its id is the page id.

    Raises:
        DatasetError: they cannot be written.
    """
    found = [
        {"title": document.title, "link": document.url, "text": document.text}
        for document in topic.documents
        if document.origin == "search"
    ]
    write_json(folder / "google" / f"{topic.id}.json", found)
    write_json(folder / "wiki" / f"{topic.id}.json", page_json(topic))


def page_json(topic: Topic) -> dict[str, Any]:
    """The human article and its references as JSON values, without back matter; texts keep their case."""
    human = topic.human
    cited = [document for document in topic.documents if document.origin == "human"]
    return {
        "id": int(topic.id),
        "key": topic.title,
        "url": human.url,
        "text": "\n\n".join(filter(None, [human.lead, *map(_plain_section, human.sections)])),
        "unikey": topic.title,
        "summary": human.lead,
        "outlines": [section.heading.replace(" ", "_") for section in human.sections],
        "contents": ["\n".join(_heading_lines(section, 2)) for section in human.sections],
        "info_kv": dict(human.infobox),
        "reference": [[document.title, document.url, document.text] for document in cited],
        "source": "Wikipedia",
    }


def write_manifest(folder: Path, topics: Iterable[Topic]) -> None:
    """Write ``manifest.csv`` with all topics in the core: the plan's limits have excluded the others.

    Raises:
        DatasetError: it cannot be written.
    """
    rows = io.StringIO()
    writer = csv.DictWriter(rows, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(_row, topics))
    write_text(folder / MANIFEST, rows.getvalue())


def _row(topic: Topic) -> Mapping[str, str | int]:
    origins = [document.origin for document in topic.documents if is_usable(document)]
    return {
        "id": topic.id,
        "title": topic.title,
        "split": "new",
        "in_core": 1,
        "n_ref_docs": origins.count("human"),
        "n_google_docs": origins.count("search"),
        "gt_words": len(topic.human.text().split()),
        "body_sections": len(topic.human.sections),
        "subsections": len(topic.human.headings()) - len(topic.human.sections),
        "max_8gram_leak": f"{most_repeated(topic):.3f}",
        "has_google": int("search" in origins),
    }


def _plain_section(section: HumanSection) -> str:
    return "\n\n".join(text for part in section.walk() for text in (part.heading, part.text) if text)


def _heading_lines(section: HumanSection, level: int) -> Iterator[str]:
    if level > 2:
        yield f"{'#' * level} {section.heading}"
    if section.text:
        yield section.text
    for part in section.subsections:
        yield from _heading_lines(part, level + 1)
