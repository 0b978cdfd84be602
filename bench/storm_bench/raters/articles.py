"""The articles of a study, read from where they are, without the marks of their writers."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice, repeat
from pathlib import Path

from storm_bench.articles.data_set import human_article, system_article
from storm_bench.experiments.data import pool_of
from storm_bench.raters.study import ArticleTable, Study
from storm_bench.trimming import parts_of, trimmed
from storm_pipeline import Article, DatasetError, Snippet
from storm_pipeline.api import is_back_matter, read_bounded, tidy
from storm_pipeline.output.articles.pages import AvailablePages, Reference
from storm_pipeline.output.articles.reading import read_article
from storm_pipeline.types import Paragraph, Section, Sentence

_MAX_BYTES = 200_000_000
Paragraphs = tuple[Paragraph, ...]
_UNKNOWN = "The text of this page is not known here."


class _Pages(AvailablePages):
    """Pages that raters see: a citation stays where the text of its page is unknown."""

    def passages(self, statement: str, reference: Reference) -> tuple[Snippet, ...]:
        known = super().passages(statement, reference)
        return known or (Snippet(reference.url, reference.title or reference.entry, _UNKNOWN),)


def read_articles(study: Study, folder: Path) -> list[Article]:
    """Return the articles of a study, blind, in its order; ``folder``: paths are relative to it.

    Raises DatasetError: one is absent or damaged, or has no text; the message has its key.
    """
    pages = _Pages(_references(folder / study.pages) if study.pages else ())
    found = []
    for place, table in enumerate(study.articles):
        try:
            article = blind(_read(table, study, folder, pages), study)
        except (DatasetError, OSError) as error:
            raise DatasetError(f"articles.{place}: {error}") from error
        if not any(sentence.text.strip() for sentence in article.sentences()):
            raise DatasetError(f"articles.{place}: the article has no text")
        found.append(article)
    return found


def revealing(study: Study, articles: Sequence[Article]) -> Iterator[str]:
    """Yield the articles that name their own system, one sentence each."""
    for table, article in zip(study.articles, articles, strict=True):
        if table.system != "human" and any(table.system.lower() in s.text.lower() for s in article.sentences()):
            yield f"the article on {table.topic!r} by {table.system} has this name in its text"


def blind(article: Article, study: Study) -> Article:
    """Return the text alone: no name, date, cost, note or back matter, citations in one form or none."""
    body = tuple(section for section in article.sections if not is_back_matter(section.heading))
    shown = Article(article.title, article.lead, body, article.sources, language=article.language)
    shown = _changed(shown, lambda paragraphs: _paragraphs(paragraphs, has_citations=study.citations))
    if study.words:
        shown = _shortened(shown, study.words)
    return replace(shown, sources=shown.references)


def _changed(article: Article, change: Callable[[Paragraphs], Paragraphs]) -> Article:
    """Return the article with other paragraphs; they are changed in reading order."""

    def changed(section: Section) -> Section:
        return Section(section.heading, change(section.paragraphs), tuple(map(changed, section.subsections)))

    lead = change(article.lead) if article.lead else ()
    return replace(article, lead=lead, sections=tuple(map(changed, article.sections)))


def _paragraphs(paragraphs: Paragraphs, *, has_citations: bool) -> Paragraphs:
    given = ([s for s in paragraph.sentences if tidy(s.text)] for paragraph in paragraphs)
    shown = ([s if has_citations else Sentence(s.text) for s in sentences] for sentences in given)
    return tuple(Paragraph(tuple(sentences)) for sentences in shown if sentences)


def _shortened(article: Article, longest: int) -> Article:
    """Return the article cut to a number of words, the shortest sections first (STORM, appendix C.2)."""
    left = (sum(map(len, part.paragraphs)) for part in trimmed(parts_of(article), longest))

    def cut(paragraphs: Paragraphs) -> Paragraphs:
        sentences = chain.from_iterable(repeat(place, len(p.sentences)) for place, p in enumerate(paragraphs))
        counts = Counter(islice(sentences, next(left)))
        return tuple(Paragraph(paragraphs[place].sentences[:count]) for place, count in counts.items())

    return _changed(article, cut)


def _read(table: ArticleTable, study: Study, folder: Path, pages: AvailablePages) -> Article:
    if table.path is None and study.data is not None:
        topics = {name: topic for topic in pool_of(study.data) for name in (topic.id, topic.title)}
        if (topic := topics.get(table.topic)) is None:
            raise DatasetError(f"{study.data.set} has no topic {table.topic!r}")
        return human_article(topic) if table.system == "human" else system_article(topic, table.system)
    path = folder / str(table.path)
    if (path / "article.json").is_file():  # the folder of a run
        path /= "article.json"
    return replace(read_article(path, table.topic, pages), title=table.topic)


def _references(path: Path) -> Iterator[Reference]:
    try:
        for line in read_bounded(path, _MAX_BYTES).decode("utf-8").splitlines():
            page = json.loads(line)
            yield Reference(page["url"], page.get("title", ""), page["text"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DatasetError(f"pages: {path} is not JSON Lines with url, title and text: {error}") from error
