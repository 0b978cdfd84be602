"""Asking a model for a few tokens, to see whether a run could ask it."""

import threading

from dspy.utils.exceptions import LMError

from storm_pipeline.errors import ModelError
from storm_pipeline.models.engine import Engine
from storm_pipeline.models.open_models import open_model
from storm_pipeline.models.refusals import refuses_limit
from storm_pipeline.models.request import Request
from storm_pipeline.run.events import CallbackSink, Degraded, Event, Events
from storm_pipeline.run.journal import Journal
from storm_pipeline.run.ledger import RunControl, Spent
from storm_pipeline.settings import Settings

_TOKENS = 16  # the least that OpenAI takes
_SECONDS = 60.0
_PROMPT = [
    {"role": "system", "content": "Reply with one word."},  # as in every prompt of a run
    {"role": "user", "content": "Are you ready?"},
]


def try_model(name: str, settings: Settings) -> str:
    """Ask a hosted model for at most 16 tokens, once; return that it replies, and what it refuses of a request.

    Raises ModelError, ModelAuthError: it cannot be asked; SettingsError: no key is set, or it refuses a chosen setting.
    """
    uncapped = {"max_cost": None, "max_tokens": None, "max_minutes": None}
    once = settings.model_copy(update=uncapped | {"call_attempts": 1, "lm_timeout": min(settings.lm_timeout, _SECONDS)})
    events: list[Event] = []
    control = RunControl(once, Spent(), threading.Event())
    engine = Engine(events=Events(CallbackSink(events.append)), control=control, journal=Journal(None), settings=once)
    request = Request("writer", open_model(name, once), _PROMPT, {"max_tokens": _TOKENS}, _TOKENS, "")
    try:
        engine.complete(request)
    except ModelError as error:  # OpenAI's reasoning models refuse a limit that their thinking uses up
        if not (isinstance(error.__cause__, LMError) and refuses_limit(error.__cause__)):
            raise
    return "; ".join(["it replies", *(one.detail for one in events if isinstance(one, Degraded))])
