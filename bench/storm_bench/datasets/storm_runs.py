"""Reads recorded runs of the official STORM (knowledge-storm) as cases: its articles with their citations.

A run's folder contains ``storm_gen_article.txt`` (before polishing), a polished article, ``url_to_info.json``, and the
refined outline, whose headings are those that the paper's outline metrics score (section 2.2): the article lacks those
of sections left unwritten and has those that the writer added. Pitfalls:

- The numbers in ``url_to_info.json`` are those of the article *before* polishing, which renumbers without a new list.
  Polished numbers are recovered from the sentences that both texts have: all of the body, unless polishing removed
  duplicates. A polished number in none of them cites nothing.
- A number cites a page, not a snippet: its passage is all snippets of the page that the run kept.
- Where a section cited beyond its sources, the official code deleted the last *valid* number with the invalid ones.
  This cannot be undone: such sentences stay uncited.
- ``[0]`` and numbers without a page cite nothing; they are dropped and counted as invented.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from storm_bench.articles.data_set import file_names
from storm_bench.datasets.dataset import file_bytes, read_isolated
from storm_bench.folders import require_no_links
from storm_bench.types import Case, HumanArticle, Topic
from storm_pipeline import Article, DatasetError, Outline, Snippet
from storm_pipeline.api import parse_cited, split_sentences, tidy
from storm_pipeline.output.articles.markdown_blocks import HeadingNode, TextBlock
from storm_pipeline.output.articles.pages import AvailablePages
from storm_pipeline.types import Citation, Heading, Paragraph, Source

_NUMBER = re.compile(r"\[(\d+)\]")
_POLISHED = ("storm_polished_article.txt", "storm_gen_article_polished.txt", "storm_gen_article_polished_article.txt")
_OUTLINES = ("refine_outline.txt", "storm_gen_outline.txt")
_LEAD = "summary"
_OTHER_BODY = (
    "the polished article in {} has another body than the unpolished one, so its numbers cannot be recovered; read the "
    "unpolished one (polished=False)"
)


def find_storm_run(folder: Path, topic: Topic) -> Path:
    """Return the folder of a topic's run, called by the topic's id or, as knowledge-storm does, by its title.

    Raises DatasetError: there is none, or one of each name, or it has a link.
    """
    found = [folder / name for name in file_names(topic) if (folder / name).is_dir()]
    if not found:
        names = " or ".join(dict.fromkeys(file_names(topic)))
        raise DatasetError(f"{folder} has no run on {topic.title!r}: a run is a folder {names} with url_to_info.json")
    if len(found) > 1:
        names = " and ".join(path.name for path in found)
        raise DatasetError(f"{folder} has several runs on {topic.title!r}, {names}: remove all but one")
    require_no_links((found[0], *found[0].rglob("*")))
    return found[0]


class StormRunReader:
    """Reads runs of knowledge-storm for :func:`storm_pipeline.output.articles.read_article`."""

    def reads(self, path: Path) -> bool:
        """Return whether a folder is a run."""
        return (path / "url_to_info.json").is_file()

    def read(self, path: Path, title: str, pages: AvailablePages) -> Article:  # noqa: ARG002 - it brings its own pages
        """Return the polished article if there is one, else the unpolished one."""
        return read_storm_run(path, polished=has_polished_article(path), title=title).article


READER = StormRunReader()


def has_polished_article(folder: Path) -> bool:
    """Return whether a run has a polished article."""
    return any((folder / name).is_file() for name in _POLISHED)


def read_storm_run(folder: Path, *, polished: bool = False, title: str = "") -> Case:
    """Read one run; its human article is unknown.

    ``polished``: read the polished article, which has a lead, instead of the unpolished one; ``title``: the topic's
    title; if empty, the folder's name. Raises DatasetError: a file is absent or has an unexpected format.
    """
    [case] = read_isolated(folder, _case, title, polished)
    return case


def _case(place: str, title: str, polished: bool) -> Iterator[Case]:  # noqa: FBT001 - a plain value in a request
    folder = Path(place)
    title = title or folder.name.replace("_", " ")
    text = _text(folder, ("storm_gen_article.txt",))
    try:
        pages = json.loads(_text(folder, ("url_to_info.json",)))
        shown, sources = _citations_and_sources(pages)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DatasetError(
            f"{folder / 'url_to_info.json'} does not have the format of a STORM run ({error})"
        ) from error
    if polished:
        text = _renumbered(_text(folder, _POLISHED), text, folder)
    article = replace(_article(title, text, shown), outline=_outline(folder, title))
    yield Case(Topic(folder.name, title, HumanArticle(title)), replace(article, sources=sources))


def _text(folder: Path, names: tuple[str, ...]) -> str:
    found = next((folder / name for name in names if (folder / name).is_file()), folder / names[0])
    try:
        return file_bytes(found).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"{found} cannot be read: an official STORM run has this file, in UTF-8") from error


def _outline(folder: Path, title: str) -> Outline:
    """Return the refined outline as recorded; empty if the run has none."""
    if not any((folder / name).is_file() for name in _OUTLINES):
        return Outline(title)
    return recorded_outline(title, _text(folder, _OUTLINES))


def recorded_outline(title: str, text: str) -> Outline:
    """Return the headings of a text; ``title``: of the article."""
    lines = filter(None, map(str.strip, text.splitlines()))
    return Outline(title, _headings(HeadingNode.of_blocks(map(_block, lines))))


def _headings(part: HeadingNode) -> tuple[Heading, ...]:
    return tuple(Heading(below.heading, _headings(below)) for below in part.subsections)


def _citations_and_sources(pages: Any) -> tuple[tuple[Citation, ...], tuple[Source, ...]]:
    """Return the citations of numbers 1, 2, …, and their sources; URLs of the same page are one source."""
    by_number = {number: pages["url_to_info"][url] for url, number in pages["url_to_unified_index"].items()}
    shown, found = [], dict[str, dict[Snippet, None]]()
    for number in range(1, max(by_number, default=0) + 1):
        page = by_number[number]
        pieces = dict.fromkeys(filter(None, map(tidy, page["snippets"])))
        passage = "\n".join(pieces) or tidy(page["description"] or page["title"])
        snippet = Snippet(page["url"], tidy(page["title"]), passage)
        found.setdefault(snippet.source_id, {})[snippet] = None
        shown.append(Citation(snippet.source_id, snippet.id))
    grouped = ((name, tuple(snippets)) for name, snippets in found.items())
    return tuple(shown), tuple(Source(name, own[0].url, own[0].title, own) for name, own in grouped)


def _renumbered(polished: str, generated: str, folder: Path) -> str:
    """Replace the polished text's numbers by those of the unpolished one, read off the sentences that both have."""
    opening = re.match(rf"#\s*{_LEAD}\b.*?(?=^#\s)", polished, re.S | re.M | re.I)
    body = polished[opening.end() :] if opening else polished
    after, before = _sentences(body), _sentences(generated)
    times = Counter(sentence for sentence, _ in before)
    numbers = {sentence: cited for sentence, cited in before if times[sentence] == 1}
    original: dict[str, str] = {}
    for sentence, cited in after:
        for new, old in zip(cited, numbers.get(sentence, ()), strict=False):
            if original.setdefault(new, old) != old:
                raise DatasetError(f"{_OTHER_BODY.format(folder)}: [{new}] was both [{original[new]}] and [{old}]")
    if not original and _NUMBER.search(body):
        raise DatasetError(_OTHER_BODY.format(folder))
    return _NUMBER.sub(lambda found: f"[{original.get(found[1], '999')}]", polished)  # which no source has


def _sentences(text: str) -> list[tuple[str, list[str]]]:
    """Return the sentences of a text without white space and numbers, each with its numbers in order."""
    sentences = [sentence for line in text.splitlines() for sentence in split_sentences(line)]
    return [("".join(_NUMBER.sub("[]", sentence).split()), _NUMBER.findall(sentence)) for sentence in sentences]


def _article(title: str, text: str, shown: tuple[Citation, ...]) -> Article:
    """Parse an article with one paragraph per line; a first section titled *summary* becomes the lead."""
    invented = 0

    def cited(line: str) -> Paragraph:
        nonlocal invented
        found = parse_cited(line.replace("[0]", f"[{len(shown) + 1}]"), shown)  # behind a word, [0] would be text
        invented += found.invented
        return Paragraph(found.sentences)

    tree = HeadingNode.of_blocks(_block(line) for line in map(str.strip, text.splitlines()) if line)
    lead, sections = tree.read(cited)
    if sections and sections[0].heading.casefold() == _LEAD:
        lead, sections = (*lead, *sections[0].paragraphs), sections[1:]
    article = Article(title, lead, sections)
    return replace(article, report=replace(article.report, invented_citations=invented))


def _block(line: str) -> TextBlock:
    level = len(line) - len(line.lstrip("#"))
    return TextBlock(tidy(line.strip("#")), level) if level else TextBlock(line)
