"""A language model that replies at once, and notes what it is asked."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields

import dspy
from dspy.lm15 import Message, Request, Response, TextPart, Usage

from storm_pipeline.estimate.replies import DEFAULT, USUAL, Reply
from storm_pipeline.estimate.scenarios import Scenario
from storm_pipeline.models.programs import Programs
from storm_pipeline.models.prompt_adapter import PromptAdapter
from storm_pipeline.settings import Role


@dataclass(frozen=True)
class Call:
    """A prompt, its messages one by one, and the reply to it; ``longest`` bounds the tokens of the reply."""

    stage: str
    role: Role
    program: str
    messages: tuple[str, ...]
    reply: str
    longest: int | None


class MadeUpModel:
    """An engine of DSPy that plays a role. Replies follow from the request alone.

    Args:
        role: that it plays.
        programs: those of the run; it replies to no others.
        scenario: of the run.
        stage: tells which stage of the run asks.
        calls: where each call is noted, in the order of chance.
    """

    def __init__(
        self, role: Role, programs: Programs, scenario: Scenario, stage: Callable[[], str], calls: list[Call]
    ) -> None:
        self._role = role
        self._known = {PromptAdapter().format_system_message(asked): (name, asked) for name, asked in _asked(programs)}
        self._scenario = scenario
        self._stage = stage
        self._calls = calls

    def complete(self, request: Request) -> Response:
        """Reply to a request of one of the programs, which is known by its instructions."""
        system, *shown = str(request.system), *(message.text or "" for message in request.messages)
        program, signature = self._known[system]
        usual = USUAL.get(program, DEFAULT)
        reply = str(Reply(signature, shown[-1], usual, self._scenario, request.config.seed))
        longest = request.config.max_tokens
        self._calls.append(Call(self._stage(), self._role, program, (system, *shown), reply, longest))
        return Response(None, request.model, Message.assistant([TextPart(reply)]), "stop", Usage())


def _asked(programs: Programs) -> Iterator[tuple[str, type[dspy.Signature]]]:
    """Name of each program with the signature of each of its predictors."""
    for own in fields(programs):
        for predictor in getattr(programs, own.name).predictors():
            yield own.name, predictor.signature
