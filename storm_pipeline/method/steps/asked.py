"""What the interviewers of a run have asked so far, so that no two of them research the same."""

import threading
from collections.abc import Iterable

from storm_pipeline.run.folder import slug
from storm_pipeline.run.journal import fingerprint
from storm_pipeline.types import Perspective


def piece_of(perspective: Perspective) -> str:
    """File name of a conversation, by which an interviewer is known."""
    number = fingerprint(perspective.name, perspective.focus)[:6]
    return f"conversations/{slug(perspective.name)}-{number}.json"


class Asked:
    """The questions of interviews that are held at the same time.

    A turn sees the questions of the turns before it, whoever is faster: who asks for them waits until every other
    interview has asked as often, or has ended. So prompts do not depend on timing.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._expected: tuple[str, ...] | None = None
        self._questions: dict[str, list[str]] = {}
        self._ended: set[str] = set()

    def expect(self, interviewers: Iterable[str]) -> None:
        """Say who takes part; until then everybody waits before their second question."""
        with self._changed:
            self._expected = tuple(interviewers)
            self._changed.notify_all()

    def add(self, interviewer: str, question: str) -> None:
        """An interviewer's next question."""
        with self._changed:
            self._questions.setdefault(interviewer, []).append(question)
            self._changed.notify_all()

    def end(self, interviewer: str) -> None:
        """An interviewer asks nothing more."""
        with self._changed:
            self._ended.add(interviewer)
            self._changed.notify_all()

    def by_others(self, interviewer: str, turn: int) -> tuple[str, ...]:
        """What the others asked in a turn, counted from 0, in the order in which they were named."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_known(interviewer, turn))
            others = [self._questions.get(other, ()) for other in self._expected or () if other != interviewer]
        return tuple(asked[turn] for asked in others if len(asked) > turn)

    def _is_known(self, interviewer: str, turn: int) -> bool:
        return self._expected is not None and all(
            other == interviewer or other in self._ended or len(self._questions.get(other, ())) > turn
            for other in self._expected
        )
