"""A language model of DSPy's that a function answers in this process."""

from collections.abc import Callable

import dspy
from dspy.lm15 import Message, Request, Response, TextPart, Usage


class _Engine:
    def __init__(self, reply: Callable[[list[str]], str]) -> None:
        self._reply = reply

    def complete(self, request: Request) -> Response:
        texts = [str(request.system), *(message.text or "" for message in request.messages)]
        return Response(None, request.model, Message.assistant([TextPart(self._reply(texts))]), "stop", Usage())


def scripted_lm(reply: Callable[[list[str]], str]) -> dspy.LM:
    """Open a language model whose replies a function gives: from the texts of a request, the system's first."""
    return dspy.LM("scripted/model", engine=_Engine(reply), cache=False, num_retries=0)
