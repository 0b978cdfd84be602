"""The context that the steps of a run share."""

from dataclasses import dataclass, field

import dspy

from storm_pipeline.evidence.judges.base import Judge, Verdict
from storm_pipeline.evidence.recorded_search import RecordedSearch
from storm_pipeline.evidence.store import ReferenceStore
from storm_pipeline.models.asking import LanguageModels, Usable
from storm_pipeline.models.programs import Program, Programs
from storm_pipeline.run.events import Events
from storm_pipeline.run.folder import RunStore, slug
from storm_pipeline.run.journal import fingerprint
from storm_pipeline.run.ledger import Ledger
from storm_pipeline.settings import Role, Settings
from storm_pipeline.sources.search.base import ContentsSource
from storm_pipeline.types import Brief, ModelChoice, Outline, Perspective


@dataclass(frozen=True)
class UserPieces:
    """Pieces that the user provides instead of having them generated."""

    perspectives: tuple[Perspective, ...] | None = None
    outline: Outline | None = None


def brief_of(topic: str, settings: Settings) -> Brief:
    """Return the brief that the settings give for a topic."""
    about, style = settings.about or "", settings.style or ""
    return Brief(topic, about, language=settings.article_language, length=settings.article_words, style=style)


def piece_of(perspective: Perspective) -> str:
    """Return the file name of a conversation, which identifies its interviewer."""
    number = fingerprint(perspective.name, perspective.focus)[:6]
    return f"conversations/{slug(perspective.name)}-{number}.json"


@dataclass(frozen=True)
class RunContext:
    """One run's brief, models, search, store, folder and settings; every step reads and fills the same store."""

    brief: Brief
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
    chosen: tuple[ModelChoice, ...] = ()  # the model of each role, and the origin of the choice
    judge: Judge | None = None  # the judge of sentences besides the screen, if any
    verdicts: dict[str, Verdict] = field(default_factory=dict)  # sentence → the judge's latest verdict on it

    def ask(self, role: Role, program: Program, usable: Usable | None = None, /, **inputs: object) -> dspy.Prediction:
        """Ask a model; shorthand for :meth:`LanguageModels.ask`."""
        return self.models.ask(role, program, usable, **inputs)
