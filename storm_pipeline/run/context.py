"""What every step of one run shares, passed explicitly; and the seam between the method and how text is written."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import dspy

from storm_pipeline.models.asking import LanguageModels
from storm_pipeline.models.programs import Program, Programs
from storm_pipeline.references.evidence import E, Evidence
from storm_pipeline.references.store import ReferenceStore
from storm_pipeline.run.events import Events
from storm_pipeline.run.folder import RunStore
from storm_pipeline.run.ledger import Ledger
from storm_pipeline.run.recorded_search import RecordedSearch
from storm_pipeline.search.contents import ContentsSource
from storm_pipeline.settings import Role, Settings
from storm_pipeline.types import Answer, Body, Conversation, Heading, Outline, Perspective, Section, Snippet


@dataclass(frozen=True)
class Given:
    """Pieces that the user gives instead of having them made."""

    perspectives: tuple[Perspective, ...] | None = None
    outline: Outline | None = None


@dataclass(frozen=True)
class RunContext:
    """One run's models, search, store, folder and settings. One store a run: every step reads and fills it."""

    settings: Settings
    models: LanguageModels
    programs: Programs
    search: RecordedSearch
    contents: ContentsSource
    store: ReferenceStore
    writer: "Writer[Any]"
    events: Events
    ledger: Ledger
    run: RunStore
    given: Given = Given()

    def ask(self, role: Role, program: Program, **inputs: object) -> dspy.Prediction:
        """Shorthand for :meth:`LanguageModels.ask`."""
        return self.models.ask(role, program, **inputs)


class Writer(Protocol[E]):
    """How text is written from sources; chosen once a run, by what the writing model can do."""

    def answer(self, ctx: RunContext, topic: str, question: str, found: Sequence[Snippet]) -> Answer:
        """The expert's answer to a question from what its searches found.

        Raises:
            ModelError: the model fails.
        """
        ...

    def gather(
        self,
        ctx: RunContext,
        outline: Outline,
        conversations: Sequence[Conversation] = (),
        before: Evidence[E] | None = None,
    ) -> Evidence[E]:
        """What each section is written from, out of the run's store and the interviews.

        Args:
            ctx: the run.
            outline: of the article.
            conversations: the interviews; what their answers cite reaches a section.
            before: what was gathered before more was found; nothing of it is lost.
        """
        ...

    def wanted_sections(self, ctx: RunContext) -> str:
        """How many sections an outline should have, in words."""
        ...

    def survey(self, ctx: RunContext, draft: Outline, conversations: Sequence[Conversation]) -> str:
        """What the sources hold, for whoever refines a draft of the outline."""
        ...

    def select(self, ctx: RunContext, heading: Heading, snippets: Sequence[Snippet], need: str) -> E:
        """Of retrieved snippets what a text under a heading is written from; an untitled heading is a whole article."""
        ...

    def recall(self, ctx: RunContext, heading: Heading, conversations: Sequence[Conversation]) -> E:
        """What a text under a heading is written from if it is written from the interviews alone."""
        ...

    def section(self, ctx: RunContext, outline: Outline, evidence: E) -> Section:
        """One section from its own evidence; possibly empty.

        Raises:
            ModelError: the model fails.
        """
        ...

    def article(self, ctx: RunContext, outline: Outline, evidence: E) -> Body:
        """A whole article at once; the outline may be empty.

        Raises:
            ModelError: the model fails.
        """
        ...

    def finish(self, ctx: RunContext, sections: tuple[Section, ...], evidence: Evidence[E]) -> Body:
        """The lead, and the sections without what they say twice."""
        ...
