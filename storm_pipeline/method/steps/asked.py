"""The questions and answers of a run's interviewers so far, so that no two of them research the same."""

import threading
from collections.abc import Iterable

from storm_pipeline.run.folder import slug
from storm_pipeline.run.journal import fingerprint
from storm_pipeline.types import Perspective, Turn


def piece_of(perspective: Perspective) -> str:
    """Return the file name of a conversation, which identifies its interviewer."""
    number = fingerprint(perspective.name, perspective.focus)[:6]
    return f"conversations/{slug(perspective.name)}-{number}.json"


class Asked:
    """The turns of concurrent interviews.

    Each turn sees the other interviews' earlier turns: an interviewer waits until every other interview has as many
    turns or has ended, so that prompts do not depend on timing.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._expected: tuple[str, ...] | None = None
        self._turns: dict[str, list[Turn]] = {}
        self._ended: set[str] = set()

    def expect(self, interviewers: Iterable[str]) -> None:
        """Set the interviewers; until then each of them waits before the second question."""
        with self._changed:
            self._expected = tuple(interviewers)
            self._changed.notify_all()

    def add(self, interviewer: str, turn: Turn) -> None:
        """Add an interviewer's next turn."""
        with self._changed:
            self._turns.setdefault(interviewer, []).append(turn)
            self._changed.notify_all()

    def end(self, interviewer: str) -> None:
        """Record that an interviewer asks nothing more."""
        with self._changed:
            self._ended.add(interviewer)
            self._changed.notify_all()

    def by_others(self, interviewer: str, number: int) -> tuple[Turn, ...]:
        """Return the others' turns of this number, from 0, in the order in which the interviewers were named."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_known(interviewer, number))
            others = [self._turns.get(other, ()) for other in self._expected or () if other != interviewer]
        return tuple(turns[number] for turns in others if len(turns) > number)

    def _is_known(self, interviewer: str, number: int) -> bool:
        return self._expected is not None and all(
            other == interviewer or other in self._ended or len(self._turns.get(other, ())) > number
            for other in self._expected
        )
