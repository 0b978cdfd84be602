"""What a rehearsed model replies: the form that a signature asks for, as long as a course foresees."""

import inspect
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

import dspy
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from storm_pipeline.estimate.courses import Course
from storm_pipeline.estimate.text import Chance, reworded
from storm_pipeline.sentences import split_sentences

_NUMBERED = re.compile(r"^(\[\d+\]) (?:[^:\n]*: )?(.+)$", re.M)
_WANTED = re.compile(r"^(Words|Number): (\d+)$", re.M)

_MOST_ITEMS = 100
"""Of a list without a bound."""


@dataclass(frozen=True)
class Usual:
    """What a program usually replies.

    Attributes:
        words: of a text, or of each text of a list.
        items: of a list.
        retold: whether a text says what the prompt shows, in other words.
        copied: sentences that follow the prompt word for word, for each one of another program's.
    """

    words: int = 60
    items: int = 3
    retold: bool = True
    copied: float = 1.0


DEFAULT = Usual()
USUAL: Mapping[str, Usual] = {
    "related": Usual(3, items=5),
    "perspectives": Usual(8),
    "question": Usual(20, retold=False),
    "questions": Usual(20),
    "queries": Usual(5),
    "answer": Usual(75),
    "draft": Usual(3, items=6),
    "refine": Usual(3, items=6),
    "plan": Usual(3, items=6),
    "memory": Usual(retold=False),
    "lead": Usual(90, copied=2.5),
    "heading": Usual(4, retold=False),
}
"""Field of :class:`storm_pipeline.programs.Programs` → its usual reply, as measured on replies of our own runs."""


class Reply:
    """A reply to one prompt, which follows from the prompt and a seed alone.

    Args:
        signature: what is asked.
        prompt: the last message, which holds the inputs.
        usual: what the program usually replies.
        course: of the run.
        seed: tells replies to equal prompts from one another.
    """

    def __init__(
        self, signature: type[dspy.Signature], prompt: str, usual: Usual, course: Course, seed: int | None
    ) -> None:
        self._signature = signature
        self._prompt = prompt
        self._usual = usual
        self._course = course
        self._wanted = {name: int(number) for name, number in _WANTED.findall(prompt)}
        self._chance = Chance(signature.instructions, prompt, seed)

    def __str__(self) -> str:
        outputs = self._signature.output_fields
        if [field.annotation for field in outputs.values()] == [str]:
            return self._text()
        return json.dumps({name: self._value(field, self._usual.items) for name, field in outputs.items()})

    def _text(self) -> str:
        """Sentences of the prompt in other words, each with its number, or else made-up ones."""
        room = max(1, round(self._wanted.get("Words", self._usual.words) * self._course.reply))
        shown = self._shown() if self._usual.retold else []
        share, start = min(1.0, self._course.copied * self._usual.copied), self._chance.random()
        told: list[str] = []
        while room > 0 and (not shown or len(told) < len(shown)):
            position = len(told) * share + start
            if not shown:
                told.append(self._chance.sentence(min(room, self._course.words)))
            else:
                sentence, number = shown[len(told)]
                copied = int(position + share) > int(position)
                told.append(f"{sentence if copied else reworded(sentence)}"[:-1] + number)
            room -= len(told[-1].split())
        return " ".join(told)

    def _shown(self) -> list[tuple[str, str]]:
        """The sentences of what is numbered or, where nothing is, of the last input, each with what ends it."""
        if numbered := _NUMBERED.findall(self._prompt):
            return [(one, f" {number}.") for number, text in numbered for one in split_sentences(text)]
        label = list(self._signature.input_fields)[-1].replace("_", " ").capitalize()
        lines = self._prompt.rpartition(f"{label}:")[2].splitlines()
        return [(one, ".") for one in split_sentences("\n".join(line for line in lines if not line.startswith("#")))]

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
            return self._chance.words(max(1, round(self._usual.words * self._course.reply)))
        return self._chance.randint(1, 9)

    def _length(self, field: FieldInfo, usual: int) -> int:
        """How long a list is: as the prompt or the course says, within the bounds that are declared."""
        least = max((own.min_length for own in field.metadata if hasattr(own, "min_length")), default=0)
        most = min((own.max_length for own in field.metadata if hasattr(own, "max_length")), default=_MOST_ITEMS)
        foreseen = {"fewest": least, "usual": usual, "twice": 2 * usual}[self._course.items]
        return max(least, min(self._wanted.get("Number", foreseen), most))
