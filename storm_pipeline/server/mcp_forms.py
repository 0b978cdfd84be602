"""Arguments and results of the MCP tools, as their schemas describe them."""

from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict  # pydantic wants this one before Python 3.12

from storm_pipeline.settings import MAX_TOPIC_LENGTH

Topic = Annotated[str, Field(description=f"Topic of the article, at most {MAX_TOPIC_LENGTH} characters.")]
Run = Annotated[str, Field(description="Name of the run, such as silk-road-20261121-101500.")]
Chosen = Annotated[
    dict[str, Any] | None, Field(description="Settings of this run that the server lets callers choose.")
]
Headings = Annotated[str | None, Field(description="Headings to use: '#' headings or a list.")]
Recipe = Annotated[str | None, Field(description="Name of the method; default: that of `storm write`.")]
Documents = Annotated[str | None, Field(description="Name of a set of documents of yours, which alone is searched.")]


class Made(TypedDict):
    """What a run made."""

    run: Annotated[str, Field(description="Name of the run.")]
    makes: Annotated[str, Field(description="`article` or `outline`.")]
    markdown: Annotated[str, Field(description="The article or outline, in Markdown.")]


class Passage(TypedDict):
    """A passage of a page."""

    url: str | None
    title: str | None
    text: str | None
    published: str | None


class Found(TypedDict):
    """Passages for a query."""

    notice: str
    passages: list[Passage]


class Exported(TypedDict):
    """An exported article."""

    run: str
    format: str
    media_type: str
    text: Annotated[str | None, Field(description="Its content; null if it is no text but a resource in base64.")]
