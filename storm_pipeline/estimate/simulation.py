"""Simulating a run: the real recipe and steps with a made-up model and made-up sources, in memory."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from storm_pipeline.errors import StormError
from storm_pipeline.estimate.made_up_model import Call, MadeUpModel
from storm_pipeline.estimate.made_up_sources import MadeUpContents, made_up_search
from storm_pipeline.estimate.scenarios import Scenario
from storm_pipeline.models.model_objects import Model, StatelessLM
from storm_pipeline.models.programs import Programs
from storm_pipeline.models.prompt_adapter import PromptAdapter
from storm_pipeline.models.windows import settled
from storm_pipeline.retrieval.embedder import HashingEmbedder
from storm_pipeline.run.context import RunContext, UserPieces
from storm_pipeline.run.events import CallbackSink, Events, StageStarted
from storm_pipeline.run.folder import RunStore
from storm_pipeline.run.journal import Journal
from storm_pipeline.run.ledger import Ledger
from storm_pipeline.run.limits import RunControl, Spent
from storm_pipeline.run.search import open_engine
from storm_pipeline.run.session import Parts, open_context
from storm_pipeline.search.edge import checked
from storm_pipeline.settings import ROLES, Role, Settings, is_embedded
from storm_pipeline.writers import writer_for

_DIMENSION = 512  # dimension of hashed embeddings: high enough that texts without common words are dissimilar
Recipe = Callable[[RunContext, str], object]


@dataclass(frozen=True)
class Simulation:
    """Calls of a simulated run in arbitrary order, searches, first failure (empty if none), and starts of stages."""

    calls: tuple[Call, ...]
    searches: int
    failure: str
    starts: tuple[StageStarted, ...]


class _NullStore(RunStore):
    """A run store without a folder, which discards everything."""

    def __init__(self, topic: str) -> None:
        self.folder = Path()
        self.state = {"topic": topic}
        self.journal = Journal(None)
        self.replaced = {}

    def save_text(self, name: str, text: str) -> None:
        """Discard it."""

    def save_json(self, name: str, value: Any) -> None:
        """Discard it."""


def simulate(
    recipe: Recipe, settings: Settings, topic: str, programs: Programs, scenario: Scenario, *, user_pieces: UserPieces
) -> Simulation:
    """Execute a recipe in a scenario; no service is called and nothing is written.

    Args:
        recipe: one of :data:`storm_pipeline.recipes.RECIPES` or :data:`storm_pipeline.recipes.OUTLINES`.
        user_pieces: pieces that the user provides, for which no model is asked.
    """
    settings = _simulation_settings(settled(settings), scenario)
    programs = programs.for_settings(settings)
    ledger, calls = Ledger(), list[Call]()
    control = RunControl(settings, Spent(), threading.Event())
    starts: list[StageStarted] = []
    events = Events(ledger, control, CallbackSink(lambda e: starts.append(e) if isinstance(e, StageStarted) else None))
    search = made_up_search(topic, settings.top_k, scenario)

    def model(role: Role) -> Model:
        engine = MadeUpModel(role, programs, scenario, lambda: events.stage, calls)
        lm = StatelessLM(
            f"simulation/{role}", engine=engine, cache=False, num_retries=0, max_tokens=settings.reply_tokens
        )
        return Model(lm, PromptAdapter(), role, "a simulation", bounded=is_embedded(settings.lm_of(role)))

    parts = Parts(
        engine=open_engine(settings, checked(search)),
        models={role: model(role) for role in ROLES},
        embedder=HashingEmbedder(_DIMENSION),
        contents=MadeUpContents(scenario),
        programs=programs,
        writer=writer_for(settings),
    )
    run = _NullStore(topic)
    ctx = open_context(run, settings, parts, events=events, ledger=ledger, control=control, user_pieces=user_pieces)
    failure = ""
    try:
        recipe(ctx, topic)
    except StormError as error:
        failure = str(error)
    finally:
        ctx.search.close()
        ctx.store.close()
    return Simulation(tuple(calls), len(search.queries), failure or ledger.failure_summary(), tuple(starts))


def _simulation_settings(settings: Settings, scenario: Scenario) -> Settings:
    """Settings without caps, page fetching and source filters, and within the scenario's bounds."""
    bounded = {name: min(bound, getattr(settings, name) or bound) for name, bound in scenario.settings.items()}
    uncapped = dict.fromkeys(("max_cost", "max_tokens", "max_minutes"))
    search = {
        "source_policy": "any",
        "read_pages": "never",
        "search_cache": "off",
        "exclude_urls": (),
        "exclude_titles": (),
        "judge": settings.judge if settings.judge == "model" else "screen",  # a model that is no language model is free
    }
    # The seed varies by place, so that concurrent interviews with equal prompts get different replies. Replies are
    # immediate, so concurrency would only slow the simulation down.
    return settings.model_copy(update={**bounded, **uncapped, **search, "call_attempts": 1, "workers": 1, "seed": 0})
