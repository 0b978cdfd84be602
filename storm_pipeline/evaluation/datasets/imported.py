"""Articles that were written elsewhere, as values that the metrics read: Markdown files, and those of a data set."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from storm_pipeline.documents.chunks import chunks
from storm_pipeline.errors import DatasetError
from storm_pipeline.evaluation.datasets.back_matter import is_back_matter
from storm_pipeline.evaluation.datasets.headed import headed, paragraphs_of, section_of
from storm_pipeline.evaluation.datasets.markdown import markdown_blocks, without_title
from storm_pipeline.evaluation.types import CitedStatement, Document, Topic
from storm_pipeline.identity import source_id
from storm_pipeline.references.citations import parse_cited
from storm_pipeline.text.index_terms import terms
from storm_pipeline.types import Article, Citation, Paragraph, Section, Sentence, Snippet, Source

_SUFFIXES = (".md", ".txt")
_SHARED = 0.5
"""Least share of a statement's content words that the sentence which states it has."""
_PASSAGE = 150
"""Words of the passage that a citation shows at most, as in our own runs."""
_REMEMBERED = 128
"""Pages of which the passages are kept."""

Passages = tuple[tuple[str, frozenset[str]], ...]
"""The passages of a page, each with its content words."""


def read_imported(folder: Path, topic: Topic) -> Article:
    """The article on a topic in a folder of Markdown or plain text files, ``TOPIC.md`` or ``TOPIC.txt``.

    Numbers in brackets are taken out: without a list of what they mean they cite nothing.

    Args:
        folder: where the files lie.
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
        raise DatasetError(f"{path} cannot be read: an article is a text file in UTF-8") from error


def markdown_article(title: str, text: str) -> Article:
    """An article from Markdown: no citations, and no back matter, such as a list of references."""
    tree = headed(without_title(markdown_blocks(text), title))
    body = (part for part in tree.subsections if not is_back_matter(part.heading))
    return Article(title, paragraphs_of(tree, _paragraph), tuple(section_of(part, _paragraph) for part in body))


def system_article(topic: Topic, system: str) -> Article:
    """What a system of the data set wrote on a topic, with the citations that can be looked up.

    The published texts have no citation marks; what they cite is known statement by statement. A statement's citations
    go to the sentence that has most of its content words, if it has half of them. A citation shows the passage of its
    page, of up to 150 words, that has most of the statement's content words. Pages that are not among the topic's
    documents cannot be looked up, so their citations are left out.

    Raises:
        DatasetError: the system wrote nothing on this topic.
    """
    written = topic.written_by(system)
    if written is None:
        known = ", ".join(own.system for own in topic.system_articles) or "none"
        raise DatasetError(f"the data set has no article of {system!r} on {topic.title!r}; it has those of: {known}")
    article = markdown_article(topic.title, written.text)
    documents = {source_id(document.url): document for document in topic.documents}
    cited: dict[int, list[Snippet]] = {}
    places = _places(written.statements, [sentence.text for sentence in article.sentences()])
    for statement, place in zip(written.statements, places, strict=True):
        if place is not None:
            cited.setdefault(place, []).extend(_evidence(statement, documents))
    return _with_citations(article, cited)


def _places(statements: Sequence[CitedStatement], sentences: Sequence[str]) -> Iterator[int | None]:
    """For each statement the number of the sentence that states it; None where none has half of its content words."""
    had = [frozenset(terms(sentence)) for sentence in sentences]
    for statement in statements:
        needed = frozenset(terms(statement.text))
        shared = [len(needed & own) for own in had]
        most = max(shared, default=0)
        yield shared.index(most) if most and most >= _SHARED * len(needed) else None


def _evidence(statement: CitedStatement, documents: Mapping[str, Document]) -> Iterator[Snippet]:
    """Of each page that a statement cites and that is held, the passage that has most of its content words."""
    needed = frozenset(terms(statement.text))
    for page in dict.fromkeys(map(source_id, statement.urls)):
        if document := documents.get(page):
            text, _ = max(_passages(document.text), key=lambda own: len(needed & own[1]))
            yield Snippet(document.url, document.title, text, origin="page")


@lru_cache(_REMEMBERED)
def _passages(text: str) -> Passages:
    return tuple((passage, frozenset(terms(passage))) for passage in chunks(text, _PASSAGE))


def _with_citations(article: Article, cited: Mapping[int, Iterable[Snippet]]) -> Article:
    """The article with what each of its sentences cites, by their numbers from 0 in reading order."""
    numbers = iter(range(sum(1 for _ in article.sentences())))

    def sentence(own: Sentence) -> Sentence:
        found = cited.get(next(numbers), ())
        return replace(own, citations=tuple(dict.fromkeys(Citation(one.source_id, one.id) for one in found)))

    def paragraphs(own: Iterable[Paragraph]) -> tuple[Paragraph, ...]:
        return tuple(Paragraph(tuple(map(sentence, one.sentences))) for one in own)

    def section(own: Section) -> Section:
        said = paragraphs(own.paragraphs)  # before its subsections: that is the reading order
        return Section(own.heading, said, tuple(map(section, own.subsections)))

    lead = paragraphs(article.lead)
    return replace(article, lead=lead, sections=tuple(map(section, article.sections)), sources=_sources(cited))


def _sources(cited: Mapping[int, Iterable[Snippet]]) -> tuple[Source, ...]:
    """The pages behind citations, those with most passages first, then by address."""
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
