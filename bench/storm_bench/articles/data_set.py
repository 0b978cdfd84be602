"""The articles of a data set itself as articles to score: those of other systems, and the human one."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from storm_bench.datasets.dataset import read_isolated
from storm_bench.types import HumanSection, Topic
from storm_pipeline import Article, DatasetError, Snippet
from storm_pipeline.api import is_back_matter, parse_cited, source_id, terms
from storm_pipeline.output.articles.markdown_blocks import HeadingNode
from storm_pipeline.output.articles.pages import AvailablePages, Reference, with_citations
from storm_pipeline.types import Paragraph, Section

_LONGEST_TITLE = 125  # characters to which knowledge-storm cuts a folder's name
_LONGEST_NAME = 250  # bytes of a name without its suffix; file systems allow 255 with it
_SHARED = 0.5  # minimum share of a statement's content words in the sentence that states it


def system_article(topic: Topic, system: str) -> Article:
    """Return a system's article from the data set, with the citations that can be resolved.

    The published texts have no citation marks; citations are known per statement. A statement's citations are assigned
    to the sentence with most of its content words, if that has at least half of them. A citation's passage is the one
    of up to 150 words on the cited page with most of the statement's content words. Citations of pages that are not
    among the topic's documents are dropped, and counted in the report. Raises DatasetError: the system wrote nothing on
    this topic.
    """
    written = topic.written_by(system)
    if written is None:
        known = ", ".join(article.system for article in topic.system_articles) or "none"
        raise DatasetError(f"the data set has no article by {system!r} on {topic.title!r}; available systems: {known}")
    texts = [statement.text for statement in written.statements]
    size = sum(len(text.encode("utf-8", "replace")) for text in (written.text, *texts))
    [(article, places)] = read_isolated(
        f"the article by {system!r}", _placed, topic.title, written.text, texts, size=size
    )
    pages = pages_of(topic)
    cited: dict[int, list[Snippet]] = {}
    unavailable = 0
    for statement, place in zip(written.statements, places, strict=True):
        if place is not None:
            urls = {source_id(url): url for url in statement.urls}
            found = [pages.passages(statement.text, Reference(url)) for url in urls.values()]
            cited.setdefault(place, []).extend(passage for own in found for passage in own)
            unavailable += found.count(())
    return with_citations(replace(article, report=replace(article.report, unavailable_citations=unavailable)), cited)


def pages_of(topic: Topic) -> AvailablePages:
    """Return a topic's documents as pages that an article can cite."""
    return AvailablePages(Reference(d.url, d.title, d.text) for d in topic.documents)


def file_names(topic: Topic) -> tuple[str, ...]:
    """Return the names that the files and folders of a topic's article may have, without suffix.

    They are its id, and its title as knowledge-storm names the folder of a run.
    """
    names = dict.fromkeys([topic.id, topic.title.replace(" ", "_").replace("/", "_")[:_LONGEST_TITLE]])
    return tuple(name for name in names if len(name.encode("utf-8", "replace")) <= _LONGEST_NAME)


def human_article(topic: Topic) -> Article:
    """Return the human article for scoring: lead and body without back matter and without citations by sentence."""
    human = topic.human
    return Article(topic.title, _plain_paragraphs(human.lead), tuple(map(_human_section, human.sections)))


def _human_section(own: HumanSection) -> Section:
    return Section(own.heading, _plain_paragraphs(own.text), tuple(map(_human_section, own.subsections)))


def _plain_paragraphs(text: str) -> tuple[Paragraph, ...]:
    return tuple(paragraph for line in text.splitlines() if (paragraph := _paragraph(line)).sentences)


def _placed(title: str, text: str, statements: Sequence[str]) -> Iterator[tuple[Article, tuple[int | None, ...]]]:
    """Yield an article from Markdown, a paragraph per line, without back matter; and the sentences of statements."""
    tree = HeadingNode.of_markdown(text, title)
    body = tuple(part for part in tree.subsections if not is_back_matter(part.heading))
    article = Article(title, *replace(tree, subsections=body).read(_paragraph))
    yield article, tuple(_sentence_indices(statements, [sentence.text for sentence in article.sentences()]))


def _paragraph(text: str) -> Paragraph:
    return Paragraph(parse_cited(text, ()).sentences)


def _sentence_indices(statements: Sequence[str], sentences: Sequence[str]) -> Iterator[int | None]:
    """Yield for each statement the index of its sentence; None if none has half of its content words."""
    sentence_terms = [frozenset(terms(sentence)) for sentence in sentences]
    for statement in statements:
        wanted = frozenset(terms(statement))
        shared = [len(wanted & term) for term in sentence_terms]
        most = max(shared, default=0)
        yield shared.index(most) if most and most >= _SHARED * len(wanted) else None
