"""A language model as a judge: settings without chance, questions asked side by side and never twice."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import dspy

from storm_pipeline.concurrency import parallel_map
from storm_pipeline.errors import MetricError, ModelAuthError, ModelError
from storm_pipeline.evaluation.judges.base import Parameters
from storm_pipeline.evaluation.judges.memory import JudgeMemory
from storm_pipeline.evaluation.judges.prometheus import PrometheusAdapter
from storm_pipeline.models.asking import LanguageModels
from storm_pipeline.models.opening import open_models
from storm_pipeline.models.programs import Program
from storm_pipeline.run.events import Events
from storm_pipeline.settings import Role, Settings

_ROLE: Role = "reviewer"
_TOP = 10
"""Alternatives of a token that are asked for with probabilities."""


class JudgeModel:
    """A language model that judges.

    Args:
        models: the model, behind retries and a bound on calls; its table holds the role ``reviewer``.
        name: what reports call it.
        workers: questions asked side by side.
        settings: what its answers depend on beside its name, for reports.
    """

    def __init__(
        self, models: LanguageModels, name: str, *, workers: int = 8, settings: Parameters | None = None
    ) -> None:
        self.name = name
        self.settings: Parameters = dict(settings or {})
        self._models = models
        self._workers = workers

    def ask(self, program: Program, questions: Sequence[Mapping[str, str]]) -> list[dspy.Prediction]:
        """The answer to each question, in order; equal questions are asked once.

        Raises:
            MetricError: the model cannot be asked, or gives no answer in the form that was asked for.
        """
        distinct = {_key(question): question for question in questions}

        def answer(question: Mapping[str, str]) -> dspy.Prediction:
            return self._models.ask(_ROLE, program, **question)

        try:
            replies = parallel_map(answer, distinct.values(), workers=self._workers)
        except (ModelError, ModelAuthError) as error:
            raise MetricError(f"the judge {self.name} gave no answer to {program.name}: {error}") from error
        found = dict(zip(distinct, replies, strict=True))
        return [found[_key(question)] for question in questions]


def open_judge(
    lm: str,
    settings: Settings | None = None,
    *,
    events: Events | None = None,
    form: Literal["plain", "prometheus"] = "plain",
    probabilities: bool = False,
) -> JudgeModel:
    """Open a language model as a judge: temperature 0, whatever the settings say. Its replies are kept in the cache.

    Args:
        lm: name of the model, as in :class:`storm_pipeline.settings.Settings`.
        settings: key, endpoint, time-outs, retries, bound on calls, cache; default: those of Settings.
        events: told of every call and retry.
        form: how it is spoken to; ``prometheus`` for models that were trained to grade in that form.
        probabilities: ask for the probabilities of the reply's tokens, from which a support judge makes finer
            scores; servers that do not give them may refuse.

    Raises:
        SettingsError, MissingExtraError, AssetError, ModelError: the model cannot be opened.
    """
    base = settings or Settings.build({})
    own = base.model_copy(
        update={"lm": lm, "temperature": 0.0}
        | {f"{role}_lm": None for role in ("asker", "expert", "outliner", "writer", "reviewer")}
    )
    model = open_models(own)[_ROLE]
    if form == "prometheus":
        model = replace(model, adapter=PrometheusAdapter())
    if probabilities:
        model = replace(model, lm=model.lm.copy(logprobs=True, top_logprobs=_TOP))
    # The probabilities of a reply's tokens are not kept with it.
    memory = None if probabilities else JudgeMemory(own.cache, f"{lm} {own.api_base or ''}")
    models = LanguageModels.outside_a_run({_ROLE: model}, own, events, journal=memory)
    told: dict[str, str | int | float] = {"temperature": 0.0, "form": form, "probabilities": int(probabilities)}
    if own.seed is not None:
        told["seed"] = own.seed
    return JudgeModel(models, model.name, workers=own.calls_in_flight, settings=told)


def fingerprint(*programs: Program) -> str:
    """Twelve hexadecimal digits that change when a prompt does: instructions, fields, and forms of the replies."""
    told = [
        f"{program.predict.signature.instructions}\n{name} {field.annotation} {field.json_schema_extra}"
        for program in programs
        for name, field in program.predict.signature.fields.items()
    ]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()[:12]


def _key(question: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(question.items()))
