"""The context that the steps of a run share."""

from dataclasses import dataclass, field

import dspy

from storm_pipeline.evidence.judges.base import Judge
from storm_pipeline.evidence.judges.support import Verdicts
from storm_pipeline.evidence.recorded_search import RecordedSearch
from storm_pipeline.evidence.store import ReferenceStore
from storm_pipeline.models.asking import LanguageModels, Usable
from storm_pipeline.models.programs import Program, Programs
from storm_pipeline.run.events import Events
from storm_pipeline.run.folder import RunStore
from storm_pipeline.run.ledger import Ledger
from storm_pipeline.settings import Role, Settings
from storm_pipeline.sources.search.tables_of_contents import ContentsSource
from storm_pipeline.types import ModelChoice, Outline, Perspective


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
    events: Events
    ledger: Ledger
    run: RunStore
    user_pieces: UserPieces = UserPieces()
    chosen: tuple[ModelChoice, ...] = ()  # whom each role asks, and who chose that
    found_first: str = ""
    """Results of a first search for the topic, for the prompts before any other search; empty: none was made."""
    judge: Judge | None = None  # judges the sentences besides the screen; None: no judge
    verdicts: Verdicts = field(default_factory=Verdicts)

    def about(self, topic: str) -> str:
        """Return the topic as prompts name it, with what the user says about it."""
        return f"{topic} ({' '.join(self.settings.about.split())})" if self.settings.about else topic

    def introduced(self, topic: str) -> str:
        """Return :meth:`about`, with the results of the first search, if one was made."""
        return f"{self.about(topic)} {self.found_first}".rstrip()

    def ask(self, role: Role, program: Program, usable: Usable | None = None, /, **inputs: object) -> dspy.Prediction:
        """Ask a model; shorthand for :meth:`LanguageModels.ask`."""
        return self.models.ask(role, program, usable, **inputs)
