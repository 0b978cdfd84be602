"""JSON as models write it: whole, cut off, or invalid. A repair that loses or splits text is none."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import json_repair
from pydantic_core import from_json

from storm_pipeline.models.reply_frames import LONGEST_TOKEN
from storm_pipeline.text.words import encodable, encodable_values

DECODER = json.JSONDecoder(strict=False)
"""Takes line breaks within strings, as models write them."""
_OF_NUMBERS = "-+.0123456789eE"
_TAIL = re.compile(r"(?:`{3,}|~{3,}|</[\w:.-]{1,40}>)\Z")
_MOST_TO_REPAIR, _DEEPEST = 10_000, 50
"""Characters and nesting of JSON that is repaired; the time of a repair grows with their squares."""
_STRING_OR_COMMENT = re.compile(r"(\"(?:\\.|[^\"\\])*+\")|//[^\n]*|/\*.*?\*/|\#[^\n]*", re.S)
_STRING_OR_BRACKET = re.compile(r"\"(?:\\.|[^\"\\])*+\"|[\[\]{}]")
_ESCAPE = re.compile(r"((?:\\u[0-9a-fA-F]{4})+|\\[nrtbf/\"\\])")
_OPENS = {"{": "}", "[": "]"}
_PAIRS = ('""', "''", "“”", "‘’", "``", "")
_ENDS_ITEM = r"(?=\s*+(?:[,\]}]|\Z)|\s++[\"'“‘])"  # the last: a comma is missing
_LITERALS = {True: "(?i:true)", False: "(?i:false)", None: "(?i:null|none)"}


class ReplyFormError(ValueError):
    """A reply has not the requested form."""


@dataclass(frozen=True)
class JsonObject:
    """What stands at an opening bracket: a value, or the start of one that is ``cut`` or invalid."""

    start: int
    end: int
    value: Any = None
    whole: bool = False
    cut: bool = False


def json_end(text: str) -> int:
    """Offset behind which a text has only white space, fences and closing tags."""
    text = text.rstrip()
    while found := _TAIL.search(text, max(0, len(text) - LONGEST_TOKEN)):
        text = text[: found.start()].rstrip()
    return len(text)


def object_at(text: str, start: int, ends: int) -> JsonObject:
    """What stands at an opening bracket of a text whose JSON ends at an offset."""
    try:
        value, end = DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        unended = error.msg.startswith("Unterminated string")
        rest = text[error.pos : ends]
        cut = not _closes_all(text[start:ends], error.pos - start) if unended else _is_begun(rest)
        cut = cut or (error.msg.startswith("Invalid \\") and len(rest) < len("\\u0000"))
        return JsonObject(start, len(text) if unended else error.pos, cut=cut)
    except RecursionError as error:
        raise ReplyFormError("the reply is nested too deeply") from error
    return JsonObject(start, end, encodable_values(value), whole=True)


def partial_value(text: str) -> Any:
    """As much of an object as came before it was cut off; an unfinished last value is left out."""
    with suppress(ValueError):
        return encodable_values(from_json(text[: json_end(text)].rstrip(_OF_NUMBERS), allow_partial=True))
    return None


def repaired_value(text: str) -> Any:
    """The object that invalid JSON was meant to be.

    Raises ReplyFormError: it cannot be told without losing some of it.
    """
    raw = text[: text.rfind("}") + 1]
    depths = accumulate((char in "{[") - (char in "}]") for char in raw)
    if len(raw) > _MOST_TO_REPAIR or max(depths, default=0) > _DEEPEST:
        raise ReplyFormError("the reply is nested too deeply, or too long to be repaired")
    try:
        value = encodable_values(json_repair.loads(raw)) if raw else None
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict) or not _keeps_all(raw, text[len(raw) :], value):
        raise ReplyFormError("the reply is invalid JSON, which cannot be repaired without losing some of it")
    return value


def _is_begun(rest: str) -> bool:
    """Whether a number or a literal begins that does not end."""
    return rest.strip(_OF_NUMBERS) == "" or any(
        own.startswith(rest) and own != rest for own in ("true", "false", "null")
    )


def _closes_all(text: str, end: int) -> bool:
    """Whether a text ends in the brackets that close all those open at an offset: it is invalid there, not cut off."""
    closing: list[str] = []
    for token in _STRING_OR_BRACKET.findall(text, 0, end):
        if token in _OPENS:
            closing.append(_OPENS[token])
        elif token in {"}", "]"} and closing:
            closing.pop()
    return bool(closing) and "".join(text.split()).endswith("".join(reversed(closing)))


def _keeps_all(raw: str, behind: str, value: Any) -> bool:
    """Whether a repaired value has all that invalid JSON said, in order, each text between marks of its own.

    Args:
        raw: the invalid JSON, up to its last bracket.
        behind: what follows it.
    """
    balanced = raw.count("{") == raw.count("}") and raw.count("[") == raw.count("]")
    if not balanced and any(map(str.isalnum, behind)):
        return False
    without_comments = _STRING_OR_COMMENT.sub(lambda found: found[1] or "", raw)
    return any(_says(encodable(_ESCAPE.sub(_unescaped, text)), value) for text in {raw, without_comments})


def _says(text: str, value: Any) -> bool:
    """Whether a text has all parts of a value in order, and no letter or digit between them."""
    position = 0
    for pattern in _patterns(value):
        found = pattern.search(text, position)
        if not found or _leaves_out(text[position : found.start()]):
            return False
        position = found.end()
    return not _leaves_out(text[position:])


def _leaves_out(gap: str) -> bool:
    """Whether something is said between two parts of a value, or left out by an ellipsis."""
    return any(map(str.isalnum, gap)) or "..." in gap or "…" in gap


def _unescaped(escapes: re.Match[str]) -> str:
    return str(json.loads(f'"{escapes[0]}"'))


def _patterns(value: Any) -> Iterator[re.Pattern[str]]:
    """How each key, text, number and word of a value stands in JSON, in order."""
    match value:
        case dict():
            for key, own in value.items():
                yield _delimited(re.escape(key), r"(?=\s*+:)")
                yield from _patterns(own)
        case list():
            for own in value:
                yield from _patterns(own)
        case str():
            yield _delimited(re.escape(value), _ENDS_ITEM)
        case bool() | None:
            yield re.compile(_LITERALS[value])
        case _:
            yield re.compile(r"[-+]?\d[\d.eE+-]*+")


def _delimited(text: str, behind: str) -> re.Pattern[str]:
    quoted = "|".join(rf"{pair[:1]}{text}\s*?{pair[1:]}{behind}" for pair in _PAIRS)
    return re.compile(rf"(?<=[\[{{,:\n\s])(?:{quoted})")
