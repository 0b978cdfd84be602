"""Parsing of a model's reply: the text of a field, or the values of a JSON object, without wrappers.

Thinking, channels, special tokens, fences, tags and labels around a reply are taken off. JSON that is invalid is
repaired by json_repair, unless words would be lost. A mark in backticks is mentioned, not used.
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
_NAME = r"[\w:]{0,20}?(?:think(?:ing)?|thoughts?|reason(?:ing)?|analysis|reflection)(?:_\w{1,20})?"
_THINKING = re.compile(
    rf"[<◁\[](?:(?P<closes>(?i:(?<=<)\s?/\|?{_NAME}\|?\s?>|(?<=◁)/{_NAME}▷|(?<=<)\|end_(?:of_)?{_NAME}\|>)"
    r"|(?<=\[)/THINK\]|(?<=<)channel\|>)"
    rf"|(?i:(?<=<){_NAME}(?:\s[^<>]{{0,200}})?>|(?<=◁){_NAME}▷|(?<=<)\|(?:start|begin)_(?:of_)?{_NAME}\|>)"
    r"|(?<=\[)THINK\]|(?<=<)\|channel>(?:thought|analysis)\b)"
)
"""A mark of thinking: ``<think>``, ``[/THINK]``, ``◁think▷``, ``<|END_THINKING|>``, ``<|channel>thought``."""
_MESSAGE = re.compile(
    r"(?:<\|start\|>\w*)?<\|channel\|>([^<]*)(?:<\|constrain\|>[^<]*)?<\|message\|>(.*?)"
    r"(?:<\|(?:end|return|call)\|>|(?=<\|(?:start|channel)\|>)|\Z)",
    re.S,
)
"""A message of gpt-oss: channel and text."""
_SPECIAL = (
    r"(?:<[|｜](?!\s|(?:channel|message|constrain)\|)[^<>|｜\n]{1,60}[|｜]>|</?s>|<(?:eos|bos|pad|unk|turn\||\|turn)>"
    r"|</?(?:start|end)_of_\w+>|\[/?INST\]|\[TOOL_CALLS\])"
)
_AT_START = re.compile(rf"(?:{_SPECIAL}\s*+(?:(?:assistant|model)\b[ \t]*(?=\n|<))?|[\s\ufeff\u200b\x00]++)++")
_AT_END = re.compile(rf"(?:{_SPECIAL}|\[\[ ## completed ## \]\])\Z")
_END_OF_TURN = re.compile(rf"(?<![ `'\"(“‘]){_SPECIAL}(?!`)")
_LONGEST_TOKEN = 70  # characters
_BLANK = " \t\r\n\ufeff\u200b\x00"
_LEVELS = 24  # more than any real reply has
_FENCED = re.compile(
    r"^[ \t]*+(?:`{3,}+|~{3,}+)[ \t]*+([\w+.#-]*+)[ \t]*+(?:\n|\Z)(.*?)(?:^[ \t]*+(?:`{3,}+|~{3,}+)[ \t]*+$|\Z)",
    re.M | re.S,
)
_TEXT_FENCES = frozenset({"", "text", "txt", "markdown", "md", "json", "xml", "html"})
_TAGGED = re.compile(r"<([A-Za-z][\w:.-]*+)[^<>]*>(.*)</\1\s*>", re.S)
_LEAD_IN = re.compile(r"[^\d\n]+[:：][*_ \t]*\n[ \t]*\n(?!\s*(?:[-*+•>|\"“„«']|\d+[.)]))")
"""A line that announces the reply: it ends in a colon, and what follows is not a list, a table or a quotation."""
_RULE = re.compile(r"(?:\A|\n[ \t]*\n)[ \t]*-{3,}[ \t]*(?:\n|\Z)")
_QUOTED = (*(('"', '"'), ("“", "”"), ("«", "»"), ("„", "“"), ("「", "」")), ("**", "**"))
_KEY = re.compile(r"[{,]\s*+[\"'“]?+([\w -]{1,60}+)[\"'”]?+\s*+:")
_ESCAPE = re.compile(r"((?:\\u[0-9a-fA-F]{4})+|\\[nrtbf/\"\\])")
_MOST_TRIED, _MOST_TO_REPAIR = 2000, 10_000
"""Maximum opening brackets tried, of a thousand characters each on average if what begins there is invalid; maximum
characters of JSON to repair, since the time grows with their square."""


class ReplyFormError(ValueError):
    """A reply does not have the requested form."""


def strip_thinking(text: str) -> str:
    """Remove a reasoning model's thinking: ``<think>…</think>``, ``[THINK]…[/THINK]``, channels; strip the rest.

    Also removes text before an unmatched closing mark (chat templates open it in the prompt), and after an opening one.
    """
    if "<|message|>" in text:
        final = [body for channel, body in _MESSAGE.findall(text) if "final" in channel]
        text = final[-1] if final else _MESSAGE.sub("", text)
    parts: list[str] = []
    begins, is_open = 0, False
    for mark in _THINKING.finditer(text):
        if text[mark.start() - 1 : mark.start()] == "`" == text[mark.end() : mark.end() + 1]:
            continue
        closes = mark["closes"]
        if not is_open and closes and (not begins or text[mark.end() :].strip()):
            parts.clear()  # its opening mark is in the prompt
        elif not is_open:
            parts.append(text[begins : mark.start()])
        begins, is_open = mark.end(), not closes
    return "".join(parts if is_open else [*parts, text[begins:]]).strip()


def read_text(reply: str, field: str) -> str:
    """Return the text of a reply that is the value of one output field.

    Raises ReplyFormError: the reply is empty, or an object of several texts without the field's name.
    """
    levels: tuple[Callable[[str], str], ...] = (
        _without_tokens,
        partial(_without_json, field=field),
        strip_thinking,
        _without_fence,
        partial(_without_tags, field=field),
        partial(_without_label, field=field),
        _without_quotes,
        _without_rules,
        lambda text: text[match.end() :] if (match := _LEAD_IN.match(text)) else text,
        lambda text: text[: match.start()] if (match := _END_OF_TURN.search(text)) else text,
    )
    text = reply.replace("\r\n", "\n")
    for _ in range(_LEVELS):
        if (taken := next((taken for level in levels if (taken := level(text)) != text), text)) == text:
            break
        text = taken
    if not text.strip():
        raise ReplyFormError("the reply is empty")
    return text


def _without_tokens(text: str) -> str:
    started = _AT_START.match(text)
    text = text[started.end() if started else 0 :].strip(_BLANK)
    while match := _AT_END.search(text, max(0, len(text) - _LONGEST_TOKEN)):
        text = text[: match.start()].rstrip(_BLANK)
    return text


def _without_json(text: str, field: str) -> str:
    """Return the text of a JSON string or object: whole, or cut off within its text."""
    if text[:1] not in {"{", "[", '"'}:
        return text
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        with suppress(ValueError):
            cut = text[0] == "{" and error.msg.startswith("Unterminated string")
            return (cut and _text_in(from_json(text, allow_partial="trailing-strings"), field)) or text
        return text
    except RecursionError as error:
        raise ReplyFormError("the reply is nested too deeply") from error
    inner = _text_in(value, field)
    if inner is None and isinstance(value, dict):
        raise ReplyFormError(f"the reply is an object without a text {field!r}")
    return text if inner is None else inner


def _text_in(value: Any, field: str) -> str | None:
    """Return the text of a JSON value under the field's name, else its only text."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
        return "\n\n".join(value)
    within = _entries(value)
    named = [text for key, part in within if _plain(key) == _plain(field) and (text := _text_in(part, field))]
    texts = [part for _, part in within if isinstance(part, str) and part.strip()]
    return named[-1] if named else texts[0] if len(texts) == 1 else None


def _entries(value: Any, level: int = 0) -> list[tuple[str, Any]]:
    """Return keys and values of nested objects, without thinking; JSON in strings is parsed."""
    pairs = (
        value.items() if isinstance(value, dict) else [("", part) for part in value] if isinstance(value, list) else []
    )
    entries: list[tuple[str, Any]] = []
    for key, part in pairs if level <= _LEVELS else ():
        if not re.fullmatch(_NAME, key, re.I):
            read = _whole_value(part.strip()) if isinstance(part, str) else part
            inner = read if isinstance(read, dict) else part
            entries += [(key, inner), *_entries(inner, level + 1)]
    return entries


def _without_fence(text: str) -> str:
    """Return the text in a fence around all or most of it, without a stray closing fence."""
    fences = list(_FENCED.finditer(text))
    if len(fences) != 1:
        return text
    inside, outside = fences[0][2].strip(), (text[: fences[0].start()] + text[fences[0].end() :]).strip()
    if not inside:
        return outside
    is_most = fences[0][1].lower() in _TEXT_FENCES and len(inside) > len(outside)
    return inside if is_most or not outside else text


def _without_tags(text: str, field: str) -> str:
    """Return the text between tags around all of it, or between tags of the field's name around most of it."""
    whole = _TAGGED.fullmatch(text)
    if whole and f"</{whole[1]}" not in whole[2]:
        return whole[2].strip()
    names = rf"(?:{field}|answer|final_answer|response|output|result)"
    opening = re.match(rf"<{names}\b[^<>]*>\s*", text, re.I)
    if opening and "</" not in text:
        return text[opening.end() :]
    closing = list(re.finditer(rf"</{names}\s*>", text, re.I))[-1:]
    openings = list(re.finditer(rf"<{names}\b[^<>]*>", text[: closing[0].start()], re.I))[-1:] if closing else []
    if not openings:
        return text
    inside = text[openings[0].end() : closing[0].start()]
    return inside.strip() if 2 * len(inside) > len(text) else text


def _without_label(text: str, field: str) -> str:
    """Return the text after the field's name: ``Text:``, ``**Text:**``, ``## Text``, ``[[ ## text ## ]]``."""
    name = re.escape(field).replace("_", "[ _-]")
    markers = list(re.finditer(rf"\[\[ \#\# {name} \#\# \]\]\s*", text, re.I))
    if markers:
        return text[markers[-1].end() :]
    label = rf"(?:\#{{1,6}}[ \t]*)?\*{{0,2}}(?:{name}|final answer)\*{{0,2}}[ \t]*[:：]\*{{0,2}}"
    heading = rf"\#{{1,6}}[ \t]*\*{{0,2}}{name}\*{{0,2}}[ \t]*(?=\n)"
    match = re.match(rf"(?:{label}|{heading})\s*", text, re.I)
    return text[match.end() :] if match else text


def _without_quotes(text: str) -> str:
    for opens, closes in _QUOTED:
        inside = text.removeprefix(opens).removesuffix(closes)
        if f"{opens}{inside}{closes}" == text and opens not in inside and closes not in inside:
            return inside.strip()
    return text


def _without_rules(text: str) -> str:
    """Return the text between two rules, if it is most of the text, or without a rule at its start or end."""
    parts = [part.strip() for part in _RULE.split(text)]
    kept = [part for part in parts if part]
    if len(parts) == 3 and 2 * len(parts[1]) > len(text):
        return parts[1]
    return kept[0] if len(kept) == 1 else text


def read_object(reply: str, reply_type: type[R]) -> R:
    """Return the values of the last fitting JSON object in a reply.

    Raises ReplyFormError: no object fits, the last one is cut off after a whole one, or a repair would lose content.
    """
    text = _without_tokens(reply)
    for _ in range(_LEVELS):
        if not isinstance(inner := _whole_value(text), str):
            break
        text = _without_tokens(inner)
    if not isinstance(_whole_value(text), dict):
        text = strip_thinking(text)
    reply_value = _last_object(text, reply_type) or _bare_value(text, reply_type)
    if reply_value is None:
        raise ReplyFormError("the reply has no JSON object of the requested form")
    return reply_value


def _last_object(text: str, reply_type: type[R]) -> R | None:
    """Return the last fitting object; if it is the only one, also a truncated or repaired one."""
    fitting: R | None = None
    position = end_of_turn = read = 0
    ends = len(text)
    for _ in range(_MOST_TRIED):
        start = text.find("{", position)
        if start < 0 or start >= ends:
            return fitting
        if read > 1000 * _MOST_TRIED:
            break
        try:
            value, position = _DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            is_cut = _is_cut(text, error)
            if not _has_key(text, start, reply_type, anywhere=is_cut):
                position, read = start + 1, read + error.pos - start
                continue
            if fitting:
                raise ReplyFormError("the last object is cut off, or broken") from error
            return _read_start(text[start:], reply_type) if is_cut else _repair(text[start:], reply_type)
        except RecursionError as error:
            raise ReplyFormError("the reply is nested too deeply") from error
        fitting = _fit(encodable_values(value), reply_type) or fitting
        if not end_of_turn and fitting and (turn := _END_OF_TURN.search(text, position)):
            end_of_turn = ends = turn.start()
    raise ReplyFormError("the reply has too many brackets")


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
    is_balanced = raw.count("{") == raw.count("}") and raw.count("[") == raw.count("]")
    quote = '"' if '"' in raw else "'"
    is_open = raw.replace(f"\\{quote}", "").count(quote) % 2 == 1
    if not is_open and len(raw) <= _MOST_TO_REPAIR and (is_balanced or not _letters(text[len(raw) :])):
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


def _has_key(text: str, start: int, reply_type: type[BaseModel], *, anywhere: bool) -> bool:
    """Return whether the first key of the object at an offset, or ``anywhere`` after it, is a key of the reply."""
    keys = _KEY.finditer(text, start) if anywhere else filter(None, [_KEY.match(text, start)])
    return not {_plain(key[1]) for key in keys}.isdisjoint(map(_plain, reply_type.model_fields))


def _fit(value: Any, reply_type: type[R], *, is_cut: bool = False, level: int = 0) -> R | None:
    """Return the last reply in a value, outside thinking; without an unfinished last item if truncated."""
    if isinstance(value, str):
        value = _whole_value(value.strip())
    within = value if isinstance(value, list) else []
    if isinstance(value, dict):
        names = {_plain(name): name for name in reply_type.model_fields}
        given = {names.get(_plain(str(key)), str(key)): part for key, part in value.items()}
        given |= {name: value[name] for name in reply_type.model_fields if name in value}
        given = {key: _whole_value(part) or part if isinstance(part, str) else part for key, part in given.items()}
        if not names.keys().isdisjoint(map(_plain, map(str, value))):
            if reply := _valid(given, reply_type):
                return reply
            key, last = next(reversed(given.items()))
            if is_cut and isinstance(last, list) and last and (reply := _valid(given | {key: last[:-1]}, reply_type)):
                return reply
        within = [part for key, part in value.items() if not re.fullmatch(_NAME, str(key), re.I)]
    replies = (_fit(part, reply_type, is_cut=is_cut, level=level + 1) for part in reversed(within if level < 9 else []))
    return next(filter(None, replies), None)


def _bare_value(text: str, reply_type: type[R]) -> R | None:
    """Return a reply that is only the value of its single field: a list, separate items, or a word."""
    if len(reply_type.model_fields) != 1:
        return None
    (field,) = reply_type.model_fields
    objects = list(_values(text, "{"))
    values = [value for _, _, value in objects]
    lists = [value for at, _, value in _values(text, "[") if not any(start < at < end for start, end, _ in objects)]
    candidates = [*reversed(lists), *([values] if len(values) > 1 else []), *reversed(values)]
    candidates += [part for value in values for key, part in value.items() if not re.fullmatch(_NAME, key, re.I)]
    word = text.strip(' \t\r\n`*"')
    return next(filter(None, (_valid({field: value}, reply_type) for value in [*candidates, word])), None)


def _values(text: str, bracket: str) -> Iterator[tuple[int, int, Any]]:
    """Yield start, end and value of the outermost JSON values that begin with a bracket."""
    position = 0
    for _ in range(_LEVELS):
        if (start := text.find(bracket, position)) < 0:
            return
        position = start + 1
        with suppress(ValueError, RecursionError):
            value, position = _DECODER.raw_decode(text, start)
            yield start, position, encodable_values(value)


def _valid(value: dict[str, Any], reply_type: type[R]) -> R | None:
    with suppress(ValidationError):
        return reply_type.model_validate(value)
    return None


def _whole_value(text: str) -> Any:
    """Return the JSON object, list or string of a text; None for other texts."""
    with suppress(ValueError, RecursionError):
        return encodable_values(_DECODER.decode(text)) if text[:1] in {"{", "[", '"'} else None
    return None


def _plain(key: str) -> str:
    """Return a key in lower case without separators, since models write ``relatedTopics`` and ``Related topics``."""
    return "".join(filter(str.isalnum, key)).casefold()
