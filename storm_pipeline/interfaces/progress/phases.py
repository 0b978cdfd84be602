"""The stages of a run in their order: what each has done, what it is expected to take, and how long the rest takes."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from storm_pipeline.run import events as ev
from storm_pipeline.settings import Settings, is_embedded
from storm_pipeline.text.formatting import counted

ORDER = (
    "set-up", "related topics", "perspectives", "conversations", "reading", "draft outline", "outline", "points",
    "look-ups", "evidence", "sections", "editing", "polish", "lead",
)  # fmt: skip
"""Stages as a run goes through them; the draft outline is written beside the conversations."""
_UNITS = {"conversations": "turns", "sections": "sections"}
_BESIDE = ("related topics", "perspectives", "conversations", "draft outline")  # those that are under way together
_WORDS_A_CALL = 50  # what a call of a hosted model takes before its first word, in words of reply
_WORDS_A_WORD = 0.2  # what reading a word of a prompt takes on this machine, in words of reply
_UNREAD = 0.55  # share of its prompts that this machine's server had not read before
_WORDS_A_TOKEN = 0.75
_EARLY = 0.03  # share of a run before which nothing is said about its end


@dataclass(frozen=True)
class Phase:
    """A stage that is to come: its expected calls, their work, and the steps that it announces (0: none).

    Work is in words of replies, with a surcharge for prompts. Of calls ``side_by_side`` it is that of one in turn.
    """

    stage: str
    calls: float
    work: float
    steps: float = 0
    side_by_side: int = 1
    local: bool = False


@dataclass
class SoFar:
    """What a stage has done: calls, tokens read, read anew and written, and steps of the announced total.

    Also its starts, how many of them are under way, the records that were reused, and what it did last.
    """

    calls: int = 0
    read: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    steps: int = 0
    total: int | None = None
    starts: int = 0
    running: int = 0
    reused: int = 0
    label: str = ""

    def take(self, event: ev.Event) -> None:
        """Add an event; several starts of one stage, in different threads, are added up."""
        match event:
            case ev.StageStarted():
                known = self.total is not None and event.total is not None
                total = (self.total or 0) + (event.total or 0) if known else None
                self.total = total if self.starts else event.total
                self.starts, self.running = self.starts + 1, self.running + 1
            case ev.StageAdvanced():
                self.steps, self.label = self.steps + 1, event.label
            case ev.StageFinished():
                self.running = max(0, self.running - 1)
            case ev.CallFinished():
                self.calls, self.read = self.calls + 1, self.read + event.tokens_in
                self.tokens_in += event.tokens_in - event.tokens_cached
                self.tokens_out += event.tokens_out
                self.label = self.label if self.steps else f"the {event.role} replied"
            case ev.Searched():
                self.label = self.label if self.steps else f"searched for {event.query}"
            case ev.Reused():
                self.reused += 1

    def facts(self, stage: str) -> str:
        """What it has done, in words; empty if nothing is counted."""
        unit = _UNITS.get(stage, "steps")
        steps = f"{self.steps} {unit}" if self.total is None else f"{self.steps} of at most {self.total} {unit}"
        facts = [steps if self.steps or self.total is not None else "", f"{self.reused} reused" if self.reused else ""]
        return ", ".join(filter(None, [*facts, counted(self.calls, "call") if self.calls else ""]))


def expected_phases(
    settings: Settings, topic: str, *, outline_only: bool = False, outline: Path | str | None = None
) -> tuple[Phase, ...]:
    """The phases of a run in order, as they are estimated; none for an extract, which asks no model.

    ``outline``: file of the user's outline, if any. Raises SettingsError: it cannot be used.
    """
    from storm_pipeline.interfaces.estimate.estimating import plan_of
    from storm_pipeline.interfaces.estimate.formula import usage
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
        work[row.stage] += _work(row.calls, _UNREAD * row.tokens_in, row.tokens_out, local=local)
    steps = {"conversations": (settings.perspectives + 1) * settings.turns, "sections": plan.sections}
    most = {"conversations": settings.perspectives + 1, "look-ups": plan.sections, "sections": plan.sections}

    def phase(stage: str) -> Phase:
        at_once = 1 if local else max(1, min(most.get(stage, 1), settings.calls_in_flight))
        return Phase(stage, calls[stage], work[stage] / at_once, steps.get(stage, 0), at_once, local)

    return tuple(phase(stage) for stage in sorted(calls, key=place_of))


def place_of(stage: str) -> int:
    """Return where a stage stands in the order; what is not listed, such as a download, comes first."""
    return ORDER.index(stage) if stage in ORDER else -1


def seconds_left(phases: Collection[Phase], so_far: Mapping[str, SoFar], elapsed: float) -> float | None:
    """Seconds until the end, if the calls that are left take as long for their work as those so far.

    What the stages announce when they start takes the place of what was expected of them: fewer sections take less.

    ``elapsed``: seconds from the beginning of the first call to the latest reply. None while too little is done to say.
    """
    done = left = 0.0
    for phase in phases:
        own = so_far.get(phase.stage, SoFar())
        was = _work(own.calls, own.tokens_in, own.tokens_out, local=phase.local) / phase.side_by_side
        done += was
        if _is_over(phase, own, so_far):
            continue
        calls, each = phase.calls, (phase.work / max(phase.calls, 1e-9) + was) / (1 + own.calls)
        if own.total is not None and phase.steps and own.starts:
            calls *= own.total / phase.steps
        if phase.stage == "sections" and own.calls < phase.calls:  # what is asked again is shorter
            each = max(phase.work - was, 0.0) / max(phase.calls - own.calls, 1.0)
        left += each * max(0.0, calls - own.calls)
    return elapsed * left / done if done > _EARLY * (done + left) else None


def _work(calls: float, tokens_in: float, tokens_out: float, *, local: bool) -> float:
    read, written = _WORDS_A_TOKEN * tokens_in, _WORDS_A_TOKEN * tokens_out
    return written + (_WORDS_A_WORD * read if local else _WORDS_A_CALL * calls)


def _is_over(phase: Phase, own: SoFar, so_far: Mapping[str, SoFar]) -> bool:
    """Return whether a stage has ended or will not come: one that follows it has started."""
    if own.starts:
        return not own.running
    last = _BESIDE[-1] if phase.stage in _BESIDE else phase.stage
    if any(place_of(other) > place_of(last) for other in so_far):
        return True
    # what is beside the conversations begins with them
    begun = phase.stage in _BESIDE and not own.starts and so_far.get("conversations", SoFar()).calls > 0
    return begun and not (phase.stage == "perspectives" and so_far.get("related topics", SoFar()).running)
