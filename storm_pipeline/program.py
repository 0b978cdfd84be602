"""The pipeline, and each of its stages, as a DSPy module: copied, saved, evaluated and optimised like any other."""

import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import dspy

from storm_pipeline.errors import SettingsError
from storm_pipeline.models.programs import Programs, SafeModule
from storm_pipeline.run.context import RunContext
from storm_pipeline.run.journal import fingerprint
from storm_pipeline.steps.conversations import converse
from storm_pipeline.steps.interviews import hold_interviews
from storm_pipeline.steps.outline import draft_outline, refine_outline
from storm_pipeline.steps.section_evidence import gather_evidence
from storm_pipeline.types import Conversation, Outline, Section
from storm_pipeline.writers.lead import write_lead
from storm_pipeline.writers.section_loop import write_sections

if TYPE_CHECKING:
    from storm_pipeline.storm import Storm

Makes = Literal["article", "research", "outline", "section", "lead"]

_REPEATED_WITHIN = 5.0  # seconds
_Key = tuple[str, tuple[int, ...]]
"""Hash of what a call is to make with which prompts, and its models: two may have the same name and parameters."""


class StormProgram(SafeModule):
    """Research and writing as one module, whose predictors are all programs of a run under their names.

    Copies share the ``Storm`` that it was made from, with its models, search engine and encoder, and have programs of
    their own; a saved state holds the programs alone. Each call is a run in a temporary folder, with a reference store
    of its own. A call for the same topic with the same programs and models while one is under way waits for that one:
    ``dspy.Evaluate`` submits calls of over two minutes twice.

    Its models are chosen as DSPy's are: ``set_lm`` comes before what the ``Storm`` was given, and that before
    ``dspy.context`` and ``dspy.configure``.

    Args:
        storm: whose settings, models and search engine are used.
        makes: ``article``; or one stage, which is given what the stages before it made, see :meth:`forward`.
    """

    def __init__(self, storm: "Storm", makes: Makes = "article") -> None:
        super().__init__()
        if makes != "article" and makes not in _STAGES:
            raise SettingsError(f"there is no stage {makes!r}: choose one of article, {', '.join(_STAGES)}")
        self.programs = storm.programs_of_run.deepcopy()
        self.makes = makes
        self._runs = _Runs(storm)

    def forward(self, topic: str, *, lm: dspy.BaseLM | None = None, **given: Any) -> dspy.Prediction:
        """Write about a topic, or do one stage of that.

        Args:
            topic: of the article.
            lm: asked by all programs in this call; by default their own models, else those of the roles.
            **given: what a stage works with: nothing for ``research``, which makes ``conversations``; these for
                ``outline``; ``outline``, ``conversations`` and the ``heading`` of a section for ``section``; the
                finished ``sections`` for ``lead``.

        Returns:
            A prediction with ``conversations``, ``outline``, ``section`` or ``lead``; ``article``, ``outline`` and
            ``conversations`` of an article.

        Raises:
            StormError: as :meth:`storm_pipeline.storm.Storm.write`.
        """
        programs = self.programs
        if lm is not None:
            programs = programs.deepcopy()
            programs.set_lm(lm)
        key = fingerprint(self.makes, topic, repr(given), programs.fingerprints())
        asked = [predictor.lm for predictor in programs.predictors()]
        return self._runs.once(key, (*asked, dspy.settings.lm), lambda: self._made(programs, topic, given))

    async def aforward(self, topic: str, **given: Any) -> dspy.Prediction:
        """As :meth:`forward`, in a thread of its own."""
        return await dspy.asyncify(self.forward)(topic, **given)

    def save(
        self,
        path: Path | str,
        save_program: bool = False,  # noqa: FBT001, FBT002 - DSPy's contract
        modules_to_serialize: list[Any] | None = None,
    ) -> None:
        """Save the state of the programs as JSON: instructions and examples, no model.

        Raises SettingsError: the whole program is to be saved; a pickle would hold keys and open models.
        """
        if save_program:
            raise SettingsError(
                "a StormProgram is not pickled, since it holds keys and open models: save its state, "
                'program.save("programs.json"), and load that into Storm(…).program'
            )
        super().save(path, save_program, modules_to_serialize)

    def _made(self, programs: Programs, topic: str, given: dict[str, Any]) -> dspy.Prediction:
        with tempfile.TemporaryDirectory(prefix="storm-") as place, dspy.context(send_stream=None):
            storm = self._runs.storm.with_programs(programs, Path(place))
            if self.makes != "article":
                stage = _STAGES[self.makes]
                made = storm.in_run(topic, lambda ctx: stage(ctx, topic, **given))
                return dspy.Prediction(**{_MADE[self.makes]: made})
            article = storm.write(topic)
        return dspy.Prediction(article=article, outline=article.outline, conversations=article.conversations)


def _research(ctx: RunContext, topic: str) -> tuple[Conversation, ...]:
    return hold_interviews(ctx, topic, converse)


def _outline(ctx: RunContext, topic: str, conversations: Sequence[Conversation] = ()) -> Outline:
    _remember(ctx, conversations)
    return refine_outline(ctx, topic, draft_outline(ctx, topic), conversations or _research(ctx, topic))


def _section(ctx: RunContext, _: str, outline: Outline, conversations: Sequence[Conversation], heading: str) -> Section:
    _remember(ctx, conversations)
    evidence = gather_evidence(ctx, outline, conversations)
    own = [one for one in evidence.sections if one.heading.title == heading]
    return next(iter(write_sections(ctx, evidence.outline, own)), Section(heading))


def _lead(ctx: RunContext, topic: str, sections: Sequence[Section]) -> object:
    return write_lead(ctx, topic, sections)


def _remember(ctx: RunContext, conversations: Sequence[Conversation]) -> None:
    """What was found, in the run's store."""
    ctx.store.add(snippet for one in conversations for turn in one.turns for snippet in turn.snippets)


_STAGES: dict[str, Callable[..., object]] = {
    "research": _research,
    "outline": _outline,
    "section": _section,
    "lead": _lead,
}
_MADE = {"research": "conversations", "outline": "outline", "section": "section", "lead": "lead"}


class _Runs:
    """What copies of a module share: a Storm, the calls under way, and those that impatient callers repeated."""

    def __init__(self, storm: "Storm") -> None:
        self.storm = storm
        self._lock = threading.Lock()
        self._under_way: dict[_Key, tuple[Future[dspy.Prediction], Sequence[object]]] = {}
        self._repeated: set[_Key] = set()
        self._ended: dict[_Key, float] = {}

    def __deepcopy__(self, _: dict[int, Any]) -> "_Runs":
        return self

    def once(self, prompts: str, models: Sequence[object], make: Callable[[], dspy.Prediction]) -> dspy.Prediction:
        """What ``make`` returns; that of an earlier call with the same prompts and models if that is under way.

        A call that was repeated while it was under way may be repeated again just as it ends: DSPy looks for calls that
        take long whenever another one ends. Within a few seconds such a call gets the same result.
        """
        key = prompts, tuple(map(id, models))
        mine: Future[dspy.Prediction] = Future()
        with self._lock:
            self._forget()
            future, _ = self._under_way.setdefault(key, (mine, models))  # which stay alive, so that ids are theirs
            if future is not mine:
                self._repeated.add(key)
        if future is not mine:
            return future.result()
        try:
            mine.set_result(made := make())
        except BaseException as error:
            mine.set_exception(error)
            raise
        finally:
            with self._lock:
                self._ended[key] = time.monotonic()
                self._forget()
        return made

    def _forget(self) -> None:
        """Drop what has ended, of repeated calls what ended a few seconds ago."""
        now = time.monotonic()
        for key, ended in list(self._ended.items()):
            if key not in self._repeated or now - ended > _REPEATED_WITHIN:
                self._repeated.discard(key)
                del self._under_way[key], self._ended[key]
