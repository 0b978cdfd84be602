"""Frozen values of an evaluation: topics, human articles, documents, and other systems' articles."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from unicodedata import category

from storm_bench.folders import is_file_name
from storm_pipeline import Article, DatasetError


@dataclass(frozen=True)
class HumanSentence:
    """A sentence of a human article without citation marks, and the URLs it cites, in order."""

    text: str
    references: tuple[str, ...] = ()


@dataclass(frozen=True)
class HumanSection:
    """A section of a human article."""

    heading: str  # without citation marks
    text: str = ""  # its own plain text, without that of its subsections
    subsections: tuple["HumanSection", ...] = ()  # in order
    sentences: tuple[HumanSentence, ...] = ()  # the text by sentences; empty if the data set does not split it

    def walk(self) -> Iterator["HumanSection"]:
        """Yield the section and all its subsections, depth first."""
        yield self
        for subsection in self.subsections:
            yield from subsection.walk()


@dataclass(frozen=True)
class TopicDocument:
    """A page cited by editors or found by a search."""

    url: str  # its URL; empty if editors cited something that is not on the web
    title: str  # its title, or the editors' citation of it
    text: str = ""  # plain text; empty if it could not be fetched
    origin: str = "human"  # ``human`` if editors cited it, ``search`` if a search found it


@dataclass(frozen=True)
class HumanArticle:
    """The ground truth of a topic."""

    title: str  # title of the article
    url: str = ""  # its URL; empty if unknown
    lead: str = ""  # plain text before the first heading
    sections: tuple[HumanSection, ...] = ()  # the body without back matter (References, See also, Notes …)
    references: tuple[TopicDocument, ...] = ()  # the pages cited by editors, one entry per citation
    infobox: tuple[tuple[str, str], ...] = ()  # (field, value) pairs; empty without an infobox
    back_matter: tuple[HumanSection, ...] = ()  # the sections left out of the body
    # named entities of the article, lower-case, as published with the data set; may be empty
    entities: tuple[str, ...] = ()
    # the article as atomic facts, one per sentence, as published with the data set; may be empty
    statements: tuple[str, ...] = ()
    # the article with ``#`` headings, one paragraph per line, as published beside the structured form
    # (FreshWiki's ``txt/``); may be empty
    published_text: str = ""

    def headings(self) -> tuple[str, ...]:
        """Return all headings of the body, depth first."""
        return tuple(part.heading for section in self.sections for part in section.walk())

    def text(self) -> str:
        """Return the lead and body as plain text without headings, paragraphs separated by blank lines."""
        body = (part.text for section in self.sections for part in section.walk())
        return "\n\n".join(text for text in (self.lead, *body) if text)


@dataclass(frozen=True)
class CitedStatement:
    """A fact stated in a system's article, and the URLs the article cites for it, in order."""

    text: str
    urls: tuple[str, ...] = ()


@dataclass(frozen=True)
class SystemArticle:
    """Another system's article on a topic."""

    system: str  # the system's name
    text: str  # the article as Markdown, without citation marks
    statements: tuple[CitedStatement, ...] = ()  # the article's facts with their citations, in text order


@dataclass(frozen=True)
class Topic:
    """One topic of a data set.

    Raises DatasetError: the id would lead to another folder, or has control characters.
    """

    id: str  # stable within the data set; a file name
    title: str  # the topic given to the systems
    human: HumanArticle  # the human article
    documents: tuple[TopicDocument, ...] = ()  # the topic's closed corpus; empty if the data set has none
    # other systems' articles, one per system; empty if the data set has none
    system_articles: tuple[SystemArticle, ...] = ()

    def __post_init__(self) -> None:
        if not is_file_name(self.id) or "Cc" in map(category, self.id):
            raise DatasetError(f"the id {self.id!r} of the topic {self.title!r} is not a file name")

    def written_by(self, system: str) -> SystemArticle | None:
        """Return the article of a system; None if it wrote none on this topic."""
        return next((article for article in self.system_articles if article.system == system), None)


TopicRead = tuple[Topic, tuple[str, ...]]
"""A topic, and what was repaired of it."""


@dataclass(frozen=True)
class Case:
    """An article and its topic."""

    topic: Topic  # the topic
    article: Article = field(repr=False)  # the article to score
    # the system of the data set whose published article it is, see :meth:`Topic.written_by`; empty for any other
    # article
    system: str = ""

    @property
    def published(self) -> SystemArticle | None:
        """The article as the data set publishes it, with its statements; None for any other article."""
        return self.topic.written_by(self.system) if self.system else None
