"""Reads FreshWiki in its published format (STORM, section 2.1 and appendix A): recent, good articles.

The folder contains ``json/NAME.json``: title, url, summary, content (a tree of section_title, section_content with
sentences and their references, and subsections), references (number → URL) and, in the original, flair_entities.
``txt/NAME.txt``, where present, is the same article as text, which the official evaluation compares with.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel

from storm_bench.datasets.built import read_built
from storm_bench.datasets.dataset import DataSet, folder_of, read_model, read_text, read_topics, without_back_matter
from storm_bench.folders import without_links
from storm_bench.types import HumanArticle, HumanSection, HumanSentence, Topic, TopicDocument, TopicRead
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


def read_freshwiki(folder: Path) -> DataSet:
    """Read the topics of a folder, ordered by file name.

    Two errors of the original extraction are repaired: sentences lost their full stops, and headings of the same name
    all contain the last one's text (kept only there, and listed in ``problems``). Damaged files are skipped, and listed
    too. ``folder``: contains ``json/``, is a copy of the repository that publishes it (``FreshWiki/json/``), or was
    built here. Raises DatasetError: the folder is not such a data set, or nothing can be read.
    """
    folder = without_links(folder)
    if built := read_built(NAME, folder):
        return built
    articles = folder_of(folder, NAME, "json", "FreshWiki/json")
    return read_topics(NAME, folder, sorted(articles.glob("[!.]*.json")), _topic)


def _topic(name: str) -> Iterator[TopicRead]:
    file = Path(name)
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
    repairs = (
        f"repaired: {file} has the same text under all headings {own!r}; kept under the last" for own in repeated
    )
    yield Topic(file.stem, title, human), tuple(repairs)


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
    """Return a cited page; without a URL, its title is the citation's text, unless the extraction lost that."""
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
