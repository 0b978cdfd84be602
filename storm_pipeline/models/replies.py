"""Parsing of a model's reply: the text of a field, or the values of a JSON object, without wrappers.

Thinking, special tokens, fences, tags and labels around a reply are taken off. JSON that is invalid is repaired by
json_repair, unless words would be lost. A mark in backticks is mentioned, not used.
"""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import json_repair
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from storm_pipeline.text.words import encodable_values

R = TypeVar("R", bound=BaseModel)
_DECODER = json.JSONDecoder(strict=False)  # accepts line breaks within strings
_NAME = r"(?:think(?:ing)?|thoughts?|reasoning|analysis)"
_OPENS, _CLOSES = rf"(?:(?i:<{_NAME}>)|\[THINK\])", rf"(?:(?i:</{_NAME}>)|\[/THINK\])"
_THINKING = re.compile(rf"(?<!`){_OPENS}.*?(?:{_CLOSES}|\Z)", re.S)
_THOUGHT = re.compile(rf"\A.*(?<!`){_CLOSES}", re.S)  # thinking whose opening mark is in the prompt
_SPECIAL = r"<[|｜](?!\s)[^<>|｜\n]{1,60}[|｜]>|<start_of_turn>|<s>"
_AT_START = re.compile(rf"(?:\s|\ufeff|(?:{_SPECIAL})(?:(?:assistant|model)\b\n?)?)++")
_END_OF_TURN = re.compile(r"(?<![ `'\"(“‘])(?:<[|｜](?!\s)[^<>|｜\n]{1,60}[|｜]>|<end_of_turn>|</s>)(?!`)")
_FENCED = re.compile(r"(?:[^\n`]*\n\s*)?```[\w+.#-]*[ \t]*\n(.*?)(?:\n[ \t]*```.*|\Z)", re.S)
_TAGGED = re.compile(r"<([A-Za-z][\w:.-]*+)[^<>]*>(.*)</\1\s*>", re.S)
_QUOTED = (('"', '"'), ("“", "”"))
_KEY = re.compile(r"[{,]\s*+[\"'“]?+([\w -]{1,60}+)[\"'”]?+\s*+:")
_ESCAPE = re.compile(r"((?:\\u[0-9a-fA-F]{4})+|\\[nrtbf/\"\\])")
_LEVELS = 9  # more than any real reply has
_MOST_READ, _MOST_TO_REPAIR = 2_000_000, 10_000
"""Maximum characters of JSON read, those of invalid values at each opening bracket; and of JSON to repair, since the
time grows with their square."""


class ReplyFormError(ValueError):
    """A reply does not have the requested form."""


def strip_thinking(text: str) -> str:
    """Remove a reasoning model's thinking, opened in the prompt or not, and gpt-oss's channels; strip the rest."""
    before, channel, message = text.rpartition("<|message|>")
    if channel:
        text = message if "final" in before.rpartition("<|channel|>")[2] else message.partition("<|end|>")[2]
    return _THOUGHT.sub("", _THINKING.sub("", text)).strip()


def read_text(reply: str, field: str) -> str:
    """Return the text of a reply that is the value of one output field.

    Raises ReplyFormError: the reply is empty, or an object of several texts without the field's name.
    """
    unwrap: tuple[Callable[[str], str], ...] = (
        strip_thinking,
        _without_tokens,
        partial(_without_json, field=field),
        _without_fence,
        partial(_without_tags, field=field),
        partial(_without_label, field=field),
        _without_quotes,
    )
    text, before = reply.replace("\r\n", "\n"), ""
    for _ in range(_LEVELS):
        if text == before:
            break
        before = text
        for take in unwrap:
            text = take(text)
    if not text.strip():
        raise ReplyFormError("the reply is empty")
    return text


def _without_tokens(text: str) -> str:
    started = _AT_START.match(text)
    return _END_OF_TURN.split(text[started.end() if started else 0 :], maxsplit=1)[0].strip()


def _without_json(text: str, field: str) -> str:
    """Return the text of a JSON string or object: whole, or cut off within its text."""
    value = _whole_value(text)
    if value is None and text.startswith("{"):
        with suppress(ValueError):
            value = encodable_values(from_json(text, allow_partial="trailing-strings"))
    inner = _text_in(value, field)
    if inner is None and isinstance(value, dict):
        raise ReplyFormError(f"the reply is an object without a text {field!r}")
    return text if inner is None else inner


def _text_in(value: Any, field: str, level: int = 0) -> str | None:
    """Return the text of a JSON value under the field's name in nested values, else its only text."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
        return "\n\n".join(value)
    texts = [part for part in value.values() if isinstance(part, str)] if isinstance(value, dict) else []
    return next(_named(value, field, level), texts[0] if len(texts) == 1 else None)


def _named(value: Any, field: str, level: int) -> Iterator[str]:
    """Yield the texts under a name in nested values, each of which is read once; JSON in strings is parsed."""
    value = _whole_value(value) if isinstance(value, str) else value
    parts = dict(enumerate(value)) if isinstance(value, list) else value if isinstance(value, dict) else {}
    if level < _LEVELS and (text := _text_in(parts.get(field), field, level + 1)):
        yield text
    for name, part in parts.items() if level < _LEVELS else ():
        yield from _named(part, field, level + 1) if name != field else ()


def _without_fence(text: str) -> str:
    """Return the text in a fence around all of it but one line before and what follows."""
    fenced = _FENCED.fullmatch(text)
    return fenced[1].strip() if fenced and 2 * len(fenced[1]) > len(text) else text


def _without_tags(text: str, field: str) -> str:
    """Return the text between tags around all of it, or between the last tags of the field's name."""
    whole = _TAGGED.fullmatch(text)
    if whole and f"</{whole[1]}" not in whole[2]:
        return whole[2].strip()
    before, _, behind = text.rpartition(f"<{field}>")
    return behind.partition(f"</{field}>")[0].strip() if len(behind) > len(before) and f"<{field}>" in text else text


def _without_label(text: str, field: str) -> str:
    """Return the text after the field's name: ``Text:``, ``**Text:**``, ``## Text``, DSPy's ``[[ ## text ## ]]``."""
    text = text.rpartition(f"[[ ## {field} ## ]]")[2].partition("[[ ## completed ## ]]")[0].strip()
    name = re.escape(field).replace("_", "[ _-]")
    label = rf"(?:\#{{1,6}}[ \t]*{name}[ \t]*\n|\*{{0,2}}{name}\*{{0,2}}[ \t]*[:：]\*{{0,2}})\s*"
    return re.sub(rf"\A{label}", "", text, flags=re.I)


def _without_quotes(text: str) -> str:
    for opens, closes in _QUOTED:
        inside = text.removeprefix(opens).removesuffix(closes)
        if f"{opens}{inside}{closes}" == text and opens not in inside and closes not in inside:
            return inside.strip()
    return text


def read_object(reply: str, reply_type: type[R]) -> R:
    """Return the values of the last fitting JSON object in a reply.

    Raises ReplyFormError: no object fits, or a repair would lose content.
    """
    text = reply
    for _ in range(_LEVELS):
        text = _without_tokens(strip_thinking(text))
        if not isinstance(inner := _whole_value(text), str):
            break
        text = inner
    read = _last_object(text, reply_type) or _bare_value(text, reply_type)
    if read is None:
        raise ReplyFormError("the reply has no JSON object of the requested form")
    return read


def _last_object(text: str, reply_type: type[R]) -> R | None:
    """Return the last fitting object; if it is the only one, also a truncated or repaired one."""
    names = set(map(_plain, reply_type.model_fields))
    fitting: R | None = None
    position = read = 0
    while (start := text.find("{", position)) >= 0 and read < _MOST_READ:
        try:
            value, position = _DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            is_cut = _is_cut(text, error)
            keys = _KEY.finditer(text, start) if is_cut else filter(None, [_KEY.match(text, start)])
            if names.isdisjoint(_plain(key[1]) for key in keys):
                position, read = start + 1, read + error.pos - start
            elif fitting:
                raise ReplyFormError("the last object is cut off, or broken") from error
            else:
                return _read_start(text[start:], reply_type) if is_cut else _repair(text[start:], reply_type)
        except (RecursionError, ValueError) as error:
            raise ReplyFormError("the reply is nested too deeply, or its numbers are too long") from error
        else:
            fitting = _fit(encodable_values(value), reply_type) or fitting
    return fitting


def _is_cut(text: str, error: json.JSONDecodeError) -> bool:
    """Return whether JSON is valid but truncated."""
    if error.msg.startswith("Unterminated string"):
        return not text.rstrip().endswith("}")
    rest = text[error.pos : error.pos + 40].strip("` \n")
    return len(rest) < len("\\u0000") and not set(rest) & set('"]}')  # a number, a literal or an escape


def _read_start(text: str, reply_type: type[R]) -> R | None:
    """Return the part of a truncated object without an unfinished last value."""
    with suppress(ValueError):
        begun = text.rstrip("` \n").rstrip("-+.0123456789eE")
        return _fit(encodable_values(from_json(begun, allow_partial=True)), reply_type, is_cut=True)
    return None


def _repair(text: str, reply_type: type[R]) -> R:
    """Return the repaired reply of invalid JSON. Raises ReplyFormError: a repair would lose content."""
    raw = text[: text.rfind("}") + 1]
    quote = '"' if '"' in raw else "'"
    is_open = raw.replace(f"\\{quote}", "").count(quote) % 2 == 1 or raw.count("{") != raw.count("}")
    if not is_open and len(raw) <= _MOST_TO_REPAIR:
        with suppress(ValueError, RecursionError):
            reply = _fit(encodable_values(json_repair.loads(raw)), reply_type)
            plain = _ESCAPE.sub(lambda match: json.loads(f'"{match[0]}"'), raw)
            words = _text_of(reply.model_dump(exclude_unset=True)) if reply else ""
            if reply and _letters(plain) == _letters(words) and not re.search(r"[{}]\s*[\"',]", words):
                return reply
    raise ReplyFormError("the reply is invalid JSON, which cannot be repaired without losing some of it")


def _text_of(value: Any) -> str:
    """Return the keys and values of JSON, in order."""
    if isinstance(value, dict):
        return " ".join(f"{key} {_text_of(part)}" for key, part in value.items())
    return " ".join(map(_text_of, value)) if isinstance(value, list) else str(value)


def _letters(text: str) -> str:
    return "".join(char for char in text.replace("...", "…").casefold() if char.isalnum() or char == "…")


def _fit(value: Any, reply_type: type[R], *, is_cut: bool = False, level: int = 0) -> R | None:
    """Return the last reply in a value or its wrappers; without an unfinished last item if cut off."""
    if isinstance(value, str):
        value = _whole_value(value.strip())
    within = value if isinstance(value, list) else []
    if isinstance(value, dict):
        names = {_plain(name): name for name in reply_type.model_fields}
        given = {names.get(_plain(str(key)), str(key)): part for key, part in value.items()}
        given |= {key: inner for key, part in given.items() if (inner := _whole_value(part)) is not None}
        if not given.keys().isdisjoint(reply_type.model_fields):
            if reply := _valid(given, reply_type):
                return reply
            key, last = next(reversed(given.items()))
            if is_cut and isinstance(last, list) and last and (reply := _valid(given | {key: last[:-1]}, reply_type)):
                return reply
        within = [part for key, part in value.items() if not re.fullmatch(_NAME, str(key), re.I)]
    replies = (_fit(part, reply_type, is_cut=is_cut, level=level + 1) for part in reversed(within if level < 9 else []))
    return next(filter(None, replies), None)


def _bare_value(text: str, reply_type: type[R]) -> R | None:
    """Return a reply that is only the value of its single field: a list, a word, or an object with the word."""
    if len(reply_type.model_fields) != 1:
        return None
    (field,) = reply_type.model_fields
    values = [text.strip(' \t\r\n`*"'), *(whole.values() if isinstance(whole := _whole_value(text), dict) else ())]
    before, start = text.partition("{")[0], -1
    for _ in range(min(_LEVELS, before.count("["))):
        start = before.find("[", start + 1)
        with suppress(ValueError, RecursionError):
            values.append(encodable_values(_DECODER.raw_decode(text, start)[0]))
    return next(filter(None, (_valid({field: value}, reply_type) for value in reversed(values))), None)


def _valid(value: dict[str, Any], reply_type: type[R]) -> R | None:
    with suppress(ValidationError):
        return reply_type.model_validate(value)
    return None


def _whole_value(text: Any) -> Any:
    """Return the JSON object, list or string of a text; None for other texts and values."""
    if not isinstance(text, str) or text[:1] not in {"{", "[", '"'}:
        return None
    with suppress(ValueError, RecursionError):
        return encodable_values(_DECODER.decode(text))
    return None


def _plain(key: str) -> str:
    """Return a key in lower case without separators, since models write ``relatedTopics`` and ``Related topics``."""
    return "".join(filter(str.isalnum, key)).casefold()
