"""What every step of one run shares, passed explicitly."""

from dataclasses import dataclass
from typing import Protocol

import dspy

from storm_pipeline.events import Events
from storm_pipeline.ledger import Ledger
from storm_pipeline.models import LanguageModels
from storm_pipeline.programs import Program, Programs
from storm_pipeline.references.store import ReferenceStore
from storm_pipeline.runs import RunStore
from storm_pipeline.search.base import SearchEngine
from storm_pipeline.search.contents import TableOfContents
from storm_pipeline.settings import Role, Settings


class ContentsSource(Protocol):
    """Looks up the table of contents of an encyclopedia article by its title."""

    def table_of_contents(self, title: str) -> TableOfContents | None:
        """The article's headings, or None when there is no such article.

        Raises:
            SearchError: the look-up itself failed.
        """
        ...


@dataclass(frozen=True)
class RunContext:
    """One run's models, search, store, folder and settings. One store a run: every step reads and fills it."""

    settings: Settings
    models: LanguageModels
    programs: Programs
    search: SearchEngine
    contents: ContentsSource
    store: ReferenceStore
    events: Events
    ledger: Ledger
    run: RunStore

    def ask(self, role: Role, program: Program, **inputs: object) -> dspy.Prediction:
        """Shorthand for :meth:`LanguageModels.ask`."""
        return self.models.ask(role, program, **inputs)
