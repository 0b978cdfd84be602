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


class Edit(BaseModel):
    """One edit of a numbered sentence; ``other`` is a second sentence's number, 0 where there is none."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["cut", "reword", "move"]
    sentence: int
    other: int = 0
    text: str = ""
