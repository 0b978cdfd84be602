"""Reads recorded runs of the official STORM (knowledge-storm) as cases: its articles with their citations.

A run's folder contains ``storm_gen_article.txt`` (before polishing), a polished article, ``url_to_info.json``, and the
refined outline, whose headings are those that the paper's outline metrics score (section 2.2): the article lacks those
of sections left unwritten and has those that the writer added. Pitfalls:

- The numbers in ``url_to_info.json`` are those of the article *before* polishing, which renumbers without a new list.
  Both texts have the same body, so polished numbers are recovered by aligning the two.
- A number cites a page, not a snippet: its passage is all snippets of the page that the run kept.
- Where a section cited beyond its sources, the official code deleted the last *valid* number with the invalid ones.
  This cannot be undone: such sentences stay uncited.
- ``[0]`` and numbers without a page cite nothing; they are dropped and counted as invented.
"""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from storm_pipeline.errors import DatasetError
from storm_pipeline.evaluation.datasets.heading_tree import (
    HeadingNode,
    TextBlock,
    build_tree,
    paragraphs_of,
    section_of,
)
from storm_pipeline.evaluation.types import Case, HumanArticle, Topic
from storm_pipeline.identity import source_id
from storm_pipeline.references.citations import parse_cited
from storm_pipeline.text.words import tidy
from storm_pipeline.types import Article, Citation, Heading, Outline, Paragraph, Report, Snippet, Source

_HEADING = re.compile(r"(#+)\s*(.*?)\s*#*")
_NUMBER = re.compile(r"\[(\d+)\]")
_POLISHED = ("storm_polished_article.txt", "storm_gen_article_polished.txt", "storm_gen_article_polished_article.txt")
_OUTLINES = ("refine_outline.txt", "storm_gen_outline.txt")
_LEAD = "summary"


def read_storm_runs(folder: Path, *, polished: bool = False) -> tuple[Case, ...]:
    """Read all runs in a folder, ordered by name.

    Raises:
        DatasetError: there are none, or one cannot be read.
    """
    runs = sorted(path.parent for path in folder.glob("*/url_to_info.json"))
    if not runs:
        raise DatasetError(f"{folder} holds no official STORM run: a run is a folder with url_to_info.json")
    return tuple(read_storm_run(run, polished=polished) for run in runs)


def read_storm_run(folder: Path, *, polished: bool = False) -> Case:
    """Read one run; the topic's title is the folder's name, and its human article is unknown.

    Args:
        folder: the run's folder.
        polished: read the polished article, which has a lead, instead of the unpolished one.

    Raises:
        DatasetError: a file is absent or has an unexpected format.
    """
    title = folder.name.replace("_", " ")
    text = _text(folder, ("storm_gen_article.txt",))
    try:
        pages = json.loads(_text(folder, ("url_to_info.json",)))
        shown, sources = _citations_and_sources(pages)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DatasetError(
            f"{folder / 'url_to_info.json'} does not have the format of a STORM run ({error})"
        ) from error
    if polished:
        text = _renumbered(_text(folder, _POLISHED), text, folder)
    article = replace(_article(title, text, shown), outline=_outline(folder, title))
    return Case(Topic(folder.name, title, HumanArticle(title)), replace(article, sources=sources))


def _text(folder: Path, names: tuple[str, ...]) -> str:
    found = next((folder / name for name in names if (folder / name).is_file()), folder / names[0])
    try:
        return found.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"{found} cannot be read: an official STORM run has this file, in UTF-8") from error


def _outline(folder: Path, title: str) -> Outline:
    """The refined outline as recorded; empty if the run has none."""
    if not any((folder / name).is_file() for name in _OUTLINES):
        return Outline(title)
    lines = filter(None, map(str.strip, _text(folder, _OUTLINES).splitlines()))
    return Outline(title, _headings(build_tree(map(_block, lines))))


def _headings(part: HeadingNode) -> tuple[Heading, ...]:
    return tuple(Heading(below.heading, _headings(below)) for below in part.subsections)


def _citations_and_sources(pages: Any) -> tuple[tuple[Citation, ...], tuple[Source, ...]]:
    """The citations of numbers 1, 2, …, and their sources; URLs of the same page are one source."""
    by_number = {number: pages["url_to_info"][url] for url, number in pages["url_to_unified_index"].items()}
    shown, sources = [], dict[str, Source]()
    for number in range(1, max(by_number, default=0) + 1):
        page = by_number[number]
        pieces = dict.fromkeys(filter(None, map(tidy, page["snippets"])))
        passage = "\n".join(pieces) or tidy(page["description"] or page["title"])
        snippet = Snippet(page["url"], tidy(page["title"]), passage)
        known = sources.get(snippet.source_id, Source(source_id(snippet.url), snippet.url, snippet.title))
        sources[known.id] = replace(known, snippets=tuple(dict.fromkeys([*known.snippets, snippet])))
        shown.append(Citation(snippet.source_id, snippet.id))
    return tuple(shown), tuple(sources.values())


def _renumbered(polished: str, generated: str, folder: Path) -> str:
    """Replace the polished text's numbers by those of the unpolished one, whose body is otherwise the same."""
    opening = re.match(rf"#\s*{_LEAD}\b.*?(?=^#\s)", polished, re.S | re.M | re.I)
    body = polished[opening.end() :] if opening else polished
    if "".join(_NUMBER.sub("[]", body).split()) != "".join(_NUMBER.sub("[]", generated).split()):
        raise DatasetError(
            f"the polished article in {folder} has another body than the unpolished one, so its numbers cannot be "
            "recovered: read the unpolished one (polished=False)"
        )
    original = dict(zip(_NUMBER.findall(body), _NUMBER.findall(generated), strict=True))
    return _NUMBER.sub(lambda found: f"[{original.get(found[1], '0')}]", polished)


def _article(title: str, text: str, shown: tuple[Citation, ...]) -> Article:
    """Parse an article with one paragraph per line; a first section titled *summary* becomes the lead."""
    invented = 0

    def cited(line: str) -> Paragraph:
        nonlocal invented
        found = parse_cited(line, shown)
        invented += found.invented
        return Paragraph(found.sentences)

    tree = build_tree(_block(line) for line in map(str.strip, text.splitlines()) if line)
    lead, sections = paragraphs_of(tree, cited), tuple(section_of(part, cited) for part in tree.subsections)
    if sections and sections[0].heading.casefold() == _LEAD:
        lead, sections = (*lead, *sections[0].paragraphs), sections[1:]
    return Article(title, lead, sections, report=Report(invented_citations=invented))


def _block(line: str) -> TextBlock:
    heading = _HEADING.fullmatch(line)
    return TextBlock(tidy(heading[2]), len(heading[1])) if heading else TextBlock(line)
