"""The pipeline, and each of its stages, as a DSPy module: copied, saved, evaluated and optimised like any other."""

import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import dspy

from storm_pipeline.errors import SettingsError
from storm_pipeline.method.context import RunContext
from storm_pipeline.method.steps.article import gather_evidence
from storm_pipeline.method.steps.interviews import hold_interviews
from storm_pipeline.method.steps.outline import draft_outline, inputs_of_refinement, refine_outline
from storm_pipeline.method.writers.writing import write_lead, write_sections
from storm_pipeline.models.programs import Programs, SafeModule
from storm_pipeline.run.journal import fingerprint
from storm_pipeline.types import Conversation, Outline, Section

Makes = Literal["article", "research", "outline", "section", "lead"]

_RECIPE = "storm"  # recipe of a run with a single stage
_REPEATED_WITHIN = 5.0  # seconds
_Key = tuple[str, tuple[int, ...]]  # hash of a call's task and prompts, and the ids of its models


class StormProgram(SafeModule):
    """Research and writing as one module, whose predictors are all programs of a run under their names.

    Copies share the ``Storm`` and have their own programs; a saved state contains only the programs. Each call is a run
    in a temporary folder. A call with the same topic, programs and models as an active one waits for it, since
    ``dspy.Evaluate`` submits calls of over two minutes twice.

    Models of ``set_lm`` take precedence over those of the ``Storm``, and these over ``dspy.context``.
    """

    def __init__(self, storm: Any, makes: Makes = "article") -> None:
        super().__init__()
        if makes != "article" and makes not in _STAGES:
            raise SettingsError(f"there is no stage {makes!r}: choose one of article, {', '.join(_STAGES)}")
        self.programs = storm._with_choices(_RECIPE).programs.deepcopy()
        self.makes = makes
        self._runs = _Runs(storm)

    def forward(self, topic: str, *, lm: dspy.BaseLM | None = None, **given: Any) -> dspy.Prediction:
        """Write about a topic, or run one stage.

        Args:
            topic: of the article.
            lm: asked by all programs in this call; by default their own models, else those of the roles.
            **given: inputs of a stage: nothing for ``research``; its ``conversations`` for ``outline``;
                ``outline``, ``conversations`` and a ``heading`` for ``section``; finished ``sections`` for ``lead``.

        Returns:
            The result of the stage under its name; ``article``, ``outline`` and ``conversations`` for an article.
        """
        programs = self.programs
        if lm is not None:
            programs = programs.deepcopy()
            programs.set_lm(lm)
        key = fingerprint(self.makes, topic, repr(given), programs.fingerprints())
        asked = [predictor.lm for predictor in programs.predictors()]
        return self._runs.once(key, (*asked, dspy.settings.lm), lambda: self._make(programs, topic, given))

    async def aforward(self, topic: str, **given: Any) -> dspy.Prediction:
        """Async version of :meth:`forward`."""
        return await dspy.asyncify(self.forward)(topic, **given)

    def save(
        self,
        path: Path | str,
        save_program: bool = False,  # noqa: FBT001, FBT002 - DSPy's contract
        modules_to_serialize: list[Any] | None = None,
    ) -> None:
        """Save instructions and examples as JSON. Raises SettingsError: for a whole program, which holds keys."""
        if save_program:
            raise SettingsError(
                "a StormProgram is not pickled, since it holds keys and open models: save its state, "
                'program.save("programs.json"), and load that into Storm(…).program'
            )
        super().save(path, save_program, modules_to_serialize)

    def _make(self, programs: Programs, topic: str, given: dict[str, Any]) -> dspy.Prediction:
        with tempfile.TemporaryDirectory(prefix="storm-") as place:
            storm = self._runs.storm._with_programs(programs, Path(place))
            if self.makes != "article":
                stage = _STAGES[self.makes]
                made = storm._new_run(topic, _RECIPE, lambda ctx: stage(ctx, **given))
                return dspy.Prediction(**{"conversations" if self.makes == "research" else self.makes: made})
            article = storm.write(topic)
        return dspy.Prediction(article=article, outline=article.outline, conversations=article.conversations)


def _outline(ctx: RunContext, conversations: Sequence[Conversation] = ()) -> Outline:
    _remember(ctx, conversations)
    draft = draft_outline(ctx)
    return refine_outline(ctx, draft, inputs_of_refinement(ctx, draft, conversations or hold_interviews(ctx)))


def _section(ctx: RunContext, outline: Outline, conversations: Sequence[Conversation], heading: str) -> Section:
    _remember(ctx, conversations)
    evidence = gather_evidence(ctx, outline, conversations)
    sections = [section for section in evidence.sections if section.heading.title == heading]
    return next(iter(write_sections(ctx, evidence.outline, sections)), Section(heading))


def _remember(ctx: RunContext, conversations: Sequence[Conversation]) -> None:
    ctx.store.add(snippet for conversation in conversations for turn in conversation.turns for snippet in turn.snippets)


_STAGES: dict[str, Callable[..., object]] = {
    "research": hold_interviews,
    "outline": _outline,
    "section": _section,
    "lead": write_lead,
}


@dataclass
class _Call:
    """An active call, or an ended one that was repeated."""

    result: Future[dspy.Prediction]
    models: Sequence[object]  # kept alive so that ids stay unique
    repeated: bool = False
    ended: float | None = None

    def is_over(self) -> bool:
        """Return whether the call has ended and can no longer be repeated."""
        return self.ended is not None and (not self.repeated or time.monotonic() - self.ended > _REPEATED_WITHIN)


class _Runs:
    """The state shared by copies of a module: a Storm, and active or repeated calls."""

    def __init__(self, storm: Any) -> None:
        self.storm = storm
        self._lock = threading.Lock()
        self._calls: dict[_Key, _Call] = {}

    def __deepcopy__(self, _: dict[int, Any]) -> "_Runs":
        return self

    def once(self, prompts: str, models: Sequence[object], make: Callable[[], dspy.Prediction]) -> dspy.Prediction:
        """Return the result of ``make``, or of an active call with the same prompts and models.

        A repetition shortly after the end of a repeated call gets its result too.
        """
        key, mine = (prompts, tuple(map(id, models))), _Call(Future(), models)
        with self._lock:
            self._calls = {key: call for key, call in self._calls.items() if not call.is_over()}
            call = self._calls.setdefault(key, mine)
            call.repeated = call.repeated or call is not mine
        if call is not mine:
            return call.result.result()
        try:
            mine.result.set_result(made := make())
        except BaseException as error:
            mine.result.set_exception(error)
            raise
        finally:
            with self._lock:
                mine.ended = time.monotonic()
                self._calls = {key: call for key, call in self._calls.items() if not call.is_over()}
        return made
