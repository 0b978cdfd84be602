"""Calls of a run's models by role, with inputs shortened to the window, and sampled until a reply parses."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import dspy
from dspy.utils.exceptions import AdapterParseError, LMError

from storm_pipeline.errors import ModelError, ReplyError
from storm_pipeline.models.engine import Engine, Replies, RunLM, first_line
from storm_pipeline.models.model_objects import Model
from storm_pipeline.models.open_models import object_model, open_model
from storm_pipeline.models.prices import listed_window, longer_replies, parse_prices, window_of
from storm_pipeline.models.programs import Program
from storm_pipeline.models.prompt_adapter import PromptAdapter
from storm_pipeline.models.refusals import refuses_limit
from storm_pipeline.models.request import Request, options_of
from storm_pipeline.run.events import CallbackSink, Degraded, Event, Events, Retried
from storm_pipeline.run.journal import Journal
from storm_pipeline.run.ledger import RunControl
from storm_pipeline.settings import Role, Settings
from storm_pipeline.text.fitting import fit_inputs

Values = list[dict[str, Any]]  # values of the output fields, one dict per requested reply (``n``, 1 by default)
Parse = Callable[[dspy.Adapter, dspy.BaseLM], Values]
"""A function that calls a model once through an adapter; raises AdapterParseError if the replies do not parse."""
Draw = Callable[[dspy.BaseLM, Parse], Values]  # draws samples from a model until one parses
_REPLY = 1 / 8  # maximum share of a window kept free for a reply
_TRIAL_TOKENS = 16  # the minimum for OpenAI
_TRIAL_SECONDS = 60.0
_TRIAL = [
    {"role": "system", "content": "Reply with one word."},  # as in the prompts of runs
    {"role": "user", "content": "Are you ready?"},
]
Usable = Callable[[dspy.Prediction | str], bool]
"""Predicate on the values of a reply; if no sample parses, on the text of the last one."""


class SamplingAdapter(PromptAdapter):
    """Adapter that passes each call of a predictor to a function, by default the active adapter's (``dspy.Refine``)."""

    def __init__(self, draw: Draw | None = None) -> None:
        super().__init__()
        self._draw: Draw = draw or dspy.settings.adapter._draw

    def __call__(
        self, lm: dspy.BaseLM, lm_kwargs: dict[str, Any], signature: type[dspy.Signature], *call: Any, **named: Any
    ) -> Values:
        """Return the values of the output fields; only rollout and temperature of a copied model have an effect."""
        base = lm.kwargs if isinstance(lm, RunLM) and lm.kwargs.get("rollout_id") is not None else {}
        options = {name: base[name] for name in ("rollout_id", "temperature") if base.get(name) is not None} | lm_kwargs
        return self._draw(lm, lambda adapter, served: adapter(served, dict(options), signature, *call, **named))

    async def acall(self, *call: Any, **named: Any) -> Values:
        """Call in a thread."""
        return await asyncio.to_thread(self, *call, **named)


class LanguageModels:
    """The models of a run by role, with journalled and capped calls, and DSPy's callbacks, traces and usage."""

    def __init__(
        self, table: dict[Role, Model], *, events: Events, control: RunControl, journal: Journal, settings: Settings
    ) -> None:
        self._table = table
        self._events = events
        self._journal = journal
        self._settings = settings
        self._prices = parse_prices(settings.prices)
        self._engine = Engine(events=events, control=control, journal=journal, settings=settings)

    @classmethod
    def outside_a_run(
        cls,
        table: dict[Role, Model],
        settings: Settings,
        events: Events | None = None,
        *,
        journal: Journal | None = None,
        control: RunControl | None = None,
    ) -> "LanguageModels":
        """Return models for use without a run, within the caps of ``control``, by default the settings'."""
        control = control or RunControl(settings)
        journal = journal or Journal(None)
        sinks = (control, events) if events else (control,)
        return cls(table, events=Events(*sinks), control=control, journal=journal, settings=settings)

    def ask(self, role: Role, program: Program, usable: Usable | None = None, /, **inputs: Any) -> dspy.Prediction:
        """Run a program with the role's model for all predictors without their own.

        Inputs are shortened to the model's window if it is known, see :mod:`storm_pipeline.text.fitting`. A reply that
        does not parse is sampled again, up to ``parse_attempts`` times in total. The replies of a failing program are
        rejected in the journal, so that a resumed run asks again.

        ``usable``: whether the values can be used; else the program fails. If no sample parses, it is called with the
        text of the last reply: with True, that reply is kept, and the caller reads it from the error.

        Raises ReplyError: no sample had the requested form, or the values cannot be used; ModelAuthError, ModelError,
        BudgetSpentError, StoppedError, TooManyFailuresError: as ``Engine.complete``.
        """
        received: list[Replies] = []
        model = self.model_of(role, program)
        adapter = SamplingAdapter(partial(self._draw, role, program, received))
        try:
            with dspy.context(lm=self._run_lm(role, model, program.token_limit), adapter=adapter):
                prediction = program(**self._fit(role, model, program, inputs))
        except ReplyError as error:
            if not (usable and error.reply and usable(error.reply)):
                self._reject(received)
            raise
        if usable and not usable(prediction):
            self._reject(received)
            raise ReplyError(f"the reply of {model.name} to {program.name} cannot be used")
        return prediction

    def lm(self, role: Role, token_limit: int) -> RunLM:
        """Return the role's model for any DSPy code; ``token_limit``: maximum tokens of a small model's reply."""
        return self._run_lm(role, self._table[role], token_limit)

    def model_of(self, role: Role, program: Program) -> Model:
        """Return the model of a program in a role: its own, else the role's."""
        program_lm = program.own_lm
        return self._table[role] if program_lm is None else self._model_of_object(program_lm)

    def _run_lm(self, role: Role, model: Model, token_limit: int) -> RunLM:
        return RunLM(self._engine, role, model, token_limit, {"max_tokens": token_limit} if model.bounded else {})

    def _model_of_object(self, lm: dspy.BaseLM) -> Model:
        return lm.served if isinstance(lm, RunLM) else object_model(lm, self._settings, self._prices)

    def _report_cut(self, role: Role, program: Program, received: Sequence[Replies]) -> None:
        """Record each reply of any session that ended at its token limit."""
        how, name = longer_replies(self._settings, role, program.token_limit), self.model_of(role, program).name
        for reply in received:
            if reply.record.get("cut"):
                self._events.degraded(f"a reply to {program.name} was cut off at its limit of tokens ({name}): {how}")

    def _reject(self, received: Sequence[Replies]) -> None:
        for reply in received:
            self._journal.reject("reply", reply.key, reply.record)

    def window(self, role: Role) -> int | None:
        """Return the context window of the role's model in tokens; None if unknown."""
        return window_of(self._settings, role)

    def _fit(self, role: Role, model: Model, program: Program, inputs: dict[str, Any]) -> dict[str, Any]:
        """Shorten the inputs to the model's window, with room for its reply."""
        window = self.window(role) if program.own_lm is None else self._settings.context or listed_window(model.name)
        if window is None:
            return inputs
        reserve = min(program.token_limit, int(_REPLY * window))
        shorter = fit_inputs(inputs, window - program.overhead - reserve)
        if shorter != inputs:
            reads = f"{model.name} reads {window:,} tokens at once"
            self._events.degraded(f"{program.name} was shown less than there is: {reads}")
        return shorter

    def _draw(self, role: Role, program: Program, received: list[Replies], asked: dspy.BaseLM, parse: Parse) -> Values:
        """Return the values of a predictor's output fields, from the first sample of its model that parses."""
        model = self._model_of_object(asked)
        reason = reply = ""
        for sample in range(self._settings.parse_attempts):
            if sample:
                self._events.emit(Retried(self._events.stage, model.name, reason, 0.0))
            options = options_of(model, program, sample, self._settings.seed)
            lm = RunLM(self._engine, role, model, program.token_limit, options)
            try:
                return parse(model.adapter, lm)
            except AdapterParseError as error:
                for unparsed in lm.received:
                    self._journal.unparsed("reply", unparsed.key)
                reason = f"the reply of {program.name} does not parse: {first_line(model, error)}"
                reply = str(error.lm_response or "")
            finally:
                received += lm.received
                self._report_cut(role, program, lm.received)
        attempts = self._settings.parse_attempts
        raise ReplyError(f"{model.name} gave {attempts} replies in the wrong form: {reason}", reply)


def try_model(name: str, settings: Settings) -> str:
    """Ask a hosted model once for at most 16 tokens; return that it replies, and the parts of requests that it refuses.

    Raises ModelError, ModelAuthError: it cannot be asked; SettingsError: no key is set, or it refuses a chosen setting.
    """
    once = {"call_attempts": 1, "lm_timeout": min(settings.lm_timeout, _TRIAL_SECONDS)}
    settings = settings.model_copy(update=once | dict.fromkeys(("max_cost", "max_tokens", "max_minutes")))
    events: list[Event] = []
    control = RunControl(settings)
    sink = Events(CallbackSink(events.append))
    engine = Engine(events=sink, control=control, journal=Journal(None), settings=settings)
    request = Request("writer", open_model(name, settings), _TRIAL, {"max_tokens": _TRIAL_TOKENS}, _TRIAL_TOKENS, "")
    try:
        engine.complete(request)
    except ModelError as error:  # OpenAI's reasoning models refuse limits below their thinking
        if not (isinstance(error.__cause__, LMError) and refuses_limit(error.__cause__)):
            raise
    return "; ".join(["it replies", *(event.detail for event in events if isinstance(event, Degraded))])
