"""Finds imported articles: files of a folder, one per topic, in any of several formats."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from storm_bench.articles.data_set import file_names, pages_of
from storm_bench.folders import require_no_links
from storm_bench.types import Topic
from storm_pipeline import Article, DatasetError
from storm_pipeline.api import read_bounded
from storm_pipeline.output.articles.reading import SUFFIXES, read_article

_MAX_BYTES = 20_000_000
_RUN = "url_to_info.json"  # in a folder of knowledge-storm's output


def read_imported(folder: Path, topic: Topic) -> Article:
    """Read a topic's article from a folder, in the format that the folder has for it.

    ``folder``: contains ``TOPIC.md``, ``TOPIC.txt``, ``TOPIC.json`` or ``TOPIC.wiki``
    (:mod:`storm_pipeline.output.articles`), or ``TOPIC/``, a run of knowledge-storm, of which the polished article
    is read if it has one (:mod:`storm_bench.datasets.storm_runs`). Raises DatasetError: the folder has no such file or
    several, or the file is a link or cannot be read; MissingExtraError: the format's parser is not installed.
    """
    found = list(_found(folder, topic))
    if not found:
        raise DatasetError(f"{folder} has no article on {topic.title!r}: put {_wanted(topic)} there")
    if len(found) > 1:
        names = " and ".join(path.name for path in found)
        raise DatasetError(f"{folder} has several articles on {topic.title!r}, {names}: remove all but one")
    (path,) = found
    require_no_links((path, *path.rglob("*")))
    return read_article(path, topic.title, pages_of(topic))


def imported_hash(folder: Path, topic: Topic) -> str:
    """Hash of the content that :func:`read_imported` reads; empty if there is none, or more than one article."""
    found = list(_found(folder, topic))
    if len(found) != 1:
        return ""
    files = sorted([*found[0].glob("*.txt"), found[0] / _RUN]) if found[0].is_dir() else found
    try:
        return hashlib.sha256(b"\0".join(read_bounded(path, _MAX_BYTES) for path in files)).hexdigest()
    except (OSError, ValueError):
        return ""


def _wanted(topic: Topic) -> str:
    *most, last = (f"{topic.id}{suffix}" for suffix in SUFFIXES)
    return f"{', '.join(most)} or {last}"


def _found(folder: Path, topic: Topic) -> Iterator[Path]:
    """Yield the files and folders of a topic's article."""
    for name in file_names(topic):
        for suffix in SUFFIXES:
            if (path := folder / f"{name}{suffix}").is_file():
                yield path
        if (folder / name / _RUN).is_file():
            yield folder / name
