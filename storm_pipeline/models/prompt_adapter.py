"""The DSPy adapter: formats a signature as messages, constant parts first, and parses replies."""

import json
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, TypeVar

import dspy
from dspy.utils.exceptions import AdapterParseError
from pydantic import BaseModel, create_model

from storm_pipeline.models.replies import ReplyFormError, read_object, read_text, strip_thinking
from storm_pipeline.text.fitting import without_control_tokens
from storm_pipeline.text.words import encodable

T = TypeVar("T")
_MAX_REPLY_LENGTH = 50_000
"""Characters, more than a section of 5000 words; longer replies are repetitive and take minutes to parse."""
_EXCERPT_LENGTH = 1000  # characters of an overlong reply in an error


class PromptAdapter(dspy.Adapter):
    """Adapter: plain text for one string output, else a JSON object, with a schema if ``structured``."""

    def __init__(self, *, structured: bool = False) -> None:
        super().__init__()
        self.structured = structured

    def __call__(
        self, lm: dspy.BaseLM, lm_kwargs: dict[str, Any], signature: type[dspy.Signature], *call: Any, **named: Any
    ) -> list[dict[str, Any]]:
        """Call the model once and parse; raises AdapterParseError if the reply has the wrong form."""
        if self.structured and not _is_text(signature):
            lm_kwargs = {**lm_kwargs, "response_format": _response_format(signature)}
        result: list[dict[str, Any]] = super().__call__(lm, lm_kwargs, signature, *call, **named)
        return result

    def format_system_message(self, signature: type[dspy.Signature]) -> str:
        """Return the instructions, then the format of the reply unless it is plain text."""
        if _is_text(signature):
            return str(signature.instructions)
        fields = ", ".join(
            f'"{name}": {field.json_schema_extra["desc"]}' for name, field in signature.output_fields.items()
        )
        return f"{signature.instructions}\n\nReply with one JSON object and nothing else: {{{fields}}}"

    def format_user_message_content(
        self, signature: type[dspy.Signature], inputs: dict[str, Any], prefix: str = "", suffix: str = "", **_: Any
    ) -> str:
        """Return the non-empty inputs in the order of the signature, each with its name."""
        blocks = [_label(name, inputs[name]) for name in signature.input_fields if inputs.get(name)]
        return "\n".join(filter(None, [prefix, *blocks, suffix]))

    def format_assistant_message_content(
        self, signature: type[dspy.Signature], outputs: dict[str, Any], missing_field_message: str | None = None
    ) -> str:
        """Return a worked example's reply, in the requested format."""
        values = {name: outputs.get(name, missing_field_message) for name in signature.output_fields}
        if _is_text(signature):
            return str(next(iter(values.values())))
        return _reply_type(signature).model_validate(values).model_dump_json()

    def format_field_with_value(self, fields_with_values: dict[Any, Any], role: str = "assistant") -> str:  # noqa: ARG002
        """Return a reply with these values for ``dspy.utils.DummyLM``: a plain text or a JSON object."""
        values = {field.name: value for field, value in fields_with_values.items()}
        texts = [value for value in values.values() if isinstance(value, str)]
        return texts[0] if len(values) == len(texts) == 1 else json.dumps(values, ensure_ascii=False)

    def parse(self, signature: type[dspy.Signature], completion: str) -> dict[str, Any]:
        """Return the values of the output fields. Raises AdapterParseError: the reply has the wrong form."""
        completion = encodable(completion)
        text = completion if len(completion) <= _MAX_REPLY_LENGTH else strip_thinking(completion)
        if len(text) > _MAX_REPLY_LENGTH:
            raise _parse_error(signature, text, f"the reply is too long: {len(text):,} characters")
        try:
            if _is_text(signature):
                name = next(iter(signature.output_fields))
                return {name: read_text(text, name)}
            reply = read_object(text, _reply_type(signature))
        except ReplyFormError as error:
            raise _parse_error(signature, text, str(error)) from error
        return {name: getattr(reply, name) for name in signature.output_fields}


def _cache(function: Callable[[Any], T]) -> Callable[[Any], T]:
    """Cache a function of a signature; ``functools.cache`` for types that mypy considers unhashable."""
    return cache(function)


def _is_text(signature: type[dspy.Signature]) -> bool:
    outputs = list(signature.output_fields.values())
    return len(outputs) == 1 and outputs[0].annotation is str


def _label(name: str, value: object) -> str:
    text = without_control_tokens(str(value)).strip()  # a source must not contain control tokens
    label = name.replace("_", " ").capitalize()
    return f"{label}:\n{text}" if "\n" in text else f"{label}: {text}"


@_cache
def _reply_type(signature: type[dspy.Signature]) -> type[BaseModel]:
    """Make a pydantic model of the output fields, with the constraints that the signature declares."""
    fields: dict[str, Any] = {
        name: (
            Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation,
            ... if field.is_required() else field.default,
        )
        for name, field in signature.output_fields.items()
    }
    return create_model("Reply", **fields)


@_cache
def _response_format(signature: type[dspy.Signature]) -> dict[str, Any]:
    schema = _strict(_reply_type(signature).model_json_schema())
    return {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema, "strict": True}}


def _strict(schema: Any) -> Any:
    """Return the schema for strict mode: all properties required, no additional ones, no defaults."""
    if isinstance(schema, list):
        return [_strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    strict = {
        key: _strict(value)
        for key, value in schema.items()
        if key != "default" and (key not in {"title", "description"} or not isinstance(value, str))
    }
    if schema.get("type") != "object":
        return strict
    return strict | {"additionalProperties": False, "required": list(schema.get("properties", ()))}


def _parse_error(signature: type[dspy.Signature], reply: str, why: str) -> AdapterParseError:
    excerpt = reply[:_EXCERPT_LENGTH] if len(reply) > _MAX_REPLY_LENGTH else reply
    return AdapterParseError(adapter_name="PromptAdapter", signature=signature, lm_response=excerpt, message=why)
