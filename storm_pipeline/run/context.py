"""The context that the steps of a run share, and the protocol of the writers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import dspy

from storm_pipeline.models.asking import LanguageModels, Usable
from storm_pipeline.models.programs import Program, Programs
from storm_pipeline.references.evidence import E, Evidence
from storm_pipeline.references.store import ReferenceStore
from storm_pipeline.references.subject import Subject
from storm_pipeline.run.events import Events
from storm_pipeline.run.folder import RunStore
from storm_pipeline.run.ledger import Ledger
from storm_pipeline.run.recorded_search import RecordedSearch
from storm_pipeline.search.tables_of_contents import ContentsSource
from storm_pipeline.search.wikimedia_images import ImageSource, NoImages
from storm_pipeline.settings import Role, Settings
from storm_pipeline.types import Answer, Body, Conversation, Heading, Outline, Perspective, Section, Snippet, Source


@dataclass(frozen=True)
class UserPieces:
    """Pieces that the user provides instead of having them generated."""

    perspectives: tuple[Perspective, ...] | None = None
    outline: Outline | None = None


@dataclass(frozen=True)
class RunContext:
    """One run's models, search, store, folder and settings; every step reads and fills the same store."""

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
    user_pieces: UserPieces = UserPieces()
    images: ImageSource = field(default_factory=NoImages)
    subject: Subject | None = None
    """What the sources say the topic is, where that was looked up first."""

    def about(self, topic: str) -> str:
        """The topic as prompts of the research name it: with its definition, if that was looked up."""
        return self.subject.described if self.subject else topic

    def ask(self, role: Role, program: Program, usable: Usable | None = None, /, **inputs: object) -> dspy.Prediction:
        """Shorthand for :meth:`LanguageModels.ask`."""
        return self.models.ask(role, program, usable, **inputs)


class Writer(Protocol[E]):
    """Writes text from sources; chosen once per run, by the capability of the writer model."""

    def answer(self, ctx: RunContext, topic: str, question: str, found: Sequence[Snippet]) -> Answer:
        """The expert's answer to a question, from the snippets found for it. Raises ModelError: the model fails."""
        ...

    def gather(
        self,
        ctx: RunContext,
        outline: Outline,
        conversations: Sequence[Conversation] = (),
        before: Evidence[E] | None = None,
        draft: str = "",
    ) -> Evidence[E]:
        """The evidence for each section, from the run's store and the interviews.

        Args:
            conversations: the interviews; snippets that their answers cite are assigned to sections.
            before: evidence from before further searches; all of it is kept.
            draft: text of the sections written so far.
        """
        ...

    def wanted_sections(self, settings: Settings) -> str:
        """How many sections an outline should have, as text for a prompt."""
        ...

    def survey(self, ctx: RunContext, draft: Outline, conversations: Sequence[Conversation]) -> str:
        """A digest of interviews and sources, as input for refining the outline."""
        ...

    def select(self, ctx: RunContext, heading: Heading, snippets: Sequence[Snippet], need: str, sections: int = 1) -> E:
        """Select evidence for a heading's text from retrieved snippets; an untitled heading means an article.

        The text is one of ``sections`` that share the article's length.
        """
        ...

    def recall(self, ctx: RunContext, heading: Heading, conversations: Sequence[Conversation]) -> E:
        """Select evidence for the text under a heading from the interviews only."""
        ...

    def section(self, ctx: RunContext, outline: Outline, evidence: E) -> Section:
        """One section, written from its evidence; possibly empty. Raises ModelError: the model fails."""
        ...

    def revise(self, ctx: RunContext, outline: Outline, evidence: E, before: E, section: Section) -> Section:
        """A section written anew, after more was found.

        ``before``: the evidence that it was written from. Raises ModelError: the model fails.
        """
        ...

    def article(self, ctx: RunContext, topic: str, evidence: E, conversations: Sequence[Conversation] = ()) -> Body:
        """A whole article in one go, without an outline; its writer divides it into sections.

        ``conversations``: interviews shown in full, where the writer reads them. Raises ModelError: the model fails.
        """
        ...

    def note(self, topic: str, sources: Sequence[Source]) -> str:
        """What a reader must know about the text: :attr:`storm_pipeline.types.Article.note`."""
        ...

    def finish(self, ctx: RunContext, sections: tuple[Section, ...], evidence: Evidence[E]) -> Body:
        """The body: a lead, and the sections without repetition."""
        ...
