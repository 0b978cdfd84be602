"""Imports articles written elsewhere: Markdown files, and systems' and human articles in a data set."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from storm_pipeline.documents.chunks import chunks
from storm_pipeline.errors import DatasetError
from storm_pipeline.evaluation.datasets.heading_tree import build_tree, paragraphs_of, section_of
from storm_pipeline.evaluation.datasets.human_back_matter import is_back_matter
from storm_pipeline.evaluation.datasets.markdown import markdown_blocks, without_title
from storm_pipeline.evaluation.types import CitedStatement, HumanSection, Topic, TopicDocument
from storm_pipeline.identity import source_id
from storm_pipeline.references.citations import parse_cited
from storm_pipeline.text.index_terms import terms
from storm_pipeline.types import Article, Citation, Paragraph, Section, Sentence, Snippet, Source

_SUFFIXES = (".md", ".txt")
_SHARED = 0.5
"""Minimum share of a statement's content words in the sentence that states it."""
_PASSAGE = 150
"""Maximum words of a cited passage, as in our own runs."""
_CACHED_PAGES = 128
"""Pages whose passages are cached."""

Passages = tuple[tuple[str, frozenset[str]], ...]
"""The passages of a page, each with its content words."""


def read_imported(folder: Path, topic: Topic) -> Article:
    """Read a topic's article from a folder of Markdown or plain text files, ``TOPIC.md`` or ``TOPIC.txt``.

    Bracketed numbers are removed: without a reference list they cite nothing.

    Args:
        folder: contains the files.
        topic: its id names the file.

    Raises:
        DatasetError: the folder has no such file, or it cannot be read.
    """
    path = next((own for suffix in _SUFFIXES if (own := folder / f"{topic.id}{suffix}").is_file()), None)
    if path is None:
        raise DatasetError(f"{folder} has no article on {topic.title!r}: put {topic.id}.md or {topic.id}.txt there")
    try:
        return markdown_article(topic.title, path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"{path} cannot be read: articles must be UTF-8 text files") from error


def markdown_article(title: str, text: str) -> Article:
    """Parse an article from Markdown, without citations and back matter."""
    tree = build_tree(without_title(markdown_blocks(text), title))
    body = (part for part in tree.subsections if not is_back_matter(part.heading))
    return Article(title, paragraphs_of(tree, _paragraph), tuple(section_of(part, _paragraph) for part in body))


def system_article(topic: Topic, system: str) -> Article:
    """A system's article from the data set, with the citations that can be resolved.

    The published texts have no citation marks; citations are known per statement. A statement's citations are assigned
    to the sentence with most of its content words, if that has at least half of them. A citation's passage is the one
    of up to 150 words on the cited page with most of the statement's content words. Citations of pages that are not
    among the topic's documents are dropped.

    Raises:
        DatasetError: the system wrote nothing on this topic.
    """
    written = topic.written_by(system)
    if written is None:
        known = ", ".join(own.system for own in topic.system_articles) or "none"
        raise DatasetError(f"the data set has no article by {system!r} on {topic.title!r}; available systems: {known}")
    article = markdown_article(topic.title, written.text)
    documents = {source_id(document.url): document for document in topic.documents}
    cited: dict[int, list[Snippet]] = {}
    places = _sentence_indices(written.statements, [sentence.text for sentence in article.sentences()])
    for statement, place in zip(written.statements, places, strict=True):
        if place is not None:
            cited.setdefault(place, []).extend(_evidence(statement, documents))
    return _with_citations(article, cited)


def human_article(topic: Topic) -> Article:
    """The human article as one to score: lead and body without back matter; its citations are not known by sentence."""
    human = topic.human
    return Article(topic.title, _plain_paragraphs(human.lead), tuple(map(_human_section, human.sections)))


def _human_section(own: HumanSection) -> Section:
    return Section(own.heading, _plain_paragraphs(own.text), tuple(map(_human_section, own.subsections)))


def _plain_paragraphs(text: str) -> tuple[Paragraph, ...]:
    return tuple(paragraph for line in text.splitlines() if (paragraph := _paragraph(line)).sentences)


def _sentence_indices(statements: Sequence[CitedStatement], sentences: Sequence[str]) -> Iterator[int | None]:
    """For each statement, the index of the sentence that states it; None if none has half of its content words."""
    sentence_terms = [frozenset(terms(sentence)) for sentence in sentences]
    for statement in statements:
        wanted = frozenset(terms(statement.text))
        shared = [len(wanted & own) for own in sentence_terms]
        most = max(shared, default=0)
        yield shared.index(most) if most and most >= _SHARED * len(wanted) else None


def _evidence(statement: CitedStatement, documents: Mapping[str, TopicDocument]) -> Iterator[Snippet]:
    """For each cited page that is available, the passage with most of the statement's content words."""
    wanted = frozenset(terms(statement.text))
    for page in dict.fromkeys(map(source_id, statement.urls)):
        if document := documents.get(page):
            text, _ = max(_passages(document.text), key=lambda own: len(wanted & own[1]))
            yield Snippet(document.url, document.title, text, origin="page")


@lru_cache(_CACHED_PAGES)
def _passages(text: str) -> Passages:
    return tuple((passage, frozenset(terms(passage))) for passage in chunks(text, _PASSAGE))


def _with_citations(article: Article, cited: Mapping[int, Iterable[Snippet]]) -> Article:
    """Add citations to an article's sentences, given by sentence index in reading order."""
    numbers = iter(range(sum(1 for _ in article.sentences())))

    def sentence(own: Sentence) -> Sentence:
        found = cited.get(next(numbers), ())
        return replace(own, citations=tuple(dict.fromkeys(Citation(one.source_id, one.id) for one in found)))

    def paragraphs(own: Iterable[Paragraph]) -> tuple[Paragraph, ...]:
        return tuple(Paragraph(tuple(map(sentence, one.sentences))) for one in own)

    def section(own: Section) -> Section:
        before = paragraphs(own.paragraphs)  # reading order: before the subsections
        return Section(own.heading, before, tuple(map(section, own.subsections)))

    lead = paragraphs(article.lead)
    return replace(article, lead=lead, sections=tuple(map(section, article.sections)), sources=_sources(cited))


def _sources(cited: Mapping[int, Iterable[Snippet]]) -> tuple[Source, ...]:
    """The cited pages, those with most passages first, then by URL."""
    pages: dict[str, dict[str, Snippet]] = {}
    for snippet in (one for own in cited.values() for one in own):
        pages.setdefault(snippet.source_id, {})[snippet.id] = snippet
    found = []
    for page, snippets in pages.items():
        first = next(iter(snippets.values()))
        found.append(Source(page, first.url, first.title, tuple(snippets.values())))
    return tuple(sorted(found, key=lambda source: (-len(source.snippets), source.url)))


def _paragraph(text: str) -> Paragraph:
    return Paragraph(parse_cited(text, ()).sentences)
