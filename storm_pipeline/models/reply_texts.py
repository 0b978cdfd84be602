"""Reads the text of a reply: takes off what stands around it, one level at a time."""

import ast
import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

from pydantic_core import from_json

from storm_pipeline.models import reply_frames as frames
from storm_pipeline.models.reply_json import DECODER, ReplyFormError, outermost_values

_LEVELS = 24  # more than anything real has around it
_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*([\w+.#-]*)[ \t]*$", re.M)
_TEXT_FENCES = frozenset({"", "text", "txt", "plain", "plaintext", "markdown", "md", "json", "xml", "html"})
_TAGGED = re.compile(r"<([A-Za-z][\w:.-]*+)[^<>]*>(.*)</\1\s*>", re.S)
_FIRST_TAG = re.compile(r"<([A-Za-z][\w:.-]*+)[^<>]*>[ \t]*(\n?)")
_LAST_TAG = re.compile(r"</([A-Za-z][\w:.-]{0,40}+)\s?>\Z")
_ONE_STRING = re.compile(r"\{\s*\"[\w -]+\"\s*:\s*\"(.*)\"\s*\}", re.S)
_NEXT_KEY = re.compile(r"\"\s*,\s*\"[\w -]+\"\s*:")
_RULE = re.compile(r"(?:\A|\n[ \t]*\n)[ \t]*(?:-{3,}|\*{3,}|_{3,})[ \t]*(?:\n|\Z)")
_LEAD_IN = re.compile(r"[^\d\n]+[:：][*_ \t]*\n[ \t]*\n(?!\s*(?:[-*+•>|\"“„«']|\d+[.)]))")
"""A line that announces the reply: it ends in a colon, and what follows is no list, table or quotation."""
_QUOTED = (
    *(('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"), ("«", "»"), ("„", "“"), ("「", "」"), ("『", "』")),
    *(('"""', '"""'), ("'''", "'''"), ("**", "**"), ("\\boxed{", "}")),
)
_ABOUT = frozenset("type role name id object model title description language lang status finishreason".split())
"""Keys, as :func:`plain_key` gives them, whose texts say something about a reply."""
_SAYS = "final answer|final response|assistant"
_SAYS_BEHIND_THINKING = f"{_SAYS}|answer|response"  # labels of a reply in agents' and chats' templates
_THINKING_LABEL = re.compile(r"[*_#\s]{0,8}+([A-Za-z]{3,12})[*_\s]{0,4}+[:：]")


def read_text(reply: str, field: str) -> str:
    """Return the text of a reply that is the value of one output field.

    Raises ReplyFormError: the reply is empty, or an object of several texts of which none has the field's name.
    """
    levels: tuple[Callable[[str], str], ...] = (
        frames.without_tokens,
        partial(_without_json, field=field),
        frames.strip_thinking,
        _without_line_marks,
        lambda text: text if text[:1] in {"`", "~", "<"} else text[: frames.end_of_turn(text)],
        frames.first_turn,
        _without_fence,
        partial(_without_tags, field=field),
        partial(_without_label, field=field),
        partial(_of_object, field=field),
        _without_quotes,
        _without_rules,
        lambda text: text[found.end() :] if (found := _LEAD_IN.match(text)) else text,
        lambda text: text[: frames.end_of_turn(text)],
    )
    text = frames.in_words(reply).replace("\r\n", "\n")
    for _ in range(_LEVELS):
        if (taken := next((taken for level in levels if (taken := level(text)) != text), text)) == text:
            break
        text = taken
    if not text.strip():
        raise ReplyFormError("the reply is empty")
    return text


def _without_json(text: str, field: str) -> str:
    """Return the text of a JSON string or object: whole, cut off, or with quotes that are not escaped."""
    if text[:1] not in {"{", "[", '"'}:
        return text
    try:
        value = _parts_of_python(text) or DECODER.decode(text)
    except json.JSONDecodeError as error:
        if text[0] == "{" and (one := _ONE_STRING.fullmatch(text)) and not _NEXT_KEY.search(one[1]):
            return _unescaped(one[1])
        with suppress(ValueError):
            cut = text[0] == "{" and error.msg.startswith("Unterminated string")
            return (cut and _text_in(from_json(text, allow_partial="trailing-strings"), field)) or text
        return text
    except RecursionError as error:
        raise ReplyFormError("the reply is nested too deeply") from error
    found = _text_in(value, field)
    if found is None and isinstance(value, dict):
        raise ReplyFormError(f"the reply is an object without a text {field!r}")
    return text if found is None else found


def _parts_of_python(text: str) -> list[Any] | None:
    """Return the parts of a message that a server printed as Python does: ``[{'type': 'text', 'text': …}]``."""
    with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
        return list(ast.literal_eval(text)) if text.startswith("[{'") else None
    return None


def _unescaped(text: str) -> str:
    """Read a JSON string whose inner quotes may not be escaped."""
    escaped = re.sub(r"(\\.)|\"", lambda found: found[1] or '\\"', text, flags=re.S)
    with suppress(ValueError):
        return str(DECODER.decode(f'"{escaped}"'))
    return text


def _text_in(value: Any, field: str) -> str | None:
    """Return the text in a JSON value that has the field's name, else the only one that is not about the reply."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value:
        said = [
            part for part in value if not (isinstance(part, dict) and frames.is_thinking(str(part.get("type", ""))))
        ]
        parts = [_text_in(part, field) for part in said]
        return None if None in parts else "\n\n".join(filter(None, parts))
    if not isinstance(value, dict):
        return None
    entries, name = list(_entries(value)), frames.plain_key(field)
    for pairs in (value.items(), entries):
        named = [part for key, part in pairs if frames.plain_key(str(key)) == name]
        if named and (text := _text_in(named[-1], field)) is not None:
            return text
    texts = [(key, part) for key, part in entries if isinstance(part, str) and part.strip()]
    said = [part for key, part in texts if frames.plain_key(key) not in _ABOUT]
    return said[0] if len(said) == 1 else texts[0][1] if len(texts) == 1 else None


def _entries(value: Any, level: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield keys and values of an object and of all in it, without thinking; JSON in strings is read."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, own in pairs if level <= _LEVELS else ():
        if frames.is_thinking(str(key)):
            continue
        if isinstance(own, str) and own.lstrip()[:1] == "{":
            with suppress(ValueError, RecursionError):
                own = DECODER.decode(own)  # noqa: PLW2901
        if isinstance(key, str):
            yield key, own
        yield from _entries(own, level + 1)


def _is_most(inside: str, outside: str) -> bool:
    return len(inside.strip()) > len(outside.strip())


def _without_fence(text: str) -> str:
    """Return the text in a fence around all or most of it; a fence that is left at the end goes."""
    inside = text.strip("`")
    fence = text[: len(text) - len(text.lstrip("`"))]
    if inside and fence and text == f"{fence}{inside}{fence}" and "`" not in inside and "\n" not in inside:
        return inside.strip()
    fences = list(_FENCE.finditer(text))
    depth, closing = 0, []
    for one in fences:
        depth += 1 if one[1] or not depth else -1
        closing += [] if depth else [one]
    if len(closing) + bool(depth) != 1:
        return text
    first = fences[0]
    ends, end = closing[0].span() if closing else (len(text), len(text))
    inside, outside = text[first.end() : ends].strip(), (text[: first.start()] + text[end:]).strip()
    if not inside and not text[end:].strip():
        return text[: first.start()].rstrip()
    return inside if not outside or (first[1].lower() in _TEXT_FENCES and _is_most(inside, outside)) else text


def _without_line_marks(text: str) -> str:
    """Remove a comment before the text, the name of a fence's language, and marks of quotation on every line."""
    name, _, rest = text.partition("\n")
    text = rest if name in _TEXT_FENCES - {""} and rest[:1].strip() else text
    text = text.partition("-->")[2].lstrip() if text.startswith("<!--") and "-->" in text else text
    if "\\n\\n" in text and "\n" not in text:  # escaped once more
        text = text.replace("\\n", "\n")
    lines = text.split("\n")
    if all(not line or line.startswith(">") for line in lines):
        return "\n".join(line.removeprefix(">").removeprefix(" ") for line in lines).strip()
    return text


def _without_tags(text: str, field: str) -> str:
    """Return the text between tags around all of it, or between those of the field's name around most of it."""
    whole = _TAGGED.fullmatch(text)
    if whole and f"</{whole[1]}" not in whole[2]:
        return whole[2].strip()
    names = rf"(?:{field}|arg_value|parameter|answer|final_answer|response|output|result)"
    closing = list(re.finditer(rf"</{names}\s*>", text, re.I))[-1:]
    opening = list(re.finditer(rf"<{names}\b[^<>]*>", text[: closing[0].start()], re.I))[-1:] if closing else []
    if opening:
        inside = text[opening[0].end() : closing[0].start()]
        if _is_most(inside, text[: opening[0].start()] + text[closing[0].end() :]):
            return inside.strip()
    first = _FIRST_TAG.match(text)
    if first and (first[2] or frames.plain_key(first[1]) == frames.plain_key(field)) and f"</{first[1]}" not in text:
        return text[first.end() :].strip()
    last = _LAST_TAG.search(text, max(0, len(text) - frames.LONGEST_TOKEN))
    return text[: last.start()].strip() if last and f"<{last[1]}" not in text else text


def _without_label(text: str, field: str) -> str:
    """Return the text behind the field's name: ``Text:``, ``**Text:**``, ``## Text``, ``[[ ## text ## ]]``."""
    name = re.escape(field).replace("_", "[ _-]")
    marker, bold = rf"\[\[\s*\#\#\s*{name}\s*\#\#\s*\]\]", r"(?:\*\*|__)"

    def label(names: str) -> str:
        return rf"(?:\#{{1,6}}[ \t]*)?{bold}?(?:{name}|{names}){bold}?[ \t]*[:：]{bold}?"

    heading = rf"(?:\#{{1,6}}[ \t]*{bold}?|{bold}){name}{bold}?[ \t]*(?=\n)"
    if found := re.match(rf"(?:{marker}|{label(_SAYS)}|{heading})\s*", text, re.I):
        return text[found.end() :]
    thought = _THINKING_LABEL.match(text)
    anywhere = rf"{marker}|^{label(_SAYS_BEHIND_THINKING)}" if thought and frames.is_thinking(thought[1]) else marker
    labels = list(re.finditer(anywhere, text, re.I | re.M))
    return text[labels[-1].end() :].strip() if labels else text


def _of_object(text: str, field: str) -> str:
    """Return the JSON object with a text that is most of a reply."""
    found = [text[start:end] for start, end, value in outermost_values(text, "{") if _text_in(value, field) is not None]
    last = found[-1] if found else ""
    begun = re.search(rf"\{{\s*[\"']{field}[\"']\s*:", text, re.I)
    if begun and not last:
        last = text[begun.start() : text.rfind("}") + 1 or None]
    return last if _is_most(last, text.replace(last, "", 1)) else text


def _without_quotes(text: str) -> str:
    for opens, closes in _QUOTED:
        inside = text.removeprefix(opens).removesuffix(closes)
        if f"{opens}{inside}{closes}" == text and opens not in inside and closes not in inside:
            return inside.strip()
    return text


def _without_rules(text: str) -> str:
    parts = [part.strip() for part in _RULE.split(text)]
    kept = [part for part in parts if part]
    if len(parts) == 3 and _is_most(parts[1], parts[0] + parts[2]):
        return parts[1]
    return kept[0] if len(kept) == 1 else text
