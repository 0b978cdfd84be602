"""Frozen values of an experiment: the article that people wrote, its topic, and what is compared with it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from storm_pipeline.types import Article


@dataclass(frozen=True)
class HumanSentence:
    """A sentence that people wrote, without citation marks, and the addresses that it cites, in order."""

    text: str
    references: tuple[str, ...] = ()


@dataclass(frozen=True)
class HumanSection:
    """A section that people wrote.

    Attributes:
        heading: without marks.
        text: its own plain text, without that of its subsections.
        subsections: in order.
        sentences: the text sentence by sentence; empty where the data set does not cut it.
    """

    heading: str
    text: str = ""
    subsections: tuple["HumanSection", ...] = ()
    sentences: tuple[HumanSentence, ...] = ()

    def walk(self) -> Iterator["HumanSection"]:
        """The section and all below it, depth first."""
        yield self
        for subsection in self.subsections:
            yield from subsection.walk()


@dataclass(frozen=True)
class Document:
    """A page that editors cited or that a search found; ``text`` is empty where it could not be fetched.

    Attributes:
        url: its address; empty where editors cited something that is not on the web.
        title: its title, or the editors' citation of it.
        text: plain text.
        origin: ``human`` where editors cited it, ``search`` where a search found it.
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
        url: its address; empty where unknown.
        lead: plain text before the first heading.
        sections: the body without back matter (References, See also, Notes …).
        references: the pages that editors cited, one entry a citation.
        infobox: field → value of the infobox; empty where there is none.
        back_matter: the sections that were left out of the body.
        entities: named entities of the article, lower-case, as published with the data set; empty where it has none.
        statements: the article as facts, each a sentence that says one thing, as published with the data set; empty
            where it has none.
    """

    title: str
    url: str = ""
    lead: str = ""
    sections: tuple[HumanSection, ...] = ()
    references: tuple[Document, ...] = ()
    infobox: tuple[tuple[str, str], ...] = ()
    back_matter: tuple[HumanSection, ...] = ()
    entities: tuple[str, ...] = ()
    statements: tuple[str, ...] = ()

    def headings(self) -> tuple[str, ...]:
        """All headings of the body, depth first."""
        return tuple(part.heading for section in self.sections for part in section.walk())

    def text(self) -> str:
        """Lead and body as plain text without headings; paragraphs are separated by blank lines."""
        body = (part.text for section in self.sections for part in section.walk())
        return "\n\n".join(text for text in (self.lead, *body) if text)


@dataclass(frozen=True)
class CitedStatement:
    """A fact that a system's article states, and the addresses of the pages that the article cites for it, in order."""

    text: str
    urls: tuple[str, ...] = ()


@dataclass(frozen=True)
class SystemArticle:
    """What another system wrote on a topic.

    Attributes:
        system: its name.
        text: the article as Markdown, without citation marks.
        statements: the article as facts with what they cite, in the order of the text.
    """

    system: str
    text: str
    statements: tuple[CitedStatement, ...] = ()


@dataclass(frozen=True)
class Topic:
    """One topic of a data set.

    Attributes:
        id: stable within the data set; used in file names.
        title: what the systems are asked to write about.
        human: the article that people wrote.
        documents: the closed corpus of the topic; empty where the data set has none.
        system_articles: what other systems wrote on it, one article a system; empty where the data set has none.
    """

    id: str
    title: str
    human: HumanArticle
    documents: tuple[Document, ...] = ()
    system_articles: tuple[SystemArticle, ...] = ()

    def written_by(self, system: str) -> SystemArticle | None:
        """The article of a system; None where it wrote none on this topic."""
        return next((article for article in self.system_articles if article.system == system), None)


@dataclass(frozen=True)
class Case:
    """A generated article beside the topic it was asked for."""

    topic: Topic
    article: Article = field(repr=False)
