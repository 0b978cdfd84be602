"""Orders of runs, as callers send them."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from storm_pipeline.errors import RunError, SettingsError
from storm_pipeline.run.user_pieces import parse_pieces
from storm_pipeline.server.documents import ID
from storm_pipeline.types import Outline


class RunOrder(BaseModel):
    """The body of a request for a new run."""

    model_config = ConfigDict(extra="forbid")

    topic: str = Field(description="Topic of the article, at most 300 characters.")
    makes: Literal["article", "outline"] = "article"
    recipe: str | None = Field(
        default=None, description="Name of the method; default: that of `storm write` or `storm outline`."
    )
    outline: str | None = Field(default=None, description="Headings of the article: '#' headings or a list.")
    settings: dict[str, Any] = Field(default_factory=dict, description="Settings that callers may choose.")
    documents: str | None = Field(
        default=None, pattern=ID, description="Name of a set of documents, which alone is searched."
    )


def given_outline(order: RunOrder) -> Outline | None:
    """The outline of an order, parsed from its text: a remote caller must not name a file."""
    if order.outline is None:
        return None
    try:
        return parse_pieces(order.topic, {"outline": order.outline}).outline
    except RunError as error:
        raise SettingsError("the outline has no heading: write a line such as '# History' for each section") from error
