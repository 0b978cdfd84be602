"""DSPy programs, one per task, from text to typed values; compiled sets of them as folders of JSON files.

Only instructions, descriptions of fields and examples are read from a compiled set: no model, no address, no key.
"""

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import copy, deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dspy
from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from storm_pipeline.errors import ProgramError
from storm_pipeline.models.prompt_adapter import PromptAdapter
from storm_pipeline.run.journal import fingerprint
from storm_pipeline.settings import Settings
from storm_pipeline.signatures import answers, examples, judging, outline, points, research, review, shapes, writing
from storm_pipeline.text.files import read_json, write_atomically, write_errors_as
from storm_pipeline.text.fitting import most_tokens
from storm_pipeline.text.words import encodable_values

_log = logging.getLogger(__name__)
_ADAPTER = PromptAdapter()
Signature = type[dspy.Signature]
FORMAT = 1  # version of the folder's format
_SET = "set.json"
_MOST = 20_000_000  # maximum bytes of a file of a set


class SafeModule(dspy.Module):
    """A module that loads only instructions, descriptions of fields and examples from saved states."""

    def dump_state(self, json_mode: bool = True) -> dict[str, Any]:  # noqa: FBT001, FBT002 - DSPy's contract
        """Return the state of each predictor, without its model."""
        named = {name: copy(predictor) for name, predictor in self.named_predictors()}
        for predictor in named.values():
            predictor.lm = None
        return {name: predictor.dump_state(json_mode) for name, predictor in named.items()}

    def load_state(self, state: Mapping[str, Any], *, allow_unsafe_lm_state: bool = False) -> None:  # noqa: ARG002
        """Load a state. Raises ProgramError: it is damaged, or of predictors with other fields."""
        for name, predictor in self.named_predictors():
            if name not in state:
                raise ProgramError(f"the state lacks the predictor {name}: compile it anew")
            _take_over(predictor, state[name])


class Outlined(dspy.Module):
    """Outline-enhanced generation (FoRAG, 4.1): two calls; it also predicts ``pattern`` and ``points``.

    Departures from appendix A: two calls instead of one; a point may name several passages; the text cites them.
    """

    def __init__(self, signature: type[dspy.Signature], demos: Sequence[dspy.Example] = ()) -> None:
        super().__init__()
        what, name = str(signature.instructions).partition(".")[0], signature.__name__
        instructions = f"{answers.OutlineText.instructions}\n\nThe text will be written by these instructions: {what}."
        follow = f"{signature.instructions}\n{answers.FOLLOW_PLAN}"
        self.outline = dspy.Predict(_with_instructions(answers.OutlineText, instructions, answers.OutlineText.__name__))
        self.expand = dspy.Predict(_with_instructions(signature.append("plan", dspy.InputField(), str), follow, name))
        self.expand.demos = [dspy.Example(plan="", **demo) for demo in demos]

    def forward(self, **inputs: Any) -> dspy.Prediction:
        """Return the signature's output fields, with the outline."""
        about = {name: inputs.get(name, "") for name in self.outline.signature.input_fields}
        outlined = self.outline(**about)
        text = self.expand(**inputs, plan=_as_text(outlined.pattern, outlined.points))
        return dspy.Prediction(**text.toDict(), pattern=outlined.pattern, points=outlined.points)


def _with_instructions(signature: Signature, instructions: str, name: str) -> Signature:
    made: Signature = signature.with_instructions(instructions)
    made.__name__ = name
    return made


def _as_text(pattern: str, points: Sequence[shapes.Point]) -> str:
    lines = [f"{n}. {point.text} {''.join(f'[{p}]' for p in point.passages)}" for n, point in enumerate(points, 1)]
    return "\n".join([f"Order: {pattern}", *lines]) if lines else ""


class Program(SafeModule):
    """A DSPy module: a signature with worked examples, or any module with the same fields.

    A predictor with its own model (``set_lm``) asks that, any other the model of the calling role.

    ``asked``: a signature; or a module (``dspy.ChainOfThought``, several steps) whose prediction has the same fields.
    ``demos``: worked examples of a signature, shown before an optimiser's. ``token_limit``: maximum
    tokens of a reply from a small model; longer replies are repetitive.
    """

    def __init__(
        self,
        asked: Signature | dspy.Module,
        demos: list[dict[str, Any]] | None = None,
        *,
        token_limit: int = 700,
        greedy: bool = False,
    ) -> None:
        super().__init__()
        is_module = isinstance(asked, dspy.Module)
        self.predict = asked if is_module else dspy.Predict(asked)
        unused = {} if is_module else dict.fromkeys(asked.input_fields, "")
        self.worked = [dspy.Example(**{**unused, **demo}) for demo in demos or ()]  # optimisers reset demos
        self.name: str = type(asked).__name__ if is_module else asked.__name__  # of the signature, or of the module
        self.token_limit = token_limit
        self.greedy = greedy

    def outlined(self) -> "Program":
        """Return a program that outlines its text first; unchanged if made from a module."""
        if not isinstance(self.predict, dspy.Predict):
            return self
        program = Program(Outlined(self.predict.signature, self.shown), token_limit=self.token_limit)
        program.name = self.name
        program.set_lm(self.predict.lm)
        return program

    @property
    def own_lm(self) -> dspy.BaseLM | None:
        """Return the predictors' own model, the first of several; None if a predictor has none."""
        lms = [predictor.lm for predictor in self.predictors()]
        return lms[0] if lms and all(lm is not None for lm in lms) else None

    @property
    def shown(self) -> list[dspy.Example]:
        """Return the examples in its prompts, worked ones and the optimiser's; none for several predictors."""
        if not isinstance(self.predict, dspy.Predict):
            return []
        return [*self.worked, *(demo for demo in self.predict.demos if _fits(self.predict, demo))]

    @property
    def overhead(self) -> int:
        """Return the maximum tokens of the constant part of its prompts: instructions, reply format, examples."""
        most = 0
        for predictor in self.predictors():
            fields = [field.json_schema_extra for field in predictor.signature.output_fields.values()]
            begins = [predictor.signature.instructions, *fields, *map(dict, self._shown_by(predictor))]
            most = max(most, sum(most_tokens(str(part)) for part in begins))
        return most

    @property
    def fingerprint(self) -> str:
        """Hash the parts of its requests: instructions, fields, examples, limit and sampling."""
        parts: list[object] = [self.token_limit]
        for predictor in self.predictors():
            signature = predictor.signature
            fields = {name: [str(f.annotation), f.json_schema_extra] for name, f in signature.fields.items()}
            demos = [to_jsonable_python(dict(demo), fallback=dict) for demo in self._shown_by(predictor)]
            parts += [signature.instructions, fields, demos, predictor.config]
        return fingerprint(*parts)

    def forward(self, **inputs: object) -> dspy.Prediction:
        """Return the signature's output fields, with this package's adapter unless a run's is active."""
        with _default_adapter():
            return self.predict(**self._with_examples(inputs))

    async def aforward(self, **inputs: object) -> dspy.Prediction:
        """Async version of :meth:`forward`."""
        with _default_adapter():
            return await self.predict.acall(**self._with_examples(inputs))

    def _with_examples(self, inputs: Mapping[str, object]) -> dict[str, object]:
        return {"demos": self.shown, **inputs} if isinstance(self.predict, dspy.Predict) else dict(inputs)

    def _shown_by(self, predictor: dspy.Predict) -> Sequence[Mapping[str, Any]]:
        return self.shown if predictor is self.predict else predictor.demos


class Programs(SafeModule):
    """The programs of a run by name. A module, so that DSPy can copy, save and load them."""

    def __init__(self) -> None:
        super().__init__()
        self.related = Program(research.FindRelatedTopics, examples.worked("related"), token_limit=120)
        self.perspectives = Program(research.FindPerspectives, examples.worked("perspectives"), token_limit=400)
        self.question = Program(research.AskQuestion, examples.worked("question"), token_limit=100)
        self.plain_question = Program(research.AskPlainQuestion, examples.worked("plain_question"), token_limit=100)
        self.questions = Program(research.AskQuestions, token_limit=500)
        self.queries = Program(research.WriteQueries, examples.worked("queries"), token_limit=120)
        self.passage_answer = Program(research.AnswerFromPassages, token_limit=900)
        self.draft = Program(outline.DraftOutline, examples.worked("draft"), token_limit=180, greedy=True)
        self.refine = Program(outline.RefineOutline, examples.worked("refine"), token_limit=220, greedy=True)
        self.plan = Program(outline.PlanOutline, examples.worked("plan"), token_limit=220, greedy=True)
        self.choose_pages = Program(points.ChoosePages, token_limit=120)
        self.page_notes = Program(points.ReadPage, token_limit=1200)
        self.points = Program(points.FindPoints, token_limit=2000)
        self.point_answers = Program(points.AnswerPoints, token_limit=1500)
        self.place = Program(outline.PlaceFindings, token_limit=1000)
        self.article = Program(writing.WriteArticle, token_limit=4000)
        self.memory = Program(writing.WriteFromMemory, token_limit=4000)
        self.section = Program(writing.WriteSection, token_limit=1500)
        self.remarks = Program(writing.AnswerRemarks, token_limit=700)
        self.lead = Program(writing.WriteLead, token_limit=500)
        self.edit = Program(review.EditArticle, token_limit=2000)
        self.check = Program(judging.CheckSentences, token_limit=1500, greedy=True)
        self.plain_answer = Program(answers.AnswerQuestion, token_limit=900)
        self.answer = self.plain_answer.outlined()

    def named(self) -> dict[str, Program]:
        """Map names to programs, in the order of a run."""
        return {name: value for name, value in vars(self).items() if isinstance(value, Program)}

    def replace(self, **programs: Program) -> "Programs":
        """Return these programs with some replaced. Raises ProgramError: unknown name."""
        new = Programs()
        for name, program in (self.named() | programs).items():
            if name not in new.named():
                raise ProgramError(f"there is no program {name!r}: choose among {', '.join(self.named())}")
            setattr(new, name, program)
        return new

    def for_settings(self, settings: Settings) -> "Programs":
        """Return these programs; if set, interview answers and sections are outlined first."""
        if settings.answers == "plain":
            return self
        return self.replace(passage_answer=self.passage_answer.outlined(), section=self.section.outlined())

    def fingerprints(self) -> dict[str, str]:
        """Map names to fingerprints of the prompts."""
        return {name: program.fingerprint for name, program in self.named().items()}


def _default_adapter() -> AbstractContextManager[None]:
    """Set this package's adapter within the block, unless a run's adapter is active."""
    is_set = isinstance(dspy.settings.adapter, PromptAdapter)
    return nullcontext() if is_set else dspy.context(adapter=_ADAPTER)


def _take_over(predictor: dspy.Predict, state: Mapping[str, Any]) -> None:
    name = predictor.signature.__name__
    try:
        saved, demos = state["signature"], [dspy.Example(**demo) for demo in state["demos"]]
        fields = [(field["prefix"], str(field["description"])) for field in saved["fields"]]
        instructions = str(saved["instructions"])
    except (KeyError, TypeError, ValueError) as error:
        raise ProgramError(f"the state of {name} is damaged: {error!r}") from error
    prefixes = [field.json_schema_extra["prefix"] for field in predictor.signature.fields.values()]
    if [prefix for prefix, _ in fields] != prefixes:
        named = ", ".join(str(prefix) for prefix, _ in fields)
        raise ProgramError(f"the state is of a program with the fields {named}, not of {name}: compile it anew")
    signature = predictor.signature.with_instructions(instructions)
    for field_name, (_, description) in zip(predictor.signature.fields, fields, strict=True):
        signature = signature.with_updated_fields(field_name, desc=description)
    signature.__name__ = name
    predictor.signature = signature
    if unfit := [demo for demo in demos if not _fits(predictor, demo)]:
        raise ProgramError(f"an example of {name} has not the form of a reply: {str(unfit[0])[:200]}")
    predictor.demos = demos


def _fits(predictor: dspy.Predict, demo: Mapping[str, Any]) -> bool:
    """Return whether an example has the form of a reply; examples made with another adapter may not."""
    try:
        _ADAPTER.format_assistant_message_content(predictor.signature, dict(demo))
    except ValidationError:
        _log.warning("an example of %s is left out: it has not the form of a reply", predictor.signature.__name__)
        return False
    return all(demo.get(name) for name in predictor.signature.output_fields)


@dataclass(frozen=True)
class Provenance:
    """Provenance of a compiled program."""

    sha256: str  # checksum of its file
    model: str  # the target model
    optimizer: str  # name of the optimiser
    metric: str  # name of the metric
    before: float  # mean of the metric on the held-out topics before compiling, in [0, 1]
    after: float  # the mean after compiling
    interval: tuple[float, float]  # 95 % interval of the mean of the paired differences
    topics: tuple[str, ...]  # topics of training and validation
    held_back: tuple[str, ...]  # topics on which ``before`` and ``after`` were measured
    seed: int  # of the optimiser
    calls: int  # number of calls for compiling
    dollars: float | None = None  # cost of the calls; None if unknown
    command: str = ""  # command that made it


@dataclass(frozen=True)
class CompiledSet:
    """A folder of compiled programs."""

    folder: Path  # its path
    versions: Mapping[str, str]  # of this package and DSPy at the time of writing
    programs: Mapping[str, Provenance] = field(default_factory=dict)  # name of a program → its provenance
    format: int = FORMAT  # of the folder

    def apply(self, programs: Programs) -> Programs:
        """Replace programs by those of the set. Raises ProgramError: a file is missing, changed, or wrong."""
        known = programs.named()
        loaded: dict[str, Program] = {}
        for name, compiled in self.programs.items():
            if name not in known:
                raise ProgramError(f"{self.folder} has a program {name!r}, which this version has not: compile it anew")
            file = self.folder / f"{name}.json"
            data = _read(file)
            if hashlib.sha256(data).hexdigest() != compiled.sha256:
                raise ProgramError(f"{file} was changed since it was compiled: restore it, or compile {name} anew")
            program = deepcopy(known[name])
            program.load_state(_object(file, data))
            loaded[name] = program
        return programs.replace(**loaded)


def read_set(folder: Path) -> CompiledSet:
    """Read ``set.json`` of a folder. Raises ProgramError: it is missing, damaged, or of a newer version."""
    file = folder / _SET
    content = _object(file, _read(file))
    if content.get("format") != FORMAT:
        raise ProgramError(f"{file} has the format {content.get('format')!r}, this version reads {FORMAT}")
    try:
        return TypeAdapter(CompiledSet).validate_python({**content, "folder": folder})
    except ValidationError as error:
        first = error.errors()[0]
        raise ProgramError(f"{file} is damaged: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error


def programs_of(folder: Path | None) -> Programs:
    """Return the package's programs, some replaced by those of a compiled set. Raises ProgramError."""
    return read_set(folder).apply(Programs()) if folder else Programs()


def add_to_set(folder: Path, name: str, program: Program, compiled: Provenance, versions: Mapping[str, str]) -> None:
    """Write a program into a new or existing set. Raises ProgramError: it cannot be read or written."""
    before = read_set(folder).programs if (folder / _SET).exists() else {}
    states = {path: predictor.dump_state() for path, predictor in program.named_predictors()}
    state = {path: {"signature": p["signature"], "demos": p["demos"]} for path, p in states.items()}
    data = (json.dumps(state, ensure_ascii=False, indent=1) + "\n").encode()
    record = {**vars(compiled), "sha256": hashlib.sha256(data).hexdigest()}
    listed = {**{other_name: vars(earlier) for other_name, earlier in before.items()}, name: record}
    content = {"format": FORMAT, "versions": dict(versions), "programs": listed}
    with write_errors_as(ProgramError, folder):
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / f"{name}.json", data)
        write_atomically(folder / _SET, json.dumps(content, ensure_ascii=False, indent=1) + "\n")


def _read(file: Path) -> bytes:
    try:
        return read_json(file, _MOST)
    except FileNotFoundError as error:
        raise ProgramError(f"{file} is missing: name the folder of a set (`storm compile` makes one)") from error
    except OSError as error:
        raise ProgramError(f"cannot read {file}: {error.strerror or error}") from error


def _object(file: Path, data: bytes) -> dict[str, Any]:
    try:
        content = encodable_values(json.loads(data))
    except (ValueError, RecursionError) as error:
        raise ProgramError(f"{file} is damaged: it is not JSON") from error
    if not isinstance(content, dict):
        raise ProgramError(f"{file} is damaged: it is not a JSON object")
    return content
