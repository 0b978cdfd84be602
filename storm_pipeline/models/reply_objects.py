"""Reads the JSON object of a reply: the last one that fits the signature, whatever stands around it."""

import html
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from storm_pipeline.models import reply_frames as frames
from storm_pipeline.models import reply_json

R = TypeVar("R", bound=BaseModel)
_FIRST_KEY = re.compile(r"\{\s*[\"'“‘]?([\w -]+?)[\"'”’]?\s*:")
_ANY_KEY = re.compile(r"[\"'“‘]([\w -]+)[\"'”’]\s*:")
_VALUE_KEYS = ("value", "values", "const", "default", "content", "text", "data", "items", "enum")
_DEEPEST = 50  # levels in which the reply may stand
_MOST_OBJECTS, _MOST_READ = 2000, 2_000_000
"""Opening brackets that are tried, and characters that are read for it, in one reply."""
_STRINGS = 3  # JSON within JSON strings, in levels


def read_object(reply: str, reply_type: type[R]) -> R:
    """Return the values of a reply that is to be one JSON object.

    Raises ReplyFormError: no object fits, the last one is cut off behind a whole one, or a repair would lose content.
    """
    return _Reader(reply_type).read(frames.without_tokens(reply))


@dataclass
class _Reader(Generic[R]):
    """Reader of replies of one type; ``error`` says why the last object that was tried does not fit."""

    type: type[R]
    error: ValidationError | None = None
    _read: int = 0

    def read(self, text: str, level: int = 0) -> R:
        text = _unescaped(text)
        whole = reply_json.whole_value(text)
        if isinstance(whole, str) and level < _STRINGS:
            return self.read(frames.without_tokens(whole), level + 1)
        if not isinstance(whole, dict):
            text = frames.final_channel(text)
        objects = self._objects(text)
        reply = self._last_of(objects, text) or self._bare(objects, text)
        if reply is None:
            raise reply_json.ReplyFormError(self._why(objects))
        return reply

    def _objects(self, text: str) -> list[reply_json.JsonObject]:
        """Return what stands at each ``{`` outside thinking and outside of other objects, up to the end of the turn."""
        found: list[reply_json.JsonObject] = []
        ends = reply_json.json_end(text)

        def skip(start: int) -> int:
            if len(found) >= _MOST_OBJECTS or self._read > _MOST_READ:
                raise reply_json.ReplyFormError("the reply has too many brackets")
            found.append(reply_json.object_at(text, start, ends))
            self._read += found[-1].end - start
            return found[-1].end if found[-1].whole else start + 1

        parts = frames.outside_thinking(text, skip)
        outside = [one for one in found if any(start <= one.start < end for start, end in parts)]
        first = next((one.end for one in outside if one.whole), len(text))
        turn = frames.end_of_turn(text, first)
        return [one for one in outside if one.start < turn]

    def _last_of(self, objects: list[reply_json.JsonObject], text: str) -> R | None:
        fitting: R | None = None
        last: reply_json.JsonObject | None = None
        for one in objects:
            if one.whole:
                reply = self._fit(one.value)
                fitting, last = (reply, one) if reply else (fitting, last)
            elif self._is_meant(one, text):
                last = one
        if last is None and fitting is None:
            last = next((one for one in objects if not one.whole), None)
            if last is None:
                return self._fit({key: own for one in objects for key, own in one.value.items()})  # a field an object
            if any(one.whole and one.start < last.start for one in objects):
                return None
        if last is None or last.whole:
            return fitting
        if last.cut and fitting:
            raise reply_json.ReplyFormError("the last object is cut off")
        rest = text[last.start :]
        return (
            self._fit(reply_json.partial_value(rest), cut=True)
            if last.cut
            else self._fit(reply_json.repaired_value(rest))
        )

    def _is_meant(self, one: reply_json.JsonObject, text: str) -> bool:
        """Return whether a cut or broken object has a key of the reply."""
        first = _FIRST_KEY.match(text, one.start)
        found = _ANY_KEY.finditer(text, one.start) if one.cut else [first] if first else []
        return any(frames.plain_key(key[1]) in self._names for key in found)

    @property
    def _names(self) -> dict[str, str]:
        return {frames.plain_key(name): name for name in self.type.model_fields}

    def _fit(self, value: Any, *, cut: bool = False, level: int = 0) -> R | None:
        """Return the last reply that a value is or holds."""
        if isinstance(value, str) and level < _DEEPEST and value.lstrip()[:1] in {"{", "["}:
            value = reply_json.whole_value(value.strip())
        if isinstance(value, dict):
            if any(frames.plain_key(key) in self._names for key in value) and (
                reply := self._validated(value, cut=cut)
            ):
                return reply
            if len(value) == 1 and (reply := self._as_only_field(*value.values())):
                return reply
        if level > _DEEPEST:
            return None
        within = value if isinstance(value, list) else []
        if isinstance(value, dict):
            within = [own for key, own in value.items() if not frames.is_thinking(str(key))]
        replies = (self._fit(part, cut=cut, level=level + 1) for part in reversed(within))
        return next(filter(None, replies), None)

    def _validated(self, value: dict[str, Any], *, cut: bool) -> R | None:
        """Return the reply, without the last item of one that was cut off if that is incomplete."""
        given = {self._names.get(frames.plain_key(str(key)), str(key)): part for key, part in value.items()}
        given |= {name: value[name] for name in self.type.model_fields if name in value}
        try:
            return self.type.model_validate(given)
        except ValidationError as error:
            self.error = error
        name, last = next(reversed(given.items()))
        variants = [{key: _unwrapped(part) for key, part in given.items()}]
        variants += [given | {name: last[:-1]}] if cut and isinstance(last, list) and last else []
        return next(filter(None, map(self._valid, variants)), None)

    def _valid(self, value: dict[str, Any]) -> R | None:
        with suppress(ValidationError):
            return self.type.model_validate(value)
        return None

    def _as_only_field(self, value: Any) -> R | None:
        """Return the reply that is the bare value of a type's only field."""
        if len(self.type.model_fields) != 1 or isinstance(value, dict):
            return None
        return self._valid(dict.fromkeys(self.type.model_fields, value))

    def _bare(self, objects: list[reply_json.JsonObject], text: str) -> R | None:
        """Return the reply of one field that comes as its value alone: a list, its items one by one, or a word."""
        if len(self.type.model_fields) != 1 or any(not one.whole for one in objects):
            return None
        parts = frames.outside_thinking(text)
        lists = [
            reply
            for start, end in parts
            for at, _, value in reply_json.outermost_values(text[start:end], "[")
            if not any(one.start < start + at < one.end for one in objects) and (reply := self._as_only_field(value))
        ]
        items = [one.value for one in objects]
        reply = lists[-1] if lists else self._as_only_field(items) if len(items) > 1 else None
        return reply or self._as_only_field("".join(text[start:end] for start, end in parts).strip(" \t\r\n`*"))

    def _why(self, objects: list[reply_json.JsonObject]) -> str:
        if self.error is None:
            return "the reply is not a JSON object" if not objects else "the reply has no object of the requested form"
        first = self.error.errors()[0]
        return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"


def _unwrapped(value: Any) -> Any:
    """Return a field's value that stands in its schema's form, or as JSON in a string."""
    if isinstance(value, dict):
        if value and all(str(key).isdecimal() for key in value):
            return list(value.values())
        return next((value[key] for key in _VALUE_KEYS if key in value), value)
    if isinstance(value, list) and all(isinstance(own, dict) and len(own) == 1 for own in value):
        return [next(iter(own.values())) for own in value]
    if isinstance(value, str) and value.lstrip()[:1] in {"{", "["}:
        return reply_json.whole_value(value.strip()) or value
    return value


def _unescaped(text: str) -> str:
    """Undo a second escaping of JSON, for HTML or as a string."""
    if '"' in text.replace('\\"', ""):
        return text
    if "&quot;" in text or "&#34;" in text:
        return html.unescape(text)
    if '\\"' in text:
        with suppress(ValueError):
            return str(reply_json.DECODER.decode(f'"{text}"'))
    return text
