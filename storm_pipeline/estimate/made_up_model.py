"""A made-up language model that replies at once and records its calls."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import dspy
from dspy.lm15 import Message, Request, Response, TextPart, Usage

from storm_pipeline.estimate.made_up_replies import DEFAULT_REPLY, TYPICAL_REPLIES, MadeUpReply
from storm_pipeline.estimate.scenarios import Scenario
from storm_pipeline.estimate.tokens import count_tokens
from storm_pipeline.models.programs import Programs
from storm_pipeline.models.prompt_adapter import PromptAdapter
from storm_pipeline.settings import Role


@dataclass(frozen=True)
class Call:
    """A recorded call: the messages of its prompt, the reply, and the limit on reply tokens (None: unlimited)."""

    stage: str
    role: Role
    program: str
    messages: tuple[str, ...]
    reply: str
    max_tokens: int | None

    @cached_property
    def tokens_in(self) -> float:
        """Tokens of the prompt."""
        return count_tokens(self.messages)

    @cached_property
    def tokens_out(self) -> float:
        """Tokens of the reply."""
        return count_tokens([self.reply])


class MadeUpModel:
    """A DSPy engine that plays a role. Replies are a function of the request.

    Args:
        programs: programs of the run; it replies to no others.
        stage: returns the current stage of the run.
        calls: each call is appended here, in arbitrary order.
    """

    def __init__(
        self, role: Role, programs: Programs, scenario: Scenario, stage: Callable[[], str], calls: list[Call]
    ) -> None:
        self._role = role
        self._by_instructions = {
            PromptAdapter().format_system_message(signature): (name, signature)
            for name, signature in _signatures(programs)
        }
        self._scenario = scenario
        self._stage = stage
        self._calls = calls

    def complete(self, request: Request) -> Response:
        """Reply to a request of one of the programs, identified by its instructions."""
        system, *messages = str(request.system), *(message.text or "" for message in request.messages)
        program, signature = self._by_instructions[system]
        typical = TYPICAL_REPLIES.get(signature.__name__) or TYPICAL_REPLIES.get(program, DEFAULT_REPLY)
        reply = str(MadeUpReply(signature, messages[-1], typical, self._scenario, request.config.seed))
        max_tokens = request.config.max_tokens
        self._calls.append(Call(self._stage(), self._role, program, (system, *messages), reply, max_tokens))
        return Response(None, request.model, Message.assistant([TextPart(reply)]), "stop", Usage())


def _signatures(programs: Programs) -> Iterator[tuple[str, type[dspy.Signature]]]:
    """Name of each program with the signature of each of its predictors."""
    for name, program in programs.named().items():
        for predictor in program.predictors():
            yield name, predictor.signature
