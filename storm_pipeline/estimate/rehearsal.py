"""A run that is rehearsed: the real recipe and its steps, with a made-up model and made-up sources, in memory alone."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from storm_pipeline.errors import StormError
from storm_pipeline.estimate.model import Call, MadeUpModel
from storm_pipeline.estimate.scenarios import Scenario
from storm_pipeline.estimate.sources import MadeUpContents, made_up_search
from storm_pipeline.models.model import Model, StatelessLM
from storm_pipeline.models.programs import Programs
from storm_pipeline.models.prompt_adapter import PromptAdapter
from storm_pipeline.models.windows import settled
from storm_pipeline.retrieval.embedder import HashingEmbedder
from storm_pipeline.run.context import RunContext, UserPieces
from storm_pipeline.run.events import Events
from storm_pipeline.run.folder import RunStore
from storm_pipeline.run.journal import Journal
from storm_pipeline.run.ledger import Ledger
from storm_pipeline.run.limits import RunControl, Spent
from storm_pipeline.run.search import open_engine
from storm_pipeline.run.session import Parts, open_context
from storm_pipeline.search.edge import checked
from storm_pipeline.settings import ROLES, Role, Settings, is_embedded
from storm_pipeline.writers import writer_for

_DIMENSION = 512
"""Of made-up vectors: enough that texts without a word in common are hardly alike."""
Recipe = Callable[[RunContext, str], object]


@dataclass(frozen=True)
class Rehearsed:
    """What a rehearsal asked, in no order, and what went wrong in it."""

    calls: tuple[Call, ...]
    searches: int
    failure: str


class _Nowhere(RunStore):
    """A run without a folder: what it saves is forgotten."""

    def __init__(self, topic: str) -> None:
        self.folder = Path()
        self.state = {"topic": topic}
        self.journal = Journal(None)
        self.replaced = {}

    def save_text(self, name: str, text: str) -> None:
        """Forget it."""

    def save_json(self, name: str, value: Any) -> None:
        """Forget it."""


def rehearse(
    recipe: Recipe, settings: Settings, topic: str, programs: Programs, scenario: Scenario, *, user_pieces: UserPieces
) -> Rehearsed:
    """Run a recipe as a scenario foresees it; nothing is asked of others, fetched or written.

    Args:
        recipe: one of :data:`storm_pipeline.recipes.RECIPES` or :data:`storm_pipeline.recipes.OUTLINES`.
        settings: of the run.
        topic: what it is about.
        programs: of the run.
        scenario: sizes of what is found and replied.
        user_pieces: pieces that the user provides, for which no model is asked.
    """
    settings = _rehearsed(settled(settings), scenario)
    ledger, calls = Ledger(), list[Call]()
    control = RunControl(settings, Spent(), threading.Event())
    events = Events(ledger, control)
    search = made_up_search(topic, settings.top_k, scenario)

    def model(role: Role) -> Model:
        engine = MadeUpModel(role, programs, scenario, lambda: events.stage, calls)
        lm = StatelessLM(
            f"rehearsal/{role}", engine=engine, cache=False, num_retries=0, max_tokens=settings.reply_tokens
        )
        return Model(lm, PromptAdapter(), role, "a rehearsal", bounded=is_embedded(settings.lm_of(role)))

    parts = Parts(
        engine=open_engine(settings, checked(search)),
        models={role: model(role) for role in ROLES},
        embedder=HashingEmbedder(_DIMENSION),
        contents=MadeUpContents(scenario),
        programs=programs,
        writer=writer_for(settings),
    )
    run = _Nowhere(topic)
    ctx = open_context(run, settings, parts, events=events, ledger=ledger, control=control, user_pieces=user_pieces)
    failure = ""
    try:
        recipe(ctx, topic)
    except StormError as error:
        failure = str(error)
    finally:
        ctx.search.close()
        ctx.store.close()
    return Rehearsed(tuple(calls), len(search.queries), failure or ledger.failure_summary())


def _rehearsed(settings: Settings, scenario: Scenario) -> Settings:
    """The settings of a rehearsal: no caps, no pages read, no sources left out, and no more than the scenario takes."""
    fewer = {name: min(most, getattr(settings, name) or most) for name, most in scenario.settings.items()}
    uncapped = dict.fromkeys(("max_cost", "max_tokens", "max_minutes"))
    sought = {"sources": "any", "read_pages": "never", "search_cache": "off", "exclude_urls": (), "exclude_titles": ()}
    # A seed reaches the model, so that interviews side by side that ask alike are answered differently. Replies come at
    # once, so calls in flight together would only get in each other's way.
    return settings.model_copy(update={**fewer, **uncapped, **sought, "attempts": 1, "workers": 1, "seed": 0})
