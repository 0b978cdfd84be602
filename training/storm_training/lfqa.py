"""Sets of outline-enhanced long-form answers (FoRAG 4.2): questions with passages, answered by a teacher.

Departures from the paper: any teacher, not GPT-4 alone; answers whose outline breaks the rules of appendix A (one to
five points, each naming one material that there is) are left out and counted; questions like those of a test set are
left out, which the paper does not mention.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from storm_pipeline.api import write_atomically
from storm_training.errors import TrainingError
from storm_training.files import isolated, rows_of, text_of
from storm_training.segments import ANSWER

MARK = re.compile(r"\s*(?:【\d+】|<\d+>|\[\d+\])")
"""Citations in the published answers."""
_MATERIAL = re.compile(r"\[(\d{1,9})\]")
_ALIKE = 0.7
"""Share of trigrams of characters from which on two questions count as the same."""


@dataclass(frozen=True)
class Source:
    """A question of a published set: its materials, and its own answer without citations."""

    question: str
    materials: tuple[str, ...]
    answer: str


@dataclass(frozen=True)
class Outlined:
    """A teacher's answer: organisational pattern, points such as ``Healthcare [1]``, and the answer."""

    structure: str
    points: tuple[str, ...]
    answer: str

    @property
    def response(self) -> str:
        """As a writer is tuned on it."""
        return "\n".join([f"Structure: {self.structure}", "Outline:", *self.points, f"{ANSWER} {self.answer}"])


Teacher = Callable[[Source], Outlined]


@dataclass(frozen=True)
class Statistics:
    """A row of Table 1; lengths are means, in what was counted: tokens or words."""

    question: float
    original: float  # of the set's own answers
    outlined: float  # of the answers, structure and outline left aside
    samples: int  # answers that were kept
    known: int  # questions left out since a test set has them
    broken: int  # answers left out since their outline breaks a rule

    @property
    def table(self) -> str:
        """As Table 1, in Markdown, with what was left out."""
        row = f"| {self.question:.1f} | {self.original:.1f} | {self.outlined:.1f} | {self.samples:,} |"
        left = f"{self.known} questions that a test set has and {self.broken} broken outlines were left out"
        return f"| query | answer (original) | answer (outlined) | samples |\n|---|---|---|---|\n{row}\n\n{left}"


def read_webglm(path: Path) -> list[Source]:
    """Return WebGLM-QA as published: JSON lines with ``question``, ``answer`` and ``references``.

    Raises TrainingError: a line is not such an object, or lacks a question or materials.
    """
    return isolated(path, _webglm, "data in the layout of WebGLM-QA")


def _webglm(path: str) -> Iterator[Source]:
    for row in rows_of(path):
        yield _source(row, row.get("references"))


def read_webcpm(path: Path) -> list[Source]:
    """Return WebCPM's interactive data as published: ``data`` with ``question``, ``answer`` and ``digests``.

    Raises TrainingError: the file has another layout, or a question lacks materials.
    """
    return isolated(path, _webcpm, "data in the layout of WebCPM's")


def _webcpm(path: str) -> Iterator[Source]:
    for row in json.loads(text_of(Path(path)))["data"]:
        yield _source(row, ["".join(part["desc"] for part in digest["datas"]) for digest in row["digests"]])


def read_expertqa(path: Path) -> list[Source]:
    """Return ExpertQA's questions with the passages of their claims' evidence; they have no answer of their own.

    Raises DatasetError: the file is absent or has another layout.
    """
    from storm_bench.datasets.expertqa import read_expertqa as claims

    found: dict[str, dict[str, None]] = {}
    for claim in claims(path):
        found.setdefault(claim.question, {}).update(dict.fromkeys(passage.text for passage in claim.passages))
    return [Source(question, tuple(materials), "") for question, materials in found.items()]


def _source(row: Any, materials: Any) -> Source:
    question, answer = row.get("question") or "", row.get("answer") or ""
    given = tuple(text.strip() for text in materials or () if text.strip())
    if not question.strip() or not given:
        raise TrainingError(f"{question[:60]!r} has no {'materials' if question.strip() else 'question'}")
    return Source(question.strip(), given, MARK.sub("", answer).strip())


_READERS = {"webglm": read_webglm, "webcpm": read_webcpm, "expertqa": read_expertqa}


def read(path: Path, layout: str) -> list[Source]:
    """Return a set in the layout ``webglm``, ``webcpm`` or ``expertqa``. Raises TrainingError: there is none."""
    if layout not in _READERS:
        raise TrainingError(f"there is no layout {layout!r}: choose one of {', '.join(_READERS)}")
    if sources := _READERS[layout](path):
        return sources
    raise TrainingError(f"{path} holds no question")


def prompt(source: Source) -> str:
    """Return the question and numbered materials as the writer that is tuned reads them."""
    return "\n".join([f"Question: {source.question}", "Materials:", numbered(source.materials), ""])


def numbered(materials: Sequence[str]) -> str:
    """Return the materials, a line each, with their numbers from 1."""
    return "\n".join(f"[{number}] {text}" for number, text in enumerate(materials, 1))


def keeps_rules(answer: Outlined, source: Source) -> bool:
    """Return whether there are one to five points, each naming one material that there is, and an answer."""
    named = [_MATERIAL.findall(point) for point in answer.points]
    valid = all(len(numbers) == 1 and 1 <= int(numbers[0]) <= len(source.materials) for numbers in named)
    return 1 <= len(named) <= 5 and valid and bool(answer.answer.strip())


def unlike(sources: Iterable[Source], tests: Sequence[str]) -> Iterator[Source]:
    """Yield the questions that no test question repeats, but for a few characters; in any language."""
    known = [_trigrams(test) for test in tests]
    for source in sources:
        own = _trigrams(source.question)
        if not any(len(own & test) >= _ALIKE * min(len(own), len(test)) for test in known if test):
            yield source


def parted(sources: Sequence[Source], tests: Sequence[str]) -> tuple[list[Source], list[Source]]:
    """Return the sources that no test question repeats, and the others.

    Raises:
        TrainingError: there are none of one kind.
    """
    kept = dict.fromkeys(unlike(sources, tests))
    known = [source for source in sources if source not in kept]
    if not kept or not known:
        raise TrainingError(f"of {len(sources)} questions {len(known)} are test questions: both kinds are needed")
    return list(kept), known


def _trigrams(text: str) -> set[str]:
    plain = "".join(char for char in text.casefold() if char.isalnum())
    return {plain[at : at + 3] for at in range(max(1, len(plain) - 2))} if plain else set()


def build(
    sources: Sequence[Source], teacher: Teacher, path: Path, *, tests: Sequence[str], count: Callable[[str], float]
) -> Statistics:
    """Write a set as JSON lines with ``prompt`` and ``response``; its statistics.

    Args:
        sources: questions with materials.
        teacher: answers them.
        path: of the file.
        tests: questions that must not be among them.
        count: length of a text; Table 1 counts tokens with Llama 2's tokenizer.

    Raises:
        TrainingError: nothing is left.
    """
    kept = list(unlike(sources, tests))
    answers = [(source, teacher(source)) for source in kept]
    whole = [(source, answer) for source, answer in answers if keeps_rules(answer, source)]
    if not whole:
        raise TrainingError(f"none of {len(sources)} questions is left: test questions and broken answers are out")
    rows = ({"prompt": prompt(source), "response": answer.response} for source, answer in whole)
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    write_atomically(path, lines.encode("utf-8", "replace"))
    return Statistics(
        question=mean(count(source.question) for source, _ in whole),
        original=mean(count(source.answer) for source, _ in whole),
        outlined=mean(count(answer.answer) for _, answer in whole),
        samples=len(whole),
        known=len(sources) - len(kept),
        broken=len(kept) - len(whole),
    )
