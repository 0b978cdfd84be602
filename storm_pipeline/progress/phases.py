"""The phases of a run in their order, what each is expected to take, and how long all that is left will take."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from storm_pipeline.settings import Settings, is_embedded

ORDER = (
    "set-up", "related topics", "perspectives", "conversations", "draft outline", "outline", "points", "look-ups",
    "evidence", "sections", "editing", "polish", "lead",
)  # fmt: skip
"""Stages as a run goes through them; the draft outline is written beside the conversations."""
_BESIDE = ("related topics", "perspectives", "conversations", "draft outline")  # those that are under way together
_TEXTS = ("editing", "lead")  # what is written from the sections
_WORDS_A_CALL = 50  # what a call of a hosted model takes before its first word, in words of reply
_WORDS_A_WORD = 0.2  # what reading a word of a prompt takes on this machine, in words of reply
_UNREAD = 0.55  # share of its prompts that this machine's server had not read before
_WORDS_A_TOKEN = 0.75
_PRIOR = 1  # calls that what was expected of a stage's calls counts as, beside those that were made
_EARLY = 0.03  # share of a run before which nothing is said about its end


@dataclass(frozen=True)
class Phase:
    """A stage that is to come: its expected calls, their work, the steps that it announces (0: none), and its starts.

    Work is in words of replies, with a surcharge for prompts. Of calls ``side_by_side`` it is that of one in turn.
    """

    stage: str
    calls: float
    work: float
    steps: float = 0
    starts: int = 1
    side_by_side: int = 1
    local: bool = False
    beside_others: bool = True


@dataclass(frozen=True)
class SoFar:
    """What a stage has done: calls, their tokens, steps of the total that its starts announced, and starts.

    Also whether it is under way, and whether it was asking when the latest reply came.
    """

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    steps: float = 0
    total: float | None = None
    starts: int = 0
    under_way: bool = False
    is_asking: bool = False


def expected_phases(
    settings: Settings, topic: str, *, outline_only: bool = False, outline: Path | str | None = None
) -> tuple[Phase, ...]:
    """The phases of a run in order, as they are estimated.

    An extract, which asks no model, has none.

    ``outline``: file of the user's outline, if any. Raises SettingsError: it cannot be used.
    """
    from storm_pipeline.estimate.estimating import plan_of
    from storm_pipeline.estimate.formula import usage
    from storm_pipeline.models.programs import Programs
    from storm_pipeline.recipes import DEFAULT

    plan = plan_of(settings, topic, "storm" if outline_only else DEFAULT, outline_only=outline_only, outline=outline)
    if plan.settings.is_extract:
        return ()
    calls: defaultdict[str, float] = defaultdict(float)
    work: defaultdict[str, float] = defaultdict(float)
    local = any(map(is_embedded, settings.models))
    for row in usage(plan, Programs()):
        calls[row.stage] += row.calls
        read, written = _UNREAD * _WORDS_A_TOKEN * row.tokens_in, _WORDS_A_TOKEN * row.tokens_out
        work[row.stage] += _work(row.calls, read, written, local=local)
    steps = {"conversations": (settings.perspectives + 1) * settings.turns, "sections": plan.sections}
    most = {} if local else {"conversations": settings.perspectives + 1}
    most |= {} if local else dict.fromkeys(("look-ups", "sections"), plan.sections)

    def phase(stage: str) -> Phase:
        at_once = max(1, min(most.get(stage, 1), settings.calls_in_flight))
        asks = calls[stage], work[stage] / at_once, steps.get(stage, 0)
        return Phase(stage, *asks, 1, at_once, local, beside_others=settings.calls_in_flight > 1)

    return tuple(phase(stage) for stage in sorted(calls, key=place_of))


def _work(calls: float, read: float, written: float, *, local: bool) -> float:
    """Work of calls that read and write so many words."""
    return written + (_WORDS_A_WORD * read if local else _WORDS_A_CALL * calls)


def place_of(stage: str) -> int:
    """Where a stage stands in the order; what is not listed, such as a download, comes first."""
    return ORDER.index(stage) if stage in ORDER else -1


def seconds_left(phases: Collection[Phase], so_far: Mapping[str, SoFar], elapsed: float) -> float | None:
    """Seconds until the end, if the calls that are left take as long for their work as those so far.

    What the stages announce when they start takes the place of what was expected of them: fewer sections take less.

    ``so_far``: of the stages that have started; ``elapsed``: seconds from the beginning of the first call to the latest
    reply. None while too little is done to say.
    """
    done = left = 0.0
    for phase in phases:
        each, own = phase.work / max(phase.calls, 1e-9), so_far.get(phase.stage, SoFar())
        was = _work_of(phase, own)
        done += was
        if not own.calls and phase.stage in _TEXTS:  # a writer of short sections writes a short lead
            each *= _mean_ratio(phases, so_far)
        calls = _calls_left(phase, so_far)
        under_way = min(calls, 0.5 if own.is_asking and phase.beside_others else 0)  # a call that is half done
        is_long_first = phase.stage == "sections" and own.calls < phase.calls  # then what is asked again
        rest = max(each * phase.calls - was, 0.0) / max(phase.calls - own.calls, 1.0)
        each = rest if is_long_first else (_PRIOR * each + was) / (_PRIOR + own.calls)
        done += each * under_way
        left += each * (calls - under_way)
    return elapsed * left / done if done > _EARLY * (done + left) else None


def _work_of(phase: Phase, own: SoFar) -> float:
    read, written = _WORDS_A_TOKEN * own.tokens_in, _WORDS_A_TOKEN * own.tokens_out
    return _work(own.calls, read, written, local=phase.local) / phase.side_by_side


def _mean_ratio(phases: Collection[Phase], so_far: Mapping[str, SoFar]) -> float:
    """Work of the sections' calls so far to what was expected of them; 1 before there are any."""
    for phase in phases:
        if phase.stage == "sections" and (own := so_far.get("sections", SoFar())).calls and phase.work:
            return _work_of(phase, own) / (own.calls * phase.work / phase.calls)
    return 1.0


def _calls_left(phase: Phase, so_far: Mapping[str, SoFar]) -> float:
    own = so_far.get(phase.stage, SoFar())
    if _is_over(phase, own, so_far):
        return 0.0
    if own.total is None or not phase.steps:
        return max(0.0, phase.calls - own.calls)
    steps = own.total / own.starts * max(own.starts, phase.starts)
    of_a_step = phase.calls / phase.steps
    begun = max(0.0, own.calls - own.steps * of_a_step)  # calls of steps that are not done
    return max(0.0, (steps - own.steps) * of_a_step - begun, min(steps - own.steps, of_a_step))


def _is_over(phase: Phase, own: SoFar, so_far: Mapping[str, SoFar]) -> bool:
    """Whether a stage has ended or will not come: one that follows it has started."""
    if own.under_way:
        return False
    if own.starts >= phase.starts:
        return True
    last = _BESIDE[-1] if phase.stage in _BESIDE else phase.stage
    if any(place_of(other) > place_of(last) for other in so_far):
        return True
    first = so_far.get("related topics")
    # what is beside the conversations begins with them
    begun = phase.stage in _BESIDE and so_far.get("conversations", SoFar()).calls > 0
    return begun and not own.starts and not (phase.stage == "perspectives" and first is not None and first.under_way)
