"""The phases of a run in their order, what each is expected to take, and how much of all is done."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from storm_pipeline.settings import Settings, is_embedded

ORDER = (
    "set-up", "related topics", "perspectives", "conversations", "draft outline", "outline", "evidence", "sections",
    "open questions", "editing", "polish", "lead", "images",
)  # fmt: skip
"""Stages as a run goes through them; the draft outline is written beside the conversations."""
_REPEATED = "open questions"  # the stage after which evidence and sections come again
_WORDS_A_CALL = 50  # what a call takes before its first word, in words of reply
_EARLY = 0.03  # share of a run before which nothing is said about its end


@dataclass(frozen=True)
class Phase:
    """A stage that is to come: its expected calls, and its work in words of replies, with a surcharge for each call.

    Of calls side by side, the work is that of one of them in turn.
    """

    stage: str
    calls: int
    work: float


def expected_phases(
    settings: Settings, topic: str, *, outline_only: bool = False, outline: Path | str | None = None
) -> tuple[Phase, ...]:
    """The phases of a run in order, from a simulated usual one; takes a second or two of processor time.

    Args:
        outline_only: whether the run only makes an outline.
        outline: file of the user's outline, if any.

    Raises:
        SettingsError: the outline cannot be used.
    """
    from storm_pipeline.estimate.scenarios import USUAL
    from storm_pipeline.estimate.simulation import simulate
    from storm_pipeline.models.programs import Programs
    from storm_pipeline.recipes import DEFAULT, OUTLINES, RECIPES
    from storm_pipeline.run.context import UserPieces
    from storm_pipeline.run.user_pieces import parse_pieces, read_outline

    pieces = parse_pieces(topic, {"outline": read_outline(outline, topic)}) if outline else UserPieces()
    recipe = OUTLINES["storm"] if outline_only else RECIPES[DEFAULT]
    simulation = simulate(recipe, settings, topic, Programs(), USUAL, user_pieces=pieces)
    calls: Counter[str] = Counter()
    work: defaultdict[str, float] = defaultdict(float)
    for call in simulation.calls:
        calls[call.stage] += 1
        work[call.stage] += _WORDS_A_CALL + len(call.reply.split())
    return tuple(
        Phase(stage, calls[stage], work[stage] / _side_by_side(stage, calls[stage], settings))
        for stage in sorted(calls, key=place_of)
    )


def _side_by_side(stage: str, calls: int, settings: Settings) -> int:
    """How many calls of a stage are under way at once; 1 with the embedded model, which shares one processor."""
    if any(map(is_embedded, settings.models)):
        return 1
    most = {"conversations": settings.perspectives + 1, "sections": calls, "open questions": calls, "evidence": calls}
    return max(1, min(most.get(stage, 1), settings.calls_in_flight))


def place_of(stage: str) -> int:
    """Where a stage stands in the order; what is not listed, such as a download, comes first."""
    return ORDER.index(stage) if stage in ORDER else -1


def share_done(
    phases: Collection[Phase], calls: Mapping[str, int], started: Collection[str], ended: Collection[str]
) -> float:
    """Share of the expected work that is done, from 0 to 1.

    ``ended``: those of them that are not under way now. One after which a later one has started counts as done.
    """
    total = sum(phase.work for phase in phases)
    latest = max((place_of(stage) for stage in started if stage != _REPEATED), default=-1)
    done = 0.0
    for phase in phases:
        passed = phase.stage in ended and place_of(phase.stage) < latest
        done += phase.work * (1.0 if passed else min(1.0, calls.get(phase.stage, 0) / max(1, phase.calls)))
    return done / total if total else 0.0


def seconds_left(elapsed: float, share: float) -> float | None:
    """Seconds until the end, if all goes on as fast as so far; None while too little is done to say."""
    return elapsed * (1 - share) / share if share >= _EARLY else None
