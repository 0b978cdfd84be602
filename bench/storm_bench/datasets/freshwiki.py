"""Reads and writes FreshWiki in its published format (STORM, section 2.1 and appendix A): recent, good articles.

The folder contains ``json/NAME.json``: title, url, summary, content (a tree of section_title, section_content with
sentences and their references, and subsections), references (number → URL) and, in the original, flair_entities.
``txt/NAME.txt``, where present, is the same article as text, which the official evaluation compares with.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from storm_bench.datasets.dataset import (
    DataSet,
    folder_of,
    read_model,
    read_text,
    read_topics,
    without_back_matter,
    write_json,
    write_text,
)
from storm_bench.types import HumanArticle, HumanSection, HumanSentence, Topic, TopicDocument
from storm_pipeline import DatasetError
from storm_pipeline.api import plain_text, web_address, wikipedia_article

NAME = "freshwiki"
_NO_ADDRESS = "[ERROR"
# Bracketed marks that are not citations: notes, cleanup tags, and interlanguage links.
_MARK = re.compile(
    r"\s?\[(?:[a-h]|[ivx]{1,4}|(?:nb|n|note|‡)\s?\d+|\d+|citation needed|better source needed|clarification needed|"
    r"(?:needs )?update|when\?|who\?|by whom\?|which\?|where\?|de|fr|es|ja|zh|ko|ru|pt|pl|nl|sv|uk|fa|ar|he)\]",
    re.I,
)
_LONGEST_NAME = 150  # bytes
_UNSAFE = re.compile(r'[/\\:*?"<>|\x00-\x1f]')
_ENDED = re.compile(r"[.!?…。！？][\"'”’»)\]]*$")


class _Sentence(BaseModel):
    sentence: str
    refs: list[str] = []


class _Section(BaseModel):
    section_title: str
    section_content: list[_Sentence] = []
    subsections: list["_Section"] = []


class _Page(BaseModel):
    title: str
    url: str = ""
    summary: str = ""
    content: list[_Section]
    references: dict[str, str] = {}
    flair_entities: list[str] = []


def read_freshwiki(folder: Path, *, strict: bool = False) -> DataSet:
    """Read the topics of a folder, ordered by file name.

    Two errors of the original extraction are repaired: sentences lost their full stops, and headings of the same name
    all contain the last one's text (kept only there, and listed in ``problems``). ``folder``: contains ``json/``, or is
    a copy of the repository that publishes it (``FreshWiki/json/``); ``strict``: fail on a damaged file instead of
    skipping it. Raises DatasetError: the folder is not such a data set, nothing can be read, or, if strict, a file is
    damaged.
    """
    articles = folder_of(folder, NAME, "json", "FreshWiki/json")
    return read_topics(NAME, folder, sorted(articles.glob("*.json")), _topic, strict=strict)


def _topic(file: Path) -> tuple[Topic, list[str]]:
    page = read_model(file, _Page)
    tree, repeated = _without_repeats(tuple(map(_section, page.content)))
    body, back = without_back_matter(tree)
    address = wikipedia_article(page.url)
    title = address[1] if address else plain_text(page.title.replace("_", " "))
    if not title or not (body or page.summary.strip()):
        raise DatasetError(f"{file} holds no article: title or text is missing; download or rebuild it")
    text = file.parent.parent / "txt" / f"{file.stem}.txt"
    human = HumanArticle(
        title,
        web_address(page.url),
        plain_text(_MARK.sub("", page.summary)),
        body,
        tuple(map(_reference, page.references.values())),
        back_matter=back,
        published_text=read_text(text) if text.is_file() else "",
        entities=tuple(dict.fromkeys(filter(None, (entity.strip().lower() for entity in page.flair_entities)))),
    )
    repairs = [
        f"repaired: {file} has the same text under all headings {name!r}; kept under the last" for name in repeated
    ]
    return Topic(file.stem, title, human), repairs


def _section(section: _Section) -> HumanSection:
    sentences = tuple(filter(lambda sentence: sentence.text, map(_sentence, section.section_content)))
    return HumanSection(
        plain_text(_MARK.sub("", section.section_title.replace("_", " "))),
        " ".join(sentence.text for sentence in sentences),
        tuple(map(_section, section.subsections)),
        sentences,
    )


def _sentence(sentence: _Sentence) -> HumanSentence:
    text = plain_text(_MARK.sub("", sentence.sentence))
    ended = text if not text or _ENDED.search(text) else text + "."
    return HumanSentence(ended, tuple(dict.fromkeys(filter(None, map(web_address, sentence.refs)))))


def _reference(value: str) -> TopicDocument:
    """A cited page; without a URL, its title is the citation's text, unless the extraction lost that."""
    url = web_address(value)
    return TopicDocument(url, "" if url or value.startswith(_NO_ADDRESS) else plain_text(value))


def _without_repeats(sections: Sequence[HumanSection]) -> tuple[tuple[HumanSection, ...], tuple[str, ...]]:
    """Keep text repeated under headings of the same name only under the last; return the tree and these names."""
    nodes = [part for section in sections for part in section.walk() if part.text]
    counts = Counter((part.heading, part.text) for part in nodes)
    left = {key: count for key, count in counts.items() if count > 1}
    names = tuple(dict.fromkeys(heading for heading, _ in left))

    def repaired(parts: Sequence[HumanSection]) -> Iterator[HumanSection]:
        for part in parts:
            key = part.heading, part.text
            is_copy = left.get(key, 0) > 1
            if key in left:
                left[key] -= 1
            kept = replace(part, text="", sentences=()) if is_copy else part
            yield replace(kept, subsections=tuple(repaired(part.subsections)))

    return tuple(repaired(sections)), names


def file_name(title: str) -> str:
    """The file name of an article without suffix: its title with spaces and unsafe characters as underscores."""
    name = _UNSAFE.sub("_", title.replace(" ", "_")).lstrip(".")
    if name == title.replace(" ", "_") and len(name.encode()) <= _LONGEST_NAME:
        return name
    # A changed or shortened title gets a hash, so that two titles never share a file.
    short = name.encode()[:_LONGEST_NAME].decode("utf-8", "ignore")
    return f"{short}-{hashlib.sha256(title.encode()).hexdigest()[:8]}"


def write_article(folder: Path, article: HumanArticle) -> str:
    """Write both files of an article, whose sections need sentences, and return their name.

    Raises DatasetError: they cannot be written.
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
        "content": [_section_json(section) for section in (*article.sections, *article.back_matter)],
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


def _section_json(section: HumanSection) -> dict[str, Any]:
    return {
        "section_title": section.heading,
        "section_content": [{"sentence": said.text, "refs": list(said.references)} for said in section.sentences],
        "subsections": [_section_json(part) for part in section.subsections],
    }


def _lines(section: HumanSection, level: int, numbers: Mapping[str, int]) -> Iterator[str]:
    yield f"{'#' * level} {section.heading}"
    marks = ("".join(f"[{numbers[url]}]" for url in said.references if url in numbers) for said in section.sentences)
    yield " ".join(said.text + mark for said, mark in zip(section.sentences, marks, strict=True))
    for part in section.subsections:
        yield from _lines(part, level + 1, numbers)


def _cited(document: TopicDocument) -> str:
    return document.url or document.title
