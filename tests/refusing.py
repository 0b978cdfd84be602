"""Local servers that speak each provider's wire format and refuse what the real one refuses, in its words."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from llm import completion
from servers import Reply, Request, Script

TEXT = '{"related_topics": ["Caravan", "Spice trade"]}'
Body = Mapping[str, Any]
Refuse = Callable[[Body], Reply | None]
"""The refusal of a request's body; None if it is accepted."""


def openai_error(message: str, param: str | None = None, code: str | None = None, status: int = 400) -> Reply:
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return Reply(status, {"error": error})


def openai_wire(refuse: Refuse = lambda _: None) -> Script:
    """``/v1/chat/completions``; any other path is unknown."""

    def script(request: Request) -> Reply:
        if not request.path.endswith("/v1/chat/completions"):
            return Reply(404, {"detail": "Not Found"})
        return refuse(request.json) or Reply(body=completion(TEXT))

    return script


def anthropic_wire(refuse: Refuse = lambda _: None) -> Script:
    """``/v1/messages``; any other path is unknown."""

    def script(request: Request) -> Reply:
        if not request.path.endswith("/v1/messages"):
            error = {"type": "not_found_error", "message": "Not found"}
            return Reply(404, {"type": "error", "error": error, "request_id": "req_1"})
        return refuse(request.json) or Reply(
            body={
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": request.json["model"],
                "content": [{"type": "text", "text": TEXT}],
                "stop_reason": "end_turn",
                "stop_sequence": None,
                "usage": {"input_tokens": 100, "output_tokens": 5},
            }
        )

    return script


def claude_45(body: Body) -> Reply | None:
    if "temperature" in body and "top_p" in body:
        told = "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
        error = {"type": "invalid_request_error", "message": told}
        return Reply(400, {"type": "error", "error": error, "request_id": "req_1"})
    return None


def reasoning(body: Body) -> Reply | None:
    """o3 and gpt-5, whatever name a proxy gives them."""
    if "max_tokens" in body:
        told = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )
        return openai_error(told, "max_tokens", "unsupported_parameter")
    if "top_p" in body:
        told = "Unsupported parameter: 'top_p' is not supported with this model."
        return openai_error(told, "top_p", "unsupported_parameter")
    if body.get("temperature", 1) != 1:
        told = (
            f"Unsupported value: 'temperature' does not support {body['temperature']} with this model. Only the "
            "default (1) value is supported."
        )
        return openai_error(told, "temperature", "unsupported_value")
    return None


def o1_mini(body: Body) -> Reply | None:
    if any(message["role"] == "system" for message in body["messages"]):
        told = "Unsupported value: 'messages[0].role' does not support 'system' with this model."
        return openai_error(told, "messages[0].role", "unsupported_value")
    return reasoning(body)


def gemma_on_vllm(body: Body) -> Reply | None:
    if any(message["role"] == "system" for message in body["messages"]):
        told = "System role not supported"
        return Reply(400, {"object": "error", "message": told, "type": "BadRequestError", "param": None, "code": 400})
    return None


def gemma_in_lm_studio(body: Body) -> Reply | None:
    if any(message["role"] == "system" for message in body["messages"]):
        return Reply(400, {"error": 'Error rendering prompt with jinja template: "System role not supported".'})
    return None


def strict(*unknown: str) -> Refuse:
    """A server that lists the fields it does not know, as pydantic does (Mistral, FastAPI)."""

    def refuse(body: Body) -> Reply | None:
        extra = [name for name in unknown if name in body]
        if not extra:
            return None
        details = [
            {
                "type": "extra_forbidden",
                "loc": ["body", name],
                "msg": "Extra inputs are not permitted",
                "input": dict(body),
            }
            for name in extra
        ]
        return Reply(422, {"detail": details})

    return refuse


def mistral(*unknown: str) -> Refuse:
    """The same within Mistral's own envelope."""

    def refuse(body: Body) -> Reply | None:
        told = strict(*unknown)(body)
        return told and Reply(422, {"object": "error", "message": told.body, "type": "invalid_request_error"})

    return refuse


def openrouter(refuse: Refuse) -> Refuse:
    """A gateway that passes a provider's refusal on as text."""

    def wrapped(body: Body) -> Reply | None:
        told = refuse(body)
        if told is None:
            return None
        metadata = {"raw": json.dumps(told.body), "provider_name": "Anthropic"}
        return Reply(400, {"error": {"message": "Provider returned error", "code": 400, "metadata": metadata}})

    return wrapped
