"""Made-up replies: in the form that a signature requires and the length of a scenario."""

import inspect
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count, islice, product, repeat, zip_longest
from random import Random
from typing import Annotated, Any, Literal, get_args, get_origin

import dspy
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from storm_pipeline.estimate.scenarios import Scenario
from storm_pipeline.files import table_beside
from storm_pipeline.signatures.shapes import Place, PointAnswer, SectionPoints

_SYLLABLES = tuple(map("".join, product("bdfgklmnprtv", "aou")))
_WORDS = tuple(map("".join, product(_SYLLABLES, _SYLLABLES[:6], _SYLLABLES)))
_FUNCTION_WORDS = ("the", "of the", "and", "in", "for", "with", "at the", "from")
SUBJECTS = _WORDS[::193]
"""The 41 words that the texts of a run have in common."""
_NUMBERED = re.compile(r"(?:^(?:[A-Z]\w+: )?|(?<=\. ))(\[\d+\]) (?:[^:\n]*: )?(.+?)(?= \[\d+\] |$)", re.M)
_REMARK = re.compile(r"^(?:Remarks: )?(\d+)\. (.+?)((?:\[\d+\])*) — ", re.M)
_REASON = 12  # words of a judge's reason
_REMARKED = 2  # sentences of a text that get remarks, if a check has any
_MAX_ITEMS = 100  # items of a list without a bound


class SeededRandom(Random):
    """A random generator seeded with any values."""

    def __init__(self, *parts: object) -> None:
        super().__init__("\n".join(map(str, parts)))

    def words(self, number: int) -> str:
        """``number`` words, up to three of which are common subjects."""
        return " ".join([*self.sample(SUBJECTS, 3), *self.choices(_WORDS, k=max(0, number - 3))][:number])

    def sentence(self, number: int, about: Sequence[str] = ()) -> str:
        """A sentence of about ``number`` words that contains the words of ``about``."""
        content = [*about, *self.choices(_WORDS, k=max(0, number * 2 // 3 - len(about)))]
        function = self.choices(_FUNCTION_WORDS, k=number - number * 2 // 3)
        return _sentence(
            word for triple in zip_longest(content[::2], function, content[1::2]) for word in triple if word
        )


def reworded(sentence: str) -> str:
    """The sentence with its words in another order, so that no two neighbours stay together."""
    words = sentence.rstrip(".").split()
    half = len(words) // 2
    return _sentence(word for pair in zip_longest(words[half:], words[:half]) for word in pair if word)


def _sentence(words: Iterable[str]) -> str:
    text = " ".join(words)
    return f"{text[:1].upper()}{text[1:]}."


def _sentences(text: str) -> list[str]:
    return text.replace(". ", ".\n").split("\n")


def _is_item(line: str) -> bool:
    """Whether a line is an item of a numbered list."""
    return ". " in line and line.partition(". ")[0].strip().isdecimal()


@dataclass(frozen=True)
class TypicalReply:
    """The usual reply of a program."""

    words: int = 60  # words of a text, or of each text of a list
    items: int = 3  # items of a list
    paraphrases: bool = True  # whether a text paraphrases what the prompt shows


_TYPICAL = {name: TypicalReply(**fields) for name, fields in table_beside(__file__).items()}


def typical_reply(signature: type[dspy.Signature], program: str) -> TypicalReply:
    """The usual reply of a program, by the signature that it asks by where several share that."""
    return _TYPICAL.get(signature.__name__) or _TYPICAL.get(program, TypicalReply())


class MadeUpReply:
    """A reply to one prompt, determined by the prompt and a seed.

    Args:
        prompt: the last message, which holds the inputs.
        seed: makes replies to equal prompts differ.
    """

    def __init__(
        self, signature: type[dspy.Signature], prompt: str, typical: TypicalReply, scenario: Scenario, seed: int | None
    ) -> None:
        self._signature = signature
        self._prompt = prompt
        self._typical = typical
        self._scenario = scenario
        self._inputs = dict(line.split(": ", 1) for line in prompt.splitlines() if ": " in line)
        requested = {name: self._inputs.get(name, "") for name in ("Words", "Number")}
        self._requested = {name: int(number) for name, number in requested.items() if number.isdecimal()}
        self._random = SeededRandom(signature.instructions, prompt, seed)

    def __str__(self) -> str:
        outputs = self._signature.output_fields
        if [field.annotation for field in outputs.values()] == [str]:
            return self._text()
        return json.dumps({name: self._value(field, self._typical.items) for name, field in outputs.items()})

    def _text(self) -> str:
        """Paraphrased sentences of the prompt with their numbers, or else made-up ones; or replies to remarks."""
        to_check = self._prompt.partition("\nCheck:")[2].splitlines()
        if checked := [line.split(". ")[0].strip() for line in to_check if _is_item(line) and line.endswith("]")]:
            return "\n".join(f"{number}: {verdict}" for number, verdict in zip(checked, self._verdicts(), strict=False))
        if remarks := _REMARK.findall(self._prompt.rpartition("\nRemarks:")[2]):
            return "\n".join(f"{number}: {reworded(text)[:-1]} {markers}." for number, text, markers in remarks)
        words = max(1, round(self._requested.get("Words", self._typical.words) * self._scenario.reply))
        paraphrased = self._paraphrased(words) if self._typical.paraphrases else []
        return " ".join([*self._opening(), *(paraphrased or self._made_up(words))])

    def _verdicts(self) -> Iterator[str]:
        """A judge's: the first sentence of some texts is doubted."""
        doubted = self._random.random() < self._scenario.remarks
        return chain([f"partly - {self._random.words(_REASON)}" if doubted else "supported"], repeat("supported"))

    def _paraphrased(self, words: int) -> list[str]:
        sentences: list[str] = []
        for (sentence, number), is_copied in zip(self._shown(), self._copied(), strict=False):
            if words <= 0:
                break
            sentences.append((sentence if is_copied else reworded(sentence))[:-1] + number)
            words -= len(sentences[-1].split())
        return sentences

    def _made_up(self, words: int) -> list[str]:
        sentences: list[str] = []
        while words > 0:
            sentences.append(self._random.sentence(min(words, self._scenario.words)))
            words -= len(sentences[-1].split())
        return sentences

    def _copied(self) -> Iterator[bool]:
        """For each sentence, whether it is copied verbatim, which a check reports."""
        if self._is_checked:
            remarked = _REMARKED if self._random.random() < self._scenario.remarks else 0
            return chain(repeat(True, remarked), repeat(False))  # noqa: FBT003
        share, start = self._scenario.copied, self._random.random()
        return (int(number * share + start) > int((number - 1) * share + start) for number in count(1))

    def _opening(self) -> list[str]:
        """The topic, with which a checked text begins."""
        return [self._inputs["Topic"]] if self._is_checked and "Topic" in self._inputs else []

    @property
    def _is_checked(self) -> bool:
        """Whether a check may return the text with remarks."""
        return "remarks" in self._signature.input_fields

    def _shown(self) -> Iterator[tuple[str, str]]:
        """Sentences of the numbered passages with their endings: the first of each, then the second of each.

        Without numbered passages, the sentences of the last input.
        """
        if numbered := _NUMBERED.findall(self._prompt):
            by_number = ([(sentence, f" {number}.") for sentence in _sentences(text)] for number, text in numbered)
            yield from (sentence for rank in zip_longest(*by_number) for sentence in rank if sentence)
            return
        label = list(self._signature.input_fields)[-1].replace("_", " ").capitalize()
        _, separator, value = self._prompt.rpartition(f"{label}:")
        lines = [line for line in value.splitlines() if line and not line.startswith("#")] if separator else []
        yield from ((sentence, ".") for line in lines for sentence in _sentences(line.strip()))

    def _value(self, field: FieldInfo, items: int) -> Any:
        """A value of a field's type; ``items`` is the usual length of a list."""
        kind = field.annotation
        if get_origin(kind) is Annotated:
            kind = get_args(kind)[0]
        if get_origin(kind) is list:
            (item,) = get_args(kind)
            made = {Place: self._places, SectionPoints: self._points, PointAnswer: self._point_answers}
            if item in made:
                return made[item]()
            return [self._value(FieldInfo(annotation=item), 1) for _ in range(self._length(field, items))]
        if get_origin(kind) is Literal:
            return get_args(kind)[0]
        if inspect.isclass(kind) and issubclass(kind, BaseModel):
            return {name: self._value(subfield, 1) for name, subfield in kind.model_fields.items()}
        if kind is str:
            return self._random.words(max(1, round(self._typical.words * self._scenario.reply)))
        return self._random.randint(1, 9)

    def _places(self) -> list[dict[str, Any]]:
        """The findings that the prompt numbers in all sections, one after another."""
        outline, _, findings = self._prompt.rpartition("\nFindings:")
        sections = self._sections(outline)
        first = (line.strip().partition("] ")[0].removeprefix("[") for line in findings.splitlines())
        numbers = [int(number) for number in first if number.isdecimal()]
        return [{"section": i + 1, "findings": numbers[i::sections]} for i in range(sections)]

    def _sections(self, before: str) -> int:
        """How many sections a prompt's outline has; ``before``: the prompt up to what follows it."""
        outline = before.rpartition("\nOutline:")[2].partition("\nPlaced:")[0]
        return sum(map(_is_item, outline.splitlines()))

    def _points(self) -> list[dict[str, Any]]:
        """Questions for each section, and no headings."""
        number = self._typical.items * {"fewest": 0, "usual": 1, "twice": 2}[self._scenario.items]
        sections = range(1, self._sections(self._prompt.partition("\nFindings:")[0]) + 1)
        words = self._typical.words
        return [{"section": n, "points": [self._random.words(words) for _ in range(number)]} for n in sections]

    def _point_answers(self) -> list[dict[str, Any]]:
        """Answers of two sentences from the passages, but for every third question, which nothing answers."""
        asked = sum(map(_is_item, self._prompt.rpartition("\nQuestions:")[2].splitlines()))
        told = iter(self._paraphrased(10**6))
        return [{"point": n, "answer": " ".join(islice(told, 2)) if n % 3 else ""} for n in range(1, asked + 1)]

    def _length(self, field: FieldInfo, usual: int) -> int:
        """Length of a list: as the prompt or the scenario states, within the declared bounds."""
        low = max((bound.min_length for bound in field.metadata if hasattr(bound, "min_length")), default=0)
        high = min((bound.max_length for bound in field.metadata if hasattr(bound, "max_length")), default=_MAX_ITEMS)
        expected = {"fewest": low, "usual": usual, "twice": 2 * usual}[self._scenario.items]
        return max(low, min(self._requested.get("Number", expected), high))
