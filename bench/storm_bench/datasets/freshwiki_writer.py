"""Writes articles in FreshWiki's published format: ``json/NAME.json`` and ``txt/NAME.txt``."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from storm_bench.datasets.dataset import write_json, write_text
from storm_bench.types import HumanArticle, HumanSection, TopicDocument

_LONGEST_NAME = 150
_UNSAFE = re.compile(r'[/\\:*?"<>|\x00-\x1f]')


def file_name(title: str) -> str:
    """The file name of an article without suffix: its title with spaces and unsafe characters as underscores."""
    name = _UNSAFE.sub("_", title.replace(" ", "_")).lstrip(".")
    if name == title.replace(" ", "_") and len(name.encode()) <= _LONGEST_NAME:
        return name
    # A changed or shortened title gets a hash, so that two titles never share a file.
    short = name.encode()[:_LONGEST_NAME].decode("utf-8", "ignore")
    return f"{short}-{hashlib.sha256(title.encode()).hexdigest()[:8]}"


def write_article(folder: Path, article: HumanArticle) -> str:
    """Write both files of an article and return their name.

    Args:
        folder: the data set's folder.
        article: its sections need sentences; references are numbered in order.

    Raises:
        DatasetError: they cannot be written.
    """
    name = file_name(article.title)
    write_text(folder / "txt" / f"{name}.txt", article_text(article))
    write_json(folder / "json" / f"{name}.json", article_json(article))
    return name


def article_json(article: HumanArticle) -> dict[str, Any]:
    """The published JSON format, with full stops and with back matter last."""
    return {
        "title": article.title.replace(" ", "_"),
        "url": article.url,
        "summary": article.lead,
        "content": [_section(section) for section in (*article.sections, *article.back_matter)],
        "references": {str(number): _cited(cited) for number, cited in enumerate(article.references, 1)},
    }


def article_text(article: HumanArticle) -> str:
    """The published text format: ``#`` headings, ``[n]`` after sentences, references last."""
    numbers = {cited.url: number for number, cited in reversed(list(enumerate(article.references, 1))) if cited.url}
    parts = [article.title, article.lead]
    for section in article.sections:
        parts += _lines(section, 1, numbers)
    listed = [f"[{number}] {_cited(cited)}" for number, cited in enumerate(article.references, 1)]
    return "\n\n".join(filter(None, [*parts, "# References", "\n".join(listed)])) + "\n"


def _section(section: HumanSection) -> dict[str, Any]:
    return {
        "section_title": section.heading,
        "section_content": [{"sentence": said.text, "refs": list(said.references)} for said in section.sentences],
        "subsections": [_section(part) for part in section.subsections],
    }


def _lines(section: HumanSection, level: int, numbers: Mapping[str, int]) -> Iterator[str]:
    yield f"{'#' * level} {section.heading}"
    yield " ".join(_marked(said.text, said.references, numbers) for said in section.sentences)
    for part in section.subsections:
        yield from _lines(part, level + 1, numbers)


def _marked(text: str, references: Sequence[str], numbers: Mapping[str, int]) -> str:
    return text + "".join(f"[{numbers[url]}]" for url in references if url in numbers)


def _cited(document: TopicDocument) -> str:
    return document.url or document.title
