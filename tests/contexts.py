"""A run for tests of writers: real settings, store and events, and a model that replies what it is told to."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import dspy

from storm_pipeline.evidence.passages import Passage
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.evidence.screen import Screen
from storm_pipeline.evidence.store import ReferenceStore
from storm_pipeline.method.context import RunContext, brief_of
from storm_pipeline.method.writers.draft_checks import check_blocks
from storm_pipeline.method.writers.drafts import read_draft
from storm_pipeline.models.programs import Program, Programs
from storm_pipeline.run.events import CallbackSink, Counted, Degraded, Event, Events, Revised
from storm_pipeline.run.ledger import Ledger
from storm_pipeline.settings import Settings
from storm_pipeline.types import Sentence, Snippet

Reply = Callable[[Mapping[str, Any]], dict[str, Any]]
"""Inputs of a prompt → its output fields; may raise a ModelError."""


@dataclass(frozen=True)
class Told:
    """What a run said while it went."""

    events: list[Event]

    def revised(self) -> list[Revised]:
        return [event for event in self.events if isinstance(event, Revised)]

    def degraded(self) -> list[str]:
        return [event.detail for event in self.events if isinstance(event, Degraded)]

    def counted(self, name: str) -> int:
        return sum(event.number for event in self.events if isinstance(event, Counted) and event.name == name)


@contextmanager
def run(
    snippets: Sequence[Snippet] = (),
    replies: Mapping[str, Reply] | None = None,
    topic: str = "Orrin Dam",
    **settings: Any,
) -> Iterator[tuple[RunContext, Told]]:
    """A run whose store holds the snippets; a model replies by the name of the signature that asks."""
    told = Told([])

    def ask(role: str, program: Program, usable: object = None, /, **inputs: Any) -> dspy.Prediction:
        return dspy.Prediction(**(replies or {})[program.name](inputs))

    own = Settings.build({"writing": "whole", **settings})
    unused: Any = SimpleNamespace()
    models: Any = SimpleNamespace(ask=ask)
    with ReferenceStore(HashingEmbedder(256)) as store:
        store.add(snippets)
        yield (
            RunContext(
                brief=brief_of(topic, own),
                settings=own,
                models=models,
                programs=Programs(),
                search=unused,
                contents=unused,
                store=store,
                events=Events(CallbackSink(told.events.append)),
                ledger=Ledger(),
                run=unused,
            ),
            told,
        )


def checked(
    passages: Sequence[Passage], draft: str, reply: str | Exception, judge: Any = None, **settings: str
) -> tuple[list[Sentence], Told, list[str]]:
    """The sentences of a draft that stand, what was told, and the remarks that were made, to which a writer replies."""
    remarks: list[str] = []

    def ask_again(asked: str, _: object) -> str:
        remarks.append(asked)
        if isinstance(reply, Exception):
            raise reply
        return reply

    screen = Screen(passages, known="Orrin Dam", embed=HashingEmbedder().embed)
    with run(**settings) as (ctx, told):
        written = read_draft(draft, len(passages))
        blocks = check_blocks(replace(ctx, judge=judge or ctx.judge), "History", written, screen, ask_again)
    return [s for block in blocks for paragraph in block.paragraphs for s in paragraph.sentences], told, remarks
