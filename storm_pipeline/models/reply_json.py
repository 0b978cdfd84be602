"""JSON as models write it: whole, cut off, or invalid. A repair that loses or splits text is refused."""

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

DECODER = json.JSONDecoder(strict=False)  # takes line breaks within strings, as models write them
_OF_NUMBERS = "-+.0123456789eE"
_CLOSING = frozenset('"]}')
_TAIL = re.compile(r"(?:`{3,}|~{3,}|</[\w:.-]{1,40}>)\Z")
_MOST_TO_REPAIR, _DEEPEST = 10_000, 50
"""Characters and nesting of JSON that is repaired; the time of a repair grows with their squares."""
_MOST_TRIED = 50  # brackets in a text
_STRING_OR_COMMENT = re.compile(r"(\"(?:\\.|[^\"\\])*+\")|//[^\n]*|/\*.*?\*/|\#[^\n]*", re.S)
_ESCAPE = re.compile(r"((?:\\u[0-9a-fA-F]{4})+|\\[nrtbf/\"\\])")
_PAIRS = ('""', "''", "“”", "‘’", "``", "")
_ENDS_ITEM = r"(?=\s*+(?:[,\]}]|\Z)|\s++[\"'“‘])"  # the last: a comma is missing
_BARE = r"[-+]?\w[\w.+-]*+"  # a number or a literal


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
    """Return the offset behind which a text has only white space, fences and closing tags."""
    text = text.rstrip()
    while found := _TAIL.search(text, max(0, len(text) - LONGEST_TOKEN)):
        text = text[: found.start()].rstrip()
    return len(text)


def object_at(text: str, start: int, ends: int) -> JsonObject:
    """Return the object at an opening bracket of a text whose JSON ends at an offset, be it whole, cut or invalid."""
    try:
        value, end = DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        unended = error.msg.startswith("Unterminated string")
        rest = text[error.pos : ends]
        begun = len(rest) < len("\\u0000") and _CLOSING.isdisjoint(rest)  # a number, a literal or an escape
        cut = not text.endswith("}", start, ends) if unended else begun
        return JsonObject(start, len(text) if unended else error.pos, cut=cut)
    except RecursionError as error:
        raise ReplyFormError("the reply is nested too deeply") from error
    return JsonObject(start, end, encodable_values(value), whole=True)


def whole_value(text: str) -> Any:
    """Return the JSON object, list or string that a text is; None if it is not one."""
    with suppress(ValueError, RecursionError):
        return encodable_values(DECODER.decode(text)) if text[:1] in {"{", "[", '"'} else None
    return None


def outermost_values(text: str, bracket: str) -> Iterator[tuple[int, int, Any]]:
    """Yield start, end and value of the outermost JSON values that begin with a bracket; 50 brackets are tried."""
    position = 0
    for _ in range(_MOST_TRIED):
        if (start := text.find(bracket, position)) < 0:
            return
        position = start + 1
        with suppress(ValueError, RecursionError):
            value, position = DECODER.raw_decode(text, start)
            yield start, position, encodable_values(value)


def partial_value(text: str) -> Any:
    """Return the part of an object before it was cut off, without an unfinished last value; None if there is none."""
    with suppress(ValueError):
        return encodable_values(from_json(text[: json_end(text)].rstrip(_OF_NUMBERS), allow_partial=True))
    return None


def repaired_value(text: str) -> Any:
    """Return the object that invalid JSON was meant to be, or raise ReplyFormError if repair would lose some of it."""
    raw = text[: text.rfind("}") + 1]
    depths = accumulate((char in "{[") - (char in "}]") for char in raw)
    if len(raw) > _MOST_TO_REPAIR or max(depths, default=0) > _DEEPEST:
        raise ReplyFormError("the reply is nested too deeply, or too long to be repaired")
    with suppress(ValueError, RecursionError):
        value = encodable_values(json_repair.loads(raw)) if raw else None
        if isinstance(value, dict) and _keeps_all(raw, text[len(raw) :], value):
            return value
    raise ReplyFormError("the reply is invalid JSON, which cannot be repaired without losing some of it")


def _keeps_all(raw: str, behind: str, value: Any) -> bool:
    """Return whether a value has, in order, all that invalid JSON and the text ``behind`` its last bracket say."""
    balanced = raw.count("{") == raw.count("}") and raw.count("[") == raw.count("]")
    if not balanced and any(map(str.isalnum, behind)):
        return False
    without_comments = _STRING_OR_COMMENT.sub(lambda found: found[1] or "", raw)
    texts = (_ESCAPE.sub(lambda found: json.loads(f'"{found[0]}"'), text) for text in {raw, without_comments})
    return any(_says(encodable(text), value) for text in texts)


def _says(text: str, value: Any) -> bool:
    """Return whether a text has all parts of a value in order, and no letter, digit or ellipsis between them."""
    gaps, position = [], 0
    for pattern in _patterns(value):
        if not (found := re.compile(pattern).search(text, position)):
            return False
        gaps.append(text[position : found.start()])
        position = found.end()
    gaps.append(text[position:])
    return not any(any(map(str.isalnum, gap)) or "..." in gap or "…" in gap for gap in gaps)


def _patterns(value: Any) -> Iterator[str]:
    """Yield a pattern for each key, text, number and word of a value as JSON has it, in order."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield _delimited(key, r"(?=\s*+:)")
            yield from _patterns(part)
    elif isinstance(value, list):
        for part in value:
            yield from _patterns(part)
    else:
        yield _delimited(value, _ENDS_ITEM) if isinstance(value, str) else _BARE


def _delimited(text: str, behind: str) -> str:
    quoted = "|".join(rf"{pair[:1]}{re.escape(text)}\s*?{pair[1:]}{behind}" for pair in _PAIRS)
    return rf"(?<=[\[{{,:\n\s])(?:{quoted})"
