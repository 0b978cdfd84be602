"""The DSPy adapter: formats a signature as messages and parses replies.

Prompts share long prefixes: the constant parts (instructions, reply format, worked examples) come first, then the
inputs in the order of the signature, and nothing after them.
"""

import json
import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from itertools import accumulate
from typing import Annotated, Any, TypeVar

import dspy
import json_repair
from dspy.utils.exceptions import AdapterParseError
from pydantic import BaseModel, ValidationError, create_model
from pydantic_core import from_json

from storm_pipeline.text.fitting import without_control_tokens
from storm_pipeline.text.words import encodable, encodable_values, strip_thinking

T = TypeVar("T")
_FENCE = re.compile(r"\A```[\w-]*\n(.*?)\n?```\Z", re.S)
_DECODER = json.JSONDecoder(strict=False)
_LAST_NUMBER = re.compile(r"[-+.\deE]+\Z")
_MAX_REPLY_LENGTH = 50_000
"""Characters, more than a section of 5000 words has; longer replies are repetition, and parsing takes minutes."""
_MOST_TO_REPAIR, _DEEPEST = 10_000, 50
"""Characters and nesting of JSON that is repaired; the time of a repair grows with their squares."""
_EXCERPT_LENGTH = 1000  # characters of a too long reply that an error keeps


class PromptAdapter(dspy.Adapter):
    """Plain text for a signature with one string output, one JSON object for any other.

    Args:
        structured: send the JSON schema with the request, so that the server constrains decoding.
    """

    def __init__(self, *, structured: bool = False) -> None:
        super().__init__()
        self.structured = structured

    def __call__(
        self,
        lm: dspy.BaseLM,
        lm_kwargs: dict[str, Any],
        signature: type[dspy.Signature],
        demos: list[dict[str, Any]],
        inputs: dict[str, Any],
    ) -> list[dict[str, Any]]:
        """Call the model once and parse; raises AdapterParseError if the reply has the wrong form."""
        if self.structured and not _is_text(signature):
            lm_kwargs = {**lm_kwargs, "response_format": _response_format(signature)}
        result: list[dict[str, Any]] = super().__call__(lm, lm_kwargs, signature, demos, inputs)
        return result

    def format_system_message(self, signature: type[dspy.Signature]) -> str:
        """Instructions, then the format of the reply unless it is plain text."""
        if _is_text(signature):
            return str(signature.instructions)
        fields = ", ".join(
            f'"{name}": {field.json_schema_extra["desc"]}' for name, field in signature.output_fields.items()
        )
        return f"{signature.instructions}\n\nReply with one JSON object and nothing else: {{{fields}}}"

    def format_user_message_content(
        self,
        signature: type[dspy.Signature],
        inputs: dict[str, Any],
        prefix: str = "",
        suffix: str = "",
        main_request: bool = False,  # noqa: ARG002, FBT001, FBT002 - the base class's contract
    ) -> str:
        """The inputs in the order of the signature, each with its name; empty ones are left out."""
        blocks = [
            prefix,
            *(_labelled(name, inputs[name]) for name in signature.input_fields if inputs.get(name)),
            suffix,
        ]
        return "\n".join(block for block in blocks if block)

    def format_assistant_message_content(
        self, signature: type[dspy.Signature], outputs: dict[str, Any], missing_field_message: str | None = None
    ) -> str:
        """A worked example's reply, in the requested format."""
        values = {name: outputs.get(name, missing_field_message) for name in signature.output_fields}
        if _is_text(signature):
            return str(next(iter(values.values())))
        return _reply_type(signature).model_validate(values).model_dump_json()

    def format_field_with_value(self, fields_with_values: dict[Any, Any], role: str = "assistant") -> str:  # noqa: ARG002
        """A reply with these values, as ``dspy.utils.DummyLM`` gives it: a text by itself, else one JSON object."""
        values = {field.name: value for field, value in fields_with_values.items()}
        texts = [value for value in values.values() if isinstance(value, str)]
        return texts[0] if len(values) == len(texts) == 1 else json.dumps(values, ensure_ascii=False)

    def parse(self, signature: type[dspy.Signature], completion: str) -> dict[str, Any]:
        """Values of the output fields; reasoning text and code fences are ignored."""
        completion = encodable(completion)
        text = strip_thinking(completion).strip()
        if len(text) > _MAX_REPLY_LENGTH:
            raise _parse_error(signature, text[:_EXCERPT_LENGTH], f"the reply is too long: {len(text):,} characters")
        fenced = _FENCE.match(text)
        text = fenced.group(1).strip() if fenced else text
        if _is_text(signature):
            if not text:
                raise _parse_error(signature, completion[:_EXCERPT_LENGTH], "the reply is empty")
            return {next(iter(signature.output_fields)): text}
        return _parse_object(signature, text)


def _cached(function: Callable[[Any], T]) -> Callable[[Any], T]:
    """``functools.cache`` for functions of a signature, which mypy takes for unhashable."""
    return cache(function)


def _is_text(signature: type[dspy.Signature]) -> bool:
    outputs = list(signature.output_fields.values())
    return len(outputs) == 1 and outputs[0].annotation is str


def _labelled(name: str, value: object) -> str:
    text = without_control_tokens(str(value)).strip()  # a source must not speak the chat template's language
    label = name.replace("_", " ").capitalize()
    return f"{label}:\n{text}" if "\n" in text else f"{label}: {text}"


@_cached
def _reply_type(signature: type[dspy.Signature]) -> type[BaseModel]:
    """The output fields as a pydantic model, with the constraints that the signature declares."""
    fields: dict[str, Any] = {
        name: (Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation, ...)
        for name, field in signature.output_fields.items()
    }
    return create_model("Reply", **fields)


@_cached
def _response_format(signature: type[dspy.Signature]) -> dict[str, Any]:
    schema = _strict(_reply_type(signature).model_json_schema())
    return {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema, "strict": True}}


def _strict(schema: Any) -> Any:
    """The schema with ``additionalProperties: false`` on every object, as strict mode requires."""
    if isinstance(schema, list):
        return [_strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    strict = {
        key: _strict(value)
        for key, value in schema.items()
        if key not in {"title", "description"} or not isinstance(value, str)
    }
    return strict | {"additionalProperties": False} if schema.get("type") == "object" else strict


def _parse_object(signature: type[dspy.Signature], text: str) -> dict[str, Any]:
    start = text.find("{")
    try:
        loaded, truncated = _load(text[start:]) if start >= 0 else (None, False)
        loaded = encodable_values(loaded)
    except (ValueError, RecursionError) as error:
        why = "the reply is nested too deeply, or too long to be repaired"
        raise _parse_error(signature, text, why) from error
    if not isinstance(loaded, dict):
        raise _parse_error(signature, text, "the reply is not a JSON object")
    try:
        reply = _validated(signature, loaded, truncated=truncated)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise _parse_error(signature, text, f"{where}: {first['msg']}") from error
    return {name: getattr(reply, name) for name in signature.output_fields}


def _load(text: str) -> tuple[Any, bool]:
    """The object that a reply begins with, and whether it was truncated; an unfinished last value is left out."""
    with suppress(ValueError):
        return _DECODER.raw_decode(text)[0], False
    with suppress(ValueError):
        return from_json(_LAST_NUMBER.sub("", text), allow_partial=True), True
    if len(text) > _MOST_TO_REPAIR:
        raise ValueError("too long to repair")
    depths = accumulate((char in "{[") - (char in "}]") for char in text)
    if max(depths, default=0) > _DEEPEST:
        raise RecursionError
    return json_repair.loads(text), False


def _validated(signature: type[dspy.Signature], loaded: dict[str, Any], *, truncated: bool) -> BaseModel:
    """The validated reply; the last list item of a truncated reply is dropped if it is incomplete."""
    reply_type = _reply_type(signature)
    try:
        return reply_type.model_validate(loaded)
    except ValidationError:
        name, last = next(reversed(loaded.items()), ("", None))
        if not truncated or not isinstance(last, list) or not last:
            raise
        return reply_type.model_validate(loaded | {name: last[:-1]})


def _parse_error(signature: type[dspy.Signature], reply: str, why: str) -> AdapterParseError:
    return AdapterParseError(adapter_name="PromptAdapter", signature=signature, lm_response=reply, message=why)
