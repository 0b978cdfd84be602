"""Output types of the signatures."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class _Shape(BaseModel):
    model_config = ConfigDict(frozen=True)


class Editor(_Shape):
    """A member of the editorial group: who they are, and what they look after."""

    name: str = Field(min_length=1)
    focus: str = Field(min_length=1)


class OutlineSection(_Shape):
    """A section of an outline: its heading and those of its subsections."""

    title: str = Field(min_length=1)
    subsections: list[str] = Field(default=[], max_length=3)


class Point(_Shape):
    """A point of an outlined text: what it tells, and the numbers of the passages that it rests on."""

    text: str = Field(min_length=1)
    passages: list[int] = []


class Place(_Shape):
    """The findings that a section tells, by their numbers."""

    section: int
    findings: list[int]


Numbers = Annotated[list[list[int]], Field(max_length=100)]
"""Groups of findings, by their numbers."""


class SectionPoints(_Shape):
    """What a section of an outline needs."""

    section: int  # its number; 0 for a section that is missing
    heading: str = ""  # of a missing section; empty for one of the outline
    after: int = 0  # number of the section that a missing one follows; 0: it comes first
    subheadings: list[str] = Field(default=[], max_length=6)  # names of those that are missing
    is_thin: bool = False  # whether it has too little to stand alone
    points: list[str] = Field(default=[], max_length=12)  # questions that a reader expects an answer to
    findings: list[int] = Field(default=[], max_length=300)  # that belong there, in narrative order
    share: float = Field(default=0, ge=0, le=100)  # percent of the article's words; 0 if it is not said


class PointAnswer(_Shape):
    """The answer to one of several numbered questions: its sentences with their citations."""

    point: int
    answer: str = ""
    queries: list[str] = Field(default=[], max_length=3)  # for a search engine, on what stays open


class Lookup(_Shape):
    """A question about what a sentence of an article leaves unsaid: who somebody is, or when something was."""

    sentence: int
    question: str = Field(min_length=1)


class Edit(_Shape):
    """One edit of an article whose sentences and headings are numbered.

    Attributes:
        kind: what to do.
        sentence: number of the sentence, or of the heading.
        other: number of a second sentence or heading; 0 where there is none.
        last: number of the last sentence that is moved along; 0 for one sentence alone.
        text: the new text; empty where there is none.
    """

    kind: Literal[
        "cut",
        "drop",
        "reword",
        "trim",
        "join",
        "move",
        "move_before",
        "paragraph",
        "section",
        "section_before",
        "section_into",
        "heading",
    ]
    sentence: int
    other: int = 0
    last: int = 0
    text: str = ""
