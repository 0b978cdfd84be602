"""Output types of the signatures."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Editor(BaseModel):
    """A member of the editorial group: who they are, and what they look after."""

    model_config = ConfigDict(frozen=True)

    name: str = Field(min_length=1)
    focus: str = Field(min_length=1)


class OutlineSection(BaseModel):
    """A section of an outline: its heading and those of its subsections."""

    model_config = ConfigDict(frozen=True)

    title: str = Field(min_length=1)
    subsections: list[str] = Field(default=[], max_length=3)


class Point(BaseModel):
    """A point of an outlined text: what it tells, and the numbers of the passages that it rests on."""

    model_config = ConfigDict(frozen=True)

    text: str = Field(min_length=1)
    passages: list[int] = []


class Place(BaseModel):
    """The findings that a section tells, by their numbers."""

    model_config = ConfigDict(frozen=True)

    section: int
    findings: list[int]


class Edit(BaseModel):
    """One edit of an article whose sentences and headings are numbered.

    Attributes:
        kind: what to do.
        sentence: number of the sentence, or of the heading.
        other: number of a second sentence; 0 where there is none.
        last: number of the last sentence that is moved along; 0 for one sentence alone.
        text: the new text; empty where there is none.
    """

    model_config = ConfigDict(frozen=True)

    kind: Literal["cut", "drop", "reword", "join", "move", "move_before", "heading"]
    sentence: int
    other: int = 0
    last: int = 0
    text: str = ""
