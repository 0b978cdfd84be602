"""What a rehearsed model replies: the form that a signature asks for, as long as a scenario foresees."""

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, count, repeat, zip_longest
from typing import Any, Literal, get_args, get_origin

import dspy
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from storm_pipeline.estimate.scenarios import Scenario
from storm_pipeline.estimate.text import Chance, reworded

_NUMBERED = re.compile(r"(?:^(?:[A-Z]\w+: )?|(?<=\. ))(\[\d+\]) (?:[^:\n]*: )?(.+?)(?= \[\d+\] |$)", re.M)
_WANTED = re.compile(r"^(Words|Number): (\d+)$", re.M)
_TOPIC = re.compile(r"^Topic: (.+)$", re.M)
_REMARK = re.compile(r"^(?:Remarks: )?(\d+)\. (.+?)((?:\[\d+\])*) — ", re.M)
_STOP = re.compile(r"(?<=\.) ")
_DOUBTED = 2
"""Sentences of a text about which a check has remarks, if it has any."""

_MOST_ITEMS = 100
"""Of a list without a bound."""


@dataclass(frozen=True)
class Usual:
    """What a program usually replies.

    Attributes:
        words: of a text, or of each text of a list.
        items: of a list.
        retold: whether a text says what the prompt shows, in other words.
    """

    words: int = 60
    items: int = 3
    retold: bool = True


DEFAULT = Usual()
USUAL: Mapping[str, Usual] = {
    "related": Usual(3, items=5),
    "perspectives": Usual(8),
    "question": Usual(20, retold=False),
    "questions": Usual(20),
    "open_questions": Usual(20, items=6),
    "queries": Usual(5),
    "passage_answer": Usual(120),
    "answer": Usual(75),
    "draft": Usual(3, items=6),
    "refine": Usual(3, items=6),
    "plan": Usual(3, items=6),
    "place": Usual(items=6),
    "memory": Usual(retold=False),
    "heading": Usual(4, retold=False),
    "edit": Usual(10, items=6),
}
"""Field of :class:`storm_pipeline.models.programs.Programs` → its usual reply, measured on runs of our own."""


class Reply:
    """A reply to one prompt, which follows from the prompt and a seed alone.

    Args:
        signature: what is asked.
        prompt: the last message, which holds the inputs.
        usual: what the program usually replies.
        scenario: of the run.
        seed: tells replies to equal prompts from one another.
    """

    def __init__(
        self, signature: type[dspy.Signature], prompt: str, usual: Usual, scenario: Scenario, seed: int | None
    ) -> None:
        self._signature = signature
        self._prompt = prompt
        self._usual = usual
        self._scenario = scenario
        self._wanted = {name: int(number) for name, number in _WANTED.findall(prompt)}
        self._chance = Chance(signature.instructions, prompt, seed)

    def __str__(self) -> str:
        outputs = self._signature.output_fields
        if [field.annotation for field in outputs.values()] == [str]:
            return self._text()
        return json.dumps({name: self._value(field, self._usual.items) for name, field in outputs.items()})

    def _text(self) -> str:
        """Sentences of the prompt in other words, each with its number, or else made-up ones; or replies to remarks."""
        if remarks := _REMARK.findall(self._prompt.rpartition("\nRemarks:")[2]):
            return "\n".join(f"{number}: {reworded(told)[:-1]} {markers}." for number, told, markers in remarks)
        room = max(1, round(self._wanted.get("Words", self._usual.words) * self._scenario.reply))
        told = self._retold(room) if self._usual.retold else []
        return " ".join([*self._opening(), *(told or self._made_up(room))])

    def _retold(self, room: int) -> list[str]:
        """What is shown, sentence by sentence, in about so many words as far as it goes."""
        told: list[str] = []
        for (sentence, number), is_copied in zip(self._shown(), self._copied(), strict=False):
            if room <= 0:
                break
            told.append((sentence if is_copied else reworded(sentence))[:-1] + number)
            room -= len(told[-1].split())
        return told

    def _made_up(self, room: int) -> list[str]:
        told: list[str] = []
        while room > 0:
            told.append(self._chance.sentence(min(room, self._scenario.words)))
            room -= len(told[-1].split())
        return told

    def _copied(self) -> Iterator[bool]:
        """For each sentence whether it follows the prompt word for word, which a check of it finds."""
        if self._is_checked:
            doubted = _DOUBTED if self._chance.random() < self._scenario.remarks else 0
            return chain(repeat(True, doubted), repeat(False))  # noqa: FBT003
        share, start = self._scenario.copied, self._chance.random()
        return (int(number * share + start) > int((number - 1) * share + start) for number in count(1))

    def _opening(self) -> list[str]:
        """The topic, which a text that is checked begins with."""
        return _TOPIC.findall(self._prompt)[:1] if self._is_checked else []

    @property
    def _is_checked(self) -> bool:
        """Whether the text may come back with remarks."""
        return "remarks" in self._signature.input_fields

    def _shown(self) -> Iterator[tuple[str, str]]:
        """Sentences of what is numbered, of each the first, then the second ones, with what ends them.

        Where nothing is numbered, those of the last input.
        """
        if numbered := _NUMBERED.findall(self._prompt):
            by_number = ([(one, f" {number}.") for one in _STOP.split(text)] for number, text in numbered)
            yield from (one for turn in zip_longest(*by_number) for one in turn if one)
            return
        label = list(self._signature.input_fields)[-1].replace("_", " ").capitalize()
        _, is_given, told = self._prompt.rpartition(f"{label}:")
        lines = [line for line in told.splitlines() if line and not line.startswith("#")] if is_given else []
        yield from ((one, ".") for line in lines for one in _STOP.split(line.strip()))

    def _value(self, field: FieldInfo, items: int) -> Any:
        """A value of a field's type; ``items``: usual length of a list."""
        kind = field.annotation
        if get_origin(kind) is list:
            (item,) = get_args(kind)
            return [self._value(FieldInfo(annotation=item), 1) for _ in range(self._length(field, items))]
        if get_origin(kind) is Literal:
            return get_args(kind)[0]
        if inspect.isclass(kind) and issubclass(kind, BaseModel):
            return {name: self._value(own, 1) for name, own in kind.model_fields.items()}
        if kind is str:
            return self._chance.words(max(1, round(self._usual.words * self._scenario.reply)))
        return self._chance.randint(1, 9)

    def _length(self, field: FieldInfo, usual: int) -> int:
        """How long a list is: as the prompt or the scenario says, within the bounds that are declared."""
        least = max((own.min_length for own in field.metadata if hasattr(own, "min_length")), default=0)
        most = min((own.max_length for own in field.metadata if hasattr(own, "max_length")), default=_MOST_ITEMS)
        foreseen = {"fewest": least, "usual": usual, "twice": 2 * usual}[self._scenario.items]
        return max(least, min(self._wanted.get("Number", foreseen), most))
