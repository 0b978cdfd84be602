"""What every step of one run shares, passed explicitly."""

from dataclasses import dataclass

import dspy

from storm_pipeline.events import Events
from storm_pipeline.ledger import Ledger
from storm_pipeline.models import LanguageModels
from storm_pipeline.programs import Program, Programs
from storm_pipeline.recording import RecordedSearch
from storm_pipeline.references.store import ReferenceStore
from storm_pipeline.runs import RunStore
from storm_pipeline.search.contents import ContentsSource
from storm_pipeline.settings import Role, Settings
from storm_pipeline.types import Outline, Perspective


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
    events: Events
    ledger: Ledger
    run: RunStore
    given: Given = Given()

    def ask(self, role: Role, program: Program, **inputs: object) -> dspy.Prediction:
        """Shorthand for :meth:`LanguageModels.ask`."""
        return self.models.ask(role, program, **inputs)
