"""A language model as a judge: temperature 0, concurrent calls, each distinct question once."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Literal

import dspy

from storm_bench.errors import MetricError
from storm_bench.judges.prometheus import PrometheusAdapter
from storm_pipeline import ModelAuthError, ModelError, Settings
from storm_pipeline.api import Journal, LanguageModels, Program, SqliteCache, open_models, parallel_map
from storm_pipeline.judges.base import Parameters

_ROLE: Final = "reviewer"
_TOP = 10
"""Number of top alternatives requested per token."""


class JudgeModel:
    """A language model that judges.

    Args:
        models: the model, with retries and a limit on concurrent calls, under the role ``reviewer``.
        name: its name in reports.
        workers: maximum concurrent calls.
        settings: what its answers depend on besides its name, for reports.
        window: tokens of prompt and reply that it holds; None if unknown.
    """

    def __init__(
        self,
        models: LanguageModels,
        name: str,
        *,
        workers: int = 8,
        settings: Parameters | None = None,
        window: int | None = None,
    ) -> None:
        self.name = name
        self.window = window
        self.settings: Parameters = dict(settings or {})
        self._models = models
        self._workers = workers

    def ask(self, program: Program, questions: Sequence[Mapping[str, str]]) -> list[dspy.Prediction]:
        """Answer each question, in order; equal questions are asked once.

        Raises MetricError: the model cannot be called, or its answer does not parse.
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
    form: Literal["plain", "prometheus"] = "plain",
    probabilities: bool = False,
) -> JudgeModel:
    """Open a language model as a judge: temperature 0 regardless of the settings. Its replies are cached on disk.

    Args:
        lm: name of the model, as in :class:`storm_pipeline.settings.Settings`.
        settings: key, endpoint, timeouts, retries, concurrency limit, cache; default: those of Settings.
        form: prompt format; ``prometheus`` for models trained on that format.
        probabilities: request token probabilities, which give support judges finer scores; servers without them may
            refuse the request.

    Raises:
        SettingsError, MissingExtraError, AssetError, ModelError: the model cannot be opened.
    """
    base = settings or Settings.build({})
    roles = {name: None for name in Settings.model_fields if name.endswith("_lm")}
    own = base.model_copy(update={"lm": lm, "temperature": 0.0, **roles})
    model = open_models(own)[_ROLE]
    if form == "prometheus":
        model = replace(model, adapter=PrometheusAdapter())
    if probabilities:
        model = replace(model, lm=model.lm.copy(logprobs=True, top_logprobs=_TOP))
    # Cached replies have no token probabilities.
    memory = None if probabilities else JudgeReplyCache(own.cache, f"{lm} {own.api_base or ''}")
    unchosen = own.model_copy(update={"temperature": None})  # not the user's: left out where the model refuses it
    models = LanguageModels.outside_a_run({_ROLE: model}, unchosen, journal=memory)
    reported: dict[str, str | int | float] = {"temperature": 0.0, "form": form, "probabilities": int(probabilities)}
    if own.seed is not None:
        reported["seed"] = own.seed
    return JudgeModel(models, model.name, workers=own.calls_in_flight, settings=reported, window=models.window(_ROLE))


def _key(question: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(question.items()))


class JudgeReplyCache(Journal):
    """Judge replies keyed by request (model, sampling, prompt). Thread-safe.

    A reply that does not parse is removed, so that a retry gets a new one.

    Args:
        cache: the cache folder; replies are stored in its ``judges.sqlite``.
        judge: model name and endpoint; the same name may mean different models at different endpoints.
    """

    def __init__(self, cache: Path, judge: str) -> None:
        super().__init__(None)
        self._judge = judge
        self._replies = SqliteCache(cache / "judges.sqlite")

    def take(self, kind: str, key: str) -> Any | None:
        """The cached reply, or None; may be read repeatedly."""
        return self._replies.get(f"{self._judge} {kind} {key}")

    def add(self, kind: str, key: str, value: Any) -> None:
        """Store a reply, replacing an earlier one; a full disk is ignored."""
        self._replies.put(f"{self._judge} {kind} {key}", value)

    def unparsed(self, kind: str, key: str, value: Any = None) -> None:  # noqa: ARG002 - of `reject`
        """Remove the reply."""
        self.add(kind, key, None)

    reject = unparsed
