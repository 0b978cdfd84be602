"""Orders of runs, as callers send them."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from storm_pipeline.errors import ContradictionError, RunError, SettingsError
from storm_pipeline.run.user_pieces import parse_pieces
from storm_pipeline.server.documents import ID
from storm_pipeline.settings import MAX_TOPIC_LENGTH
from storm_pipeline.types import Outline

_VISIBLE = r"\p{L}\p{M}\p{N}\p{P}\p{S}"
_BLANK = r"\s\u200c\u200d"
_TOPIC = f"^[{_BLANK}]*[{_VISIBLE}][{_VISIBLE}{_BLANK}]*$"
"""What a topic is, for clients: without control characters, and not blank."""


class RunOrder(BaseModel):
    """The body of a request for a new run."""

    model_config = ConfigDict(extra="forbid")

    topic: str = Field(
        description=f"Topic of the article, at most {MAX_TOPIC_LENGTH} characters.",
        json_schema_extra={"minLength": 1, "maxLength": MAX_TOPIC_LENGTH, "pattern": _TOPIC},
        examples=["Silk Road"],
    )
    makes: Literal["article", "outline"] = "article"
    recipe: str | None = Field(
        default=None, description="Name of the method; default: that of `storm write` or `storm outline`."
    )
    outline: str | None = Field(
        default=None,
        description="Headings of the article: '#' headings or a list.",
        json_schema_extra={"pattern": r"\S"},
        examples=["# Trade\n# Caravans\n"],
    )
    settings: dict[str, Any] = Field(default_factory=dict, description="Settings that callers may choose.")
    documents: str | None = Field(
        default=None, pattern=ID, description="Name of a set of documents, which alone is searched."
    )


class ResumeOrder(BaseModel):
    """The body of a request to resume a run; it may be left out."""

    model_config = ConfigDict(extra="forbid")

    settings: dict[str, Any] = Field(default_factory=dict, description="Settings to change, such as a cap.")


def given_outline(order: RunOrder) -> Outline | None:
    """The outline of an order, parsed from its text: a remote caller must not name a file."""
    if order.outline is None:
        return None
    advice = "write a line such as '# History' for each section"
    if not order.outline.strip():
        raise SettingsError(f"the outline is empty: {advice}")
    try:
        return parse_pieces(order.topic, {"outline": order.outline}).outline
    except RunError as error:
        raise ContradictionError(f"the outline has no heading for an article on this topic: {advice}") from error
