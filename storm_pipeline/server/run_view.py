"""A run as callers see it."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

RUN = r"^[^./\\\x00][^/\\\x00]*$"
"""Names of runs, as a regular expression."""
State = Literal["queued", "running", "finished", "stopped", "failed", "interrupted", "unclear", "unreadable"]
"""States of a run, see :data:`storm_pipeline.run.listing.State`."""


@dataclass(frozen=True)
class RunView:
    """A run as callers see it."""

    run: Annotated[str, Field(description="Its name.")]
    topic: Annotated[str, Field(description="Its topic; empty if it cannot be read.")]
    makes: Annotated[Literal["article", "outline"], Field(description="What it makes.")]
    recipe: Annotated[str, Field(description="The method; empty if it cannot be read.")]
    state: Annotated[State, Field(description="All but `queued`, `running` and `finished` can be resumed.")]
    reason: Annotated[str, Field(description="Why it ended early; empty if it did not.")]
    position: Annotated[
        int | None,
        Field(description="Its place among the runs that wait, from 1; null if it does not wait."),
    ]
    created: Annotated[str | None, Field(description="ISO time (UTC); null if unknown.")]
    sessions: Annotated[int, Field(description="Sessions so far.")]
    calls: Annotated[int, Field(description="Model calls so far.")]
    tokens_in: Annotated[int, Field(description="Prompt tokens so far.")]
    tokens_out: Annotated[int, Field(description="Completion tokens so far.")]
    cost: Annotated[float | None, Field(description="US dollars so far; null if unknown.")]
    caller: Annotated[str, Field(description="Name of its caller's token; empty for the server's owner.")]
    documents: Annotated[str | None, Field(description="Name of the set of documents that it searches, if any.")]
    ready: Annotated[bool, Field(description="Whether its article or outline can be fetched.")]
