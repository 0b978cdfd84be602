"""A language model as a judge of support and of anything else: temperature 0, each distinct question once."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal

import dspy

from storm_bench.errors import MetricError
from storm_bench.judges.base import Parameters
from storm_bench.judges.prometheus import PrometheusAdapter
from storm_bench.signatures.judging import WINDOW, JudgeSupport, Supports
from storm_pipeline import ModelAuthError, ModelError, Settings
from storm_pipeline.api import LanguageModels, Program, chunks, open_models, parallel_map
from storm_pipeline.evidence.judges.base import Question, Verdict, label_of
from storm_pipeline.evidence.judges.capped import JudgingAccount, ReplyCache
from storm_pipeline.run.events import Events

Form = Literal["plain", "prometheus"]
_ROLE: Final = "reviewer"
_SCORES: Mapping[Supports, float] = {"yes": 1.0, "partly": 0.5, "no": 0.0}


class JudgeModel:
    """A language model that judges.

    ``models``: the model, with retries and a limit on concurrent calls, under the role ``reviewer``; ``name``: its name
    in reports; ``workers``: maximum concurrent calls; ``settings``: what its answers depend on besides its name.
    """

    def __init__(
        self, models: LanguageModels, name: str, *, workers: int = 8, settings: Parameters | None = None
    ) -> None:
        self.name, self.settings = name, dict(settings or {})
        self._models, self._workers = models, workers

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

    def parameters(self, *programs: Program) -> dict[str, str | int | float]:
        """Return its settings, and a 12-digit hexadecimal hash of prompts: instructions, fields and reply types."""
        signatures = [program.predict.signature for program in programs]
        parts = [
            f"{signature.instructions}\n{name} {field.annotation} {field.json_schema_extra}"
            for signature in signatures
            for name, field in signature.fields.items()
        ]
        return {**self.settings, "prompt": hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]}


def open_judge(
    lm: str, settings: Settings | None = None, account: JudgingAccount | None = None, *, form: Form = "plain"
) -> JudgeModel:
    """Open a language model as a judge: temperature 0 regardless of the settings. Its replies are cached on disk.

    ``lm``: name of the model, as in :class:`storm_pipeline.settings.Settings`; ``settings``: key, endpoint, timeouts,
    retries, concurrency limit, cache; default: those of Settings; ``account``: counts its calls, and holds its caps;
    default: its own, within the settings' caps; ``form``: prompt format; ``prometheus`` for models trained on that one.
    Raises SettingsError, MissingExtraError, AssetError, ModelError: the model cannot be opened.
    """
    base = settings or Settings.build({})
    roles = {name: None for name in Settings.model_fields if name.endswith("_lm")}
    own = base.model_copy(update={"lm": lm, "temperature": 0.0, **roles})
    model = open_models(own)[_ROLE]
    if form == "prometheus":
        model = replace(model, adapter=PrometheusAdapter())
    unchosen = own.model_copy(update={"temperature": None})  # not the user's: left out where the model refuses it
    cache = ReplyCache(own.cache, f"{lm} {own.api_base or ''}")
    account = account or JudgingAccount(own, None)
    models = LanguageModels.outside_a_run(
        {_ROLE: model}, unchosen, Events(account), journal=cache, control=account.control
    )
    reported: dict[str, str | int | float] = {"temperature": 0.0, "form": form}
    if own.seed is not None:
        reported["seed"] = own.seed
    return JudgeModel(models, model.name, workers=own.calls_in_flight, settings=reported)


class LanguageModelJudge:
    """Asks a language model whether a passage supports a claim: yes 1, partly 0.5, no 0.

    A passage longer than the window is judged in parts and gets its best part's score, as in the official evaluation.

    ``threshold``: minimum score of a supported claim, in [0, 1]; ``window``: maximum words of a passage per question,
    >= 1.
    """

    def __init__(self, model: JudgeModel, *, threshold: float = 0.75, window: int = WINDOW) -> None:
        self.name, self.threshold = f"lm:{model.name}", threshold
        self._model, self._window = model, window
        self._program = Program(JudgeSupport, token_limit=20, greedy=True)

    @property
    def parameters(self) -> Parameters:
        """Settings of the model, threshold, window, and a fingerprint of the prompt."""
        return {**self._model.parameters(self._program), "threshold": self.threshold, "window": self._window}

    def judge(self, questions: Sequence[Question]) -> list[Verdict]:
        """As :class:`~storm_pipeline.evidence.judges.base.Judge`; without passages there is no call.

        Raises MetricError: the model cannot be called or returns no verdict.
        """
        asked = [
            (i, {"passage": part, "claim": question.claim})
            for i, question in enumerate(questions)
            for part in chunks("\n".join(question.passages), self._window)
        ]
        found = [0.0] * len(questions)
        replies = self._model.ask(self._program, [inputs for _, inputs in asked])
        for (i, _), reply in zip(asked, replies, strict=True):
            found[i] = max(found[i], _SCORES[reply.verdict])
        return [Verdict(label_of(score, self.threshold), score) for score in found]


def _key(question: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(question.items()))
