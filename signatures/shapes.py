"""Output types of the signatures."""

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
