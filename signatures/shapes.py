"""Output types of the signatures."""

from pydantic import BaseModel, ConfigDict, Field


class Editor(BaseModel):
    """A member of the editorial group: who they are, and what they look after."""

    model_config = ConfigDict(frozen=True)

    name: str = Field(min_length=1)
    focus: str = Field(min_length=1)
