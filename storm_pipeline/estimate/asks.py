"""What a run asks of language models and of a search engine: the terms in which its steps are counted."""

from dataclasses import dataclass

from storm_pipeline.estimate.prompts import Prompts
from storm_pipeline.settings import Role


@dataclass(frozen=True)
class Ask:
    """The calls of one program in one stage.

    Attributes:
        stage: as in events and usage, e.g. ``conversations``.
        role: role of the model that is asked.
        program: field of :class:`storm_pipeline.programs.Programs`, e.g. ``question``.
        calls: how many, as a mean where not every run has them.
        prompts: what is sent.
        reply: completion tokens a call, by our count and without thinking.
        why: what makes this number of calls.
    """

    stage: str
    role: Role
    program: str
    calls: float
    prompts: Prompts
    reply: float
    why: str = "once"


@dataclass(frozen=True)
class Searches:
    """Queries that one step sends to the search engine."""

    queries: float


Asked = Ask | Searches
"""One thing that a step asks."""


def count(number: int, noun: str) -> str:
    """``1 turn``, ``5 turns``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
