"""Forms in which servers and models send a reply: what stands around it, by the name of the form."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

DRAFT = (
    '{"related_topics": ["Draft"], "queries": ["draft"], "sections": [{"title": "Draft"}], "editors": [], "edits": []}'
)
"""An object that some signatures would take, where it is thinking."""


@dataclass(frozen=True)
class Form:
    """How a plain reply is sent.

    Attributes:
        wrap: a plain reply and the name of its (first) output field → the content of the message, or the message.
        of: the programs whose replies come in the form: those that ask for JSON, for text, or both.
    """

    wrap: Callable[[str, str], str | Mapping[str, Any]]
    of: tuple[str, ...] = ("json", "text")


def around(begins: str, ends: str = "") -> Form:
    return Form(lambda reply, _: f"{begins}{reply}{ends}")


def only(kind: str, wrap: Callable[[str, str], str | Mapping[str, Any]]) -> Form:
    return Form(wrap, (kind,))


def value_of(reply: str, field: str) -> Any:
    """The reply as a JSON value: an object, in which a text is the field's."""
    return json.loads(reply) if reply.startswith("{") else {field: reply}


def in_json(wrap: Callable[[Any], Any], begins: str = "", ends: str = "") -> Form:
    return Form(lambda reply, field: begins + json.dumps(wrap(value_of(reply, field))) + ends)


def tool_call(arguments: Any) -> dict[str, Any]:
    return {"id": "c", "type": "function", "function": {"name": "reply", "arguments": json.dumps(arguments)}}


HARMONY = f"<|channel|>analysis<|message|>Let me see: {DRAFT}<|end|><|start|>assistant<|channel|>final"
DSPY = "[[ ## reasoning ## ]]\nWell.\n\n[[ ## {} ## ]]\n{}\n\n[[ ## completed ## ]]"

FORMS: dict[str, Form] = {
    "think": around(f"<think>\nLet me see: {DRAFT}\n</think>\n\n"),
    "thinking": around("<thinking>Well.</thinking>"),
    "reasoning": around(f"<reasoning>{DRAFT}</reasoning>\n"),
    "thought": around("<thought>\nWell.\n</thought>\n"),
    "mistral": around(f"[THINK]{DRAFT}[/THINK]"),
    "opened in the prompt": around(f"Let me see: {DRAFT}\n</think>\n"),
    "empty thinking": around("<think>\n\n</think>\n\n"),
    "gpt-oss": around(f"{HARMONY}<|message|>", "<|return|>"),
    "gpt-oss, constrained": around(f"{HARMONY} <|constrain|>json<|message|>", "<|return|>"),
    "gpt-oss by llama.cpp": around(f"<|channel|>analysis<|message|>{DRAFT}<|end|>"),
    "chatml": around("<|im_start|>assistant\n", "<|im_end|>"),
    "llama 3": around("<|start_header_id|>assistant<|end_header_id|>\n\n", "<|eot_id|>"),
    "gemma 3": around("<start_of_turn>model\n", "<end_of_turn>\n"),
    "sentence marks": around("<s> ", "</s>"),
    "deepseek": around("", "<｜end▁of▁sentence｜>"),
    "end of text": around("", "<|endoftext|>Human: And now?"),
    "byte order mark": around("\ufeff \n"),
    "fence": around("```\n", "\n```"),
    "fence with a language": around("```json\n", "\n```"),
    "fence with words around": around("Sure! Here it is:\n\n```text\n", "\n```\n\nMore?"),
    "fence that stays open": around("```markdown\n"),
    "string": Form(lambda reply, _: json.dumps(reply)),
    "output": in_json(lambda value: {"output": value}),
    "json_input": in_json(lambda value: {"json_input": value}),
    "wrapped twice": in_json(lambda value: {"result": {"data": value}}),
    "in a list": in_json(lambda value: [value]),
    "parameters": in_json(lambda value: {"name": "reply", "parameters": value}),
    "arguments in a string": in_json(lambda value: {"name": "reply", "arguments": json.dumps(value)}),
    "with thinking as a key": in_json(lambda value: {"thinking": DRAFT, "answer": value}),
    "properties": in_json(lambda value: {"type": "object", "properties": value}),
    "tool call in tags": in_json(
        lambda value: {"name": "reply", "arguments": value}, "<tool_call>\n", "\n</tool_call>"
    ),
    "tool call of the API": Form(
        lambda reply, field: {"content": None, "tool_calls": [tool_call(value_of(reply, field))]}
    ),
    "reasoning of the API": Form(lambda reply, _: {"content": reply, "reasoning_content": DRAFT}),
    "content in parts": Form(
        lambda reply, _: {"content": [{"type": "thinking", "thinking": DRAFT}, {"type": "text", "text": reply}]}
    ),
    "label": only("text", lambda reply, field: f"{field.title()}: {reply}"),
    "bold label": only("text", lambda reply, field: f"**{field.title()}:** {reply}"),
    "heading": only("text", lambda reply, field: f"## {field.title()}\n\n{reply}"),
    "DSPy's markers": only("text", lambda reply, field: DSPY.format(field, reply)),
    "quoted": only("text", lambda reply, _: f"“{reply}”"),
    "texts by paragraph": only("text", lambda reply, field: json.dumps({field: reply.split("\n\n")})),
    "tag of the field": only("text", lambda reply, field: f"Sure.\n<{field}>{reply}</{field}>"),
    "preamble with brackets": only("json", lambda reply, _: f"By the form {{topics: […]}} and {{}} I reply: {reply}"),
    "example before": only("json", lambda reply, _: f"As in {DRAFT}, I reply\n{reply}"),
    "other object behind": only("json", lambda reply, _: f'{reply}\n{{"confidence": 0.9, "done": true}}'),
    "comma at the end": only("json", lambda reply, _: f"{reply[:-1]},}}"),
    "object of Python": only("json", lambda reply, _: str(json.loads(reply))),
    "keys in title case": only(
        "json", lambda reply, _: json.dumps({k.replace("_", " ").title(): v for k, v in json.loads(reply).items()})
    ),
    "list in a string": only("json", lambda reply, field: json.dumps({field: json.dumps(json.loads(reply)[field])})),
    "bare value": only("json", lambda reply, field: f"Here it is [1]:\n{json.dumps(json.loads(reply)[field])}"),
    "DSPy's markers around JSON": only(
        "json", lambda reply, field: DSPY.format(field, json.dumps(json.loads(reply)[field]))
    ),
}
