"""Frozen values of an evaluation: topics, human articles, documents, and other systems' articles."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from storm_pipeline import Article, DatasetError


@dataclass(frozen=True)
class HumanSentence:
    """A sentence of a human article without citation marks, and the URLs it cites, in order."""

    text: str
    references: tuple[str, ...] = ()


@dataclass(frozen=True)
class HumanSection:
    """A section of a human article.

    Attributes:
        heading: without citation marks.
        text: its own plain text, without that of its subsections.
        subsections: in order.
        sentences: the text by sentences; empty if the data set does not split it.
    """

    heading: str
    text: str = ""
    subsections: tuple["HumanSection", ...] = ()
    sentences: tuple[HumanSentence, ...] = ()

    def walk(self) -> Iterator["HumanSection"]:
        """The section and all its subsections, depth first."""
        yield self
        for subsection in self.subsections:
            yield from subsection.walk()


@dataclass(frozen=True)
class TopicDocument:
    """A page cited by editors or found by a search.

    Attributes:
        url: its URL; empty if editors cited something that is not on the web.
        title: its title, or the editors' citation of it.
        text: plain text; empty if it could not be fetched.
        origin: ``human`` if editors cited it, ``search`` if a search found it.
    """

    url: str
    title: str
    text: str = ""
    origin: str = "human"


@dataclass(frozen=True)
class HumanArticle:
    """The ground truth of a topic.

    Attributes:
        title: title of the article.
        url: its URL; empty if unknown.
        lead: plain text before the first heading.
        sections: the body without back matter (References, See also, Notes …).
        references: the pages cited by editors, one entry per citation.
        infobox: (field, value) pairs; empty without an infobox.
        back_matter: the sections left out of the body.
        entities: named entities of the article, lower-case, as published with the data set; may be empty.
        statements: the article as atomic facts, one per sentence, as published with the data set; may be empty.
        published_text: the article with ``#`` headings, one paragraph per line, as published beside the structured form
            (FreshWiki's ``txt/``); may be empty.
    """

    title: str
    url: str = ""
    lead: str = ""
    sections: tuple[HumanSection, ...] = ()
    references: tuple[TopicDocument, ...] = ()
    infobox: tuple[tuple[str, str], ...] = ()
    back_matter: tuple[HumanSection, ...] = ()
    entities: tuple[str, ...] = ()
    statements: tuple[str, ...] = ()
    published_text: str = ""

    def headings(self) -> tuple[str, ...]:
        """All headings of the body, depth first."""
        return tuple(part.heading for section in self.sections for part in section.walk())

    def text(self) -> str:
        """Lead and body as plain text without headings, paragraphs separated by blank lines."""
        body = (part.text for section in self.sections for part in section.walk())
        return "\n\n".join(text for text in (self.lead, *body) if text)


@dataclass(frozen=True)
class CitedStatement:
    """A fact stated in a system's article, and the URLs the article cites for it, in order."""

    text: str
    urls: tuple[str, ...] = ()


@dataclass(frozen=True)
class SystemArticle:
    """Another system's article on a topic.

    Attributes:
        system: the system's name.
        text: the article as Markdown, without citation marks.
        statements: the article's facts with their citations, in text order.
    """

    system: str
    text: str
    statements: tuple[CitedStatement, ...] = ()


@dataclass(frozen=True)
class Topic:
    """One topic of a data set.

    Attributes:
        id: stable within the data set; a file name.
        title: the topic given to the systems.
        about: more on it, also given to them, such as a paper's abstract.
        human: the human article.
        documents: the topic's closed corpus; empty if the data set has none.
        system_articles: other systems' articles, one per system; empty if the data set has none.

    Raises DatasetError: the id would lead to another folder.
    """

    id: str
    title: str
    human: HumanArticle
    documents: tuple[TopicDocument, ...] = ()
    system_articles: tuple[SystemArticle, ...] = ()
    about: str = ""

    def __post_init__(self) -> None:
        if Path(self.id).name != self.id or self.id == ".." or "\0" in self.id:
            raise DatasetError(f"the id {self.id!r} of the topic {self.title!r} is not a file name")

    def written_by(self, system: str) -> SystemArticle | None:
        """The article of a system; None if it wrote none on this topic."""
        return next((article for article in self.system_articles if article.system == system), None)


@dataclass(frozen=True)
class Case:
    """An article and its topic.

    Attributes:
        topic: the topic.
        article: the article to score.
        system: the system of the data set whose published article it is, see :meth:`Topic.written_by`; empty for any
            other article.
    """

    topic: Topic
    article: Article = field(repr=False)
    system: str = ""

    @property
    def published(self) -> SystemArticle | None:
        """The article as the data set publishes it, with its statements; None for any other article."""
        return self.topic.written_by(self.system) if self.system else None
