"""What every step of one run shares, passed explicitly; and the seam between the method and how text is written."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import dspy

from storm_pipeline.events import Events
from storm_pipeline.ledger import Ledger
from storm_pipeline.models import LanguageModels
from storm_pipeline.programs import Program, Programs
from storm_pipeline.recording import RecordedSearch
from storm_pipeline.references.evidence import Evidence, SectionEvidence
from storm_pipeline.references.facts import Fact
from storm_pipeline.references.store import ReferenceStore
from storm_pipeline.runs import RunStore
from storm_pipeline.search.contents import ContentsSource
from storm_pipeline.settings import Role, Settings
from storm_pipeline.types import Body, Outline, Perspective, Section, Snippet


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
    writer: "Writer"
    events: Events
    ledger: Ledger
    run: RunStore
    given: Given = Given()

    def ask(self, role: Role, program: Program, **inputs: object) -> dspy.Prediction:
        """Shorthand for :meth:`LanguageModels.ask`."""
        return self.models.ask(role, program, **inputs)


class Writer(Protocol):
    """How an article's text is written from sources; chosen once a run, by what the writing model can do."""

    def can_use(self, text: str) -> bool:
        """Whether a text taken out of its context is of use to the writer."""
        ...

    def gather(self, ctx: RunContext, outline: Outline) -> Evidence:
        """What each section is written from, out of the run's store."""
        ...

    def material(self, ctx: RunContext, snippets: Sequence[Snippet], need: str, *, sections: int = 1) -> list[Fact]:
        """What is shown of retrieved snippets for a text about ``need`` that has the length of so many sections."""
        ...

    def section(self, ctx: RunContext, outline: Outline, evidence: SectionEvidence) -> Section:
        """One section from its own evidence; possibly empty.

        Raises:
            ModelError: the model fails.
        """
        ...

    def divide(self, ctx: RunContext, outline: Outline, facts: Sequence[Fact]) -> Sequence[SectionEvidence]:
        """How an article that is not to be written section by section is divided all the same; empty if it is not."""
        ...

    def article(self, ctx: RunContext, outline: Outline, facts: Sequence[Fact]) -> Body:
        """A whole article in one call; the outline may be empty.

        Raises:
            ModelError: the model fails.
        """
        ...

    def finish(self, ctx: RunContext, topic: str, sections: tuple[Section, ...], evidence: Evidence) -> Body:
        """The lead, and the sections without what they say twice."""
        ...
