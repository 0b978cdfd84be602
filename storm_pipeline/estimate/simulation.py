"""Simulating a run: the real recipe and steps with a made-up model and made-up sources, in memory."""

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import dspy
from dspy.lm15 import Message, Request, Response, TextPart, Usage

from storm_pipeline.errors import StormError
from storm_pipeline.estimate.made_up_replies import SUBJECTS, MadeUpReply, SeededRandom, typical_reply
from storm_pipeline.estimate.scenarios import Scenario
from storm_pipeline.estimate.tokens import count_tokens
from storm_pipeline.models.model_objects import Model, StatelessLM
from storm_pipeline.models.programs import Programs
from storm_pipeline.models.prompt_adapter import PromptAdapter
from storm_pipeline.models.windows import settled
from storm_pipeline.retrieval.embedder import HashingEmbedder
from storm_pipeline.run.context import RunContext, UserPieces
from storm_pipeline.run.events import CallbackSink, Events, StageStarted
from storm_pipeline.run.folder import RunStore
from storm_pipeline.run.journal import Journal
from storm_pipeline.run.ledger import Ledger, RunControl, Spent
from storm_pipeline.run.search import open_engine
from storm_pipeline.run.session import Parts, open_context
from storm_pipeline.search.edge import checked
from storm_pipeline.search.fake import FakeSearch
from storm_pipeline.search.tables_of_contents import TableOfContents
from storm_pipeline.settings import ROLES, Role, Settings, is_embedded
from storm_pipeline.types import Snippet

_DIMENSION = 512  # dimension of hashed embeddings: high enough that texts without common words are dissimilar
Recipe = Callable[[RunContext, str], object]
_QUERY_WORDS = 2  # words of the query in each sentence of a page
_GENERAL_PAGES = 10  # pages about the topic that any query may find


@dataclass(frozen=True)
class Call:
    """A recorded call: the messages of its prompt, the reply, and the limit on reply tokens (None: unlimited)."""

    stage: str
    role: Role
    program: str
    messages: tuple[str, ...]
    reply: str
    max_tokens: int | None

    @cached_property
    def tokens_in(self) -> float:
        """Tokens of the prompt."""
        return count_tokens(self.messages)

    @cached_property
    def tokens_out(self) -> float:
        """Tokens of the reply."""
        return count_tokens([self.reply])


@dataclass(eq=False)
class _MadeUpModel:
    """A DSPy engine that plays a role. Replies are a function of the request."""

    role: Role
    programs: Programs  # of the run; it replies to no others
    scenario: Scenario
    stage: Callable[[], str]  # returns the current stage of the run
    calls: list[Call]  # each call is appended here, in arbitrary order

    @cached_property
    def _by_instructions(self) -> dict[str, tuple[str, type[dspy.Signature]]]:
        return {
            PromptAdapter().format_system_message(predictor.signature): (name, predictor.signature)
            for name, program in self.programs.named().items()
            for predictor in program.predictors()
        }

    def complete(self, request: Request) -> Response:
        """Reply to a request of one of the programs, identified by its instructions."""
        system, *messages = str(request.system), *(message.text or "" for message in request.messages)
        program, signature = self._by_instructions[system]
        typical = typical_reply(signature, program)
        reply = str(MadeUpReply(signature, messages[-1], typical, self.scenario, request.config.seed))
        max_tokens = request.config.max_tokens
        self.calls.append(Call(self.stage(), self.role, program, (system, *messages), reply, max_tokens))
        return Response(None, request.model, Message.assistant([TextPart(reply)]), "stop", Usage())


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
    search = _made_up_search(topic, settings.top_k, scenario)

    def model(role: Role) -> Model:
        engine = _MadeUpModel(role, programs, scenario, lambda: events.stage, calls)
        lm = StatelessLM(
            f"simulation/{role}", engine=engine, cache=False, num_retries=0, max_tokens=settings.reply_tokens
        )
        return Model(lm, PromptAdapter(), role, "a simulation", bounded=is_embedded(settings.lm_of(role)))

    parts = Parts(
        engine=open_engine(settings, checked(search)),
        models={role: model(role) for role in ROLES},
        embedder=HashingEmbedder(_DIMENSION),
        contents=_MadeUpContents(scenario),
        programs=programs,
    )
    run = _NullStore(topic)
    ctx = open_context(run, settings, parts, events=events, ledger=ledger, control=control, user_pieces=user_pieces)
    failure = ""
    try:
        recipe(ctx, topic)
    except StormError as error:
        failure = str(error)
    finally:
        ctx.search.run_search.close()
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
        "judge": "model" if settings.judge_of_run == "model" else "screen",  # a model that is no language model is free
    }
    # The seed varies by place, so that concurrent interviews with equal prompts get different replies. Replies are
    # immediate, so concurrency would only slow the simulation down.
    return settings.model_copy(update={**bounded, **uncapped, **search, "call_attempts": 1, "workers": 1, "seed": 0})


@dataclass
class _MadeUpContents:
    """A table of contents for any title, with the scenario's number of headings."""

    scenario: Scenario

    def table_of_contents(self, title: str) -> TableOfContents:
        random = SeededRandom(title)
        return TableOfContents(title, tuple((1, random.words(3)) for _ in range(self.scenario.headings)))


def _made_up_search(topic: str, pages: int, scenario: Scenario) -> FakeSearch:
    """An engine that finds pages for every query, which mention the topic and words of the query."""
    number = math.ceil(pages * scenario.found)
    return FakeSearch(lambda query: [s for rank in range(number) for s in _page(topic, query, rank, scenario)])


@lru_cache(maxsize=4096)
def _page(topic: str, query: str, rank: int, scenario: Scenario) -> Sequence[Snippet]:
    """The snippets of one page: one that answers the query, or a general one about the topic."""
    random = SeededRandom(query, rank)
    subjects = [word for word in query.split() if word not in topic.split()] or list(SUBJECTS)
    if random.random() >= scenario.new:
        subjects, rank = [random.choice(SUBJECTS[:_GENERAL_PAGES])], 0
    random = SeededRandom(*subjects, rank)
    is_named = random.random() < scenario.named
    title = f"{topic if is_named else random.words(2)} {subjects[0]} {random.words(2)}"
    opening = _opening(topic, subjects[0], random, scenario)
    named = [_name(topic, scenario)] if is_named else []
    found = []
    for _ in range(scenario.snippets):
        about = (random.sample(subjects, min(_QUERY_WORDS, len(subjects))) for _ in range(scenario.sentences))
        sentences = [random.sentence(scenario.words, [*named, *words]) for words in about]
        text = " ".join([opening, *sentences[1:]])
        found.append(Snippet(f"https://example.org/{'-'.join(subjects)}/{rank}", title, text))
        opening = random.sentence(scenario.words, subjects[:_QUERY_WORDS])
    return tuple(found)


def _opening(topic: str, subject: str, random: SeededRandom, scenario: Scenario) -> str:
    """The first sentence of a page; on some pages it repeats or contradicts that of others, for the reviewer."""
    name = _name(topic, scenario)
    if random.random() >= scenario.alike:
        return random.sentence(scenario.words, [name, subject])
    negation = ["not"] if random.random() < 0.5 else []
    return SeededRandom(topic).sentence(scenario.words, [name, *negation, subject])


def _name(topic: str, scenario: Scenario) -> str:
    """The topic, or as much of it as fits a sentence."""
    return " ".join(topic.split()[: scenario.words // 2])
