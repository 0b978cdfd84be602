"""Compiling a program: examples split by topic, an optimiser of DSPy, and the gain on held-out topics."""

import random
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib.metadata import version
from io import StringIO
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import dspy
import numpy as np
from dspy.utils.exceptions import AdapterParseError

from storm_pipeline.errors import (
    BudgetSpentError,
    DatasetError,
    ModelAuthError,
    ModelError,
    ProgramError,
    ReplyError,
    SettingsError,
    StormError,
)
from storm_pipeline.evidence.retrieval import Embed
from storm_pipeline.models.asking import LanguageModels
from storm_pipeline.models.open_models import open_models
from storm_pipeline.models.programs import Program, Programs, Provenance, add_to_set
from storm_pipeline.optimize.metrics import Examples, Metric
from storm_pipeline.optimize.tasks import TASKS, Task, Topics, examples_of
from storm_pipeline.run.concurrency import parallel_map
from storm_pipeline.run.events import CallbackSink, CallFinished, Events
from storm_pipeline.run.integrity import recorded_calls
from storm_pipeline.run.journal import Journal, call_scope
from storm_pipeline.run.ledger import RunControl, Spending
from storm_pipeline.run.locking import lock_folder
from storm_pipeline.settings import ROLES, Settings, discarded_settings
from storm_pipeline.text.files import write_errors_as
from storm_pipeline.types import Article

JOURNAL = "compile.jsonl"  # file of a set with all replies, so that a killed compilation repeats no call
_LOCK = "compile.lock"
_FEWEST_TOPICS = 5
REFLECTION = 2000  # maximum tokens of a reply with proposed instructions
_SHARES = (0.4, 0.2)  # shares of the topics for training and validation; the gain is measured on the others
_COPY = 0.3  # minimum share of an article's sentences in an earlier article that makes it a copy
MOST_SHOWN = 3  # maximum examples in a prompt, for the window of a small model
OPTIMIZERS = ("labeled", "bootstrap", "gepa")
"""The optimisers by name."""


class Split(NamedTuple):
    """Examples by topic: no topic is in two parts."""

    train: Topics
    validation: Topics
    held_back: Topics


@dataclass(frozen=True)
class Job:
    """A program to compile, its examples, and how to compile it."""

    task: Task
    split: Split
    settings: Settings
    optimizer: str
    candidates: int = 6
    seed: int = 0
    command: str = ""  # command that started it, recorded in the set
    copies: tuple[str, ...] = ()  # titles left out as copies of other articles

    @property
    def sizes(self) -> str:
        """Numbers of topics and examples in each part of the split."""
        parts = zip(self.split, ("to train on", "to choose by", "held back"), strict=True)
        return ", ".join(f"{len(part)} topics ({len(flat(part))} examples) {what}" for part, what in parts)

    @property
    def most_calls(self) -> int:
        """Maximum number of calls, including the measurements before and after."""
        train, validation, held_back = (len(flat(part)) for part in self.split)
        if self.optimizer == "gepa":
            return (self.candidates + 2) * (validation + 7) + 2 * held_back
        bootstraps = self.optimizer == "bootstrap"
        return bootstraps * ((self.candidates + 3) * validation + (self.candidates + 1) * train) + 2 * held_back


def job_for(
    program: str,
    articles: Sequence[Article],
    settings: Settings,
    optimizer: str | None = None,
    *,
    candidates: int = 6,
    topics: int | None = None,
    seed: int = 0,
    command: str = "",
) -> Job:
    """Return a validated job with at most ``topics`` random topics.

    Raises:
        SettingsError: unknown program or optimiser, or the articles contain no replies of the program to show.
        DatasetError: fewer than five topics have examples.
    """
    if program not in TASKS:
        raise SettingsError(f"{program!r} cannot be compiled from articles: choose among {', '.join(TASKS)}")
    task = TASKS[program]
    optimizer = optimizer or task.optimizer
    if optimizer not in OPTIMIZERS:
        raise SettingsError(f"there is no optimiser {optimizer!r}: choose one of {', '.join(OPTIMIZERS)}")
    kept, copies = _without_copies(articles)
    by_topic = list(examples_of(task, kept, settings))
    if len(by_topic) < _FEWEST_TOPICS:
        raise DatasetError(
            f"{len(by_topic)} of {len(articles)} articles have examples for {program!r}, at least {_FEWEST_TOPICS} are "
            "needed: add articles with sections"
        )
    predictor = Programs().named()[program].predict
    if optimizer == "labeled" and not all(have_replies(predictor, examples) for _, examples in by_topic):
        raise SettingsError(f"articles hold no replies of {program!r} that could be shown: choose bootstrap or gepa")
    random.Random(seed).shuffle(by_topic)  # noqa: S311 - a split, no secret
    by_topic = by_topic[:topics]
    first = max(1, round(_SHARES[0] * len(by_topic)))
    second = first + max(1, round(_SHARES[1] * len(by_topic)))
    parts = by_topic[:first], by_topic[first:second], by_topic[second:]
    return Job(task, Split(*map(tuple, parts)), settings, optimizer, candidates, seed, command, copies)


def _without_copies(articles: Sequence[Article]) -> tuple[list[Article], tuple[str, ...]]:
    """Return the articles that are not copies of another one, and the titles of the copies."""
    kept, copies = list[Article](), list[str]()
    holders = defaultdict[str, list[tuple[int, int]]](list)  # sentence → the kept articles and their numbers of them
    for article in articles:
        text = frozenset(sentence.text.casefold() for section in article.sections for sentence in section.sentences())
        shared = Counter(chain.from_iterable(holders.get(sentence, ()) for sentence in text))
        if any(number > _COPY * min(len(text), size) for (_, size), number in shared.items()):
            copies.append(article.title)
            continue
        for sentence in text:
            holders[sentence].append((len(kept), len(text)))
        kept.append(article)
    return kept, tuple(copies)


def compile_program(
    job: Job,
    embed: Embed,
    folder: Path,
    *,
    teacher_lm: str | None = None,
    reflection_lm: str | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Provenance:
    """Compile a program and add it to a set.

    Every reply is journalled in the set's folder: a second call with the same job continues the first one.
    ``teacher_lm`` makes examples and ``reflection_lm`` writes instructions; default: the student's model.

    Raises:
        ModelError, ModelAuthError, BudgetSpentError: a model cannot be asked, or a cap is reached.
        ReplyError: a reply of the reflection model does not have the requested form.
        ProgramError: the set cannot be read or written.
        RunError: another process compiles into the folder, or it contains a link.
    """
    with write_errors_as(ProgramError, folder):
        folder.mkdir(parents=True, exist_ok=True)
    name, role = job.task.program, job.task.role
    calls: list[CallFinished] = []
    metric = job.task.metric(embed, flat(*job.split))
    with ExitStack() as opened:
        opened.callback(lock_folder(folder, _LOCK).release)
        journal = opened.enter_context(Journal(folder / JOURNAL))
        earlier = tuple(recorded_calls(journal))
        tokens = sum(call.tokens_in + call.tokens_out for call in earlier)
        spent = Spending(sum(call.cost or 0.0 for call in earlier), tokens)
        control = RunControl(job.settings, spent, threading.Event())
        events = Events(control, CallbackSink(lambda e: calls.append(e) if isinstance(e, CallFinished) else None))

        def models(lm: str | None) -> LanguageModels:
            settings = _with_model(job.settings, lm) if lm else job.settings
            table = open_models(settings, None, None)
            return LanguageModels(table, events=events, control=control, journal=journal, settings=settings)

        ends: list[StormError] = []
        student = models(None)
        program = JournalledProgram(Programs().named()[name], student, job, ends)
        with call_scope("before"):
            before = _scores(program, job, metric)
        tell(f"{name}: {fmean(before):.3f} before, on {len(before)} topics held back")
        teacher = JournalledProgram(program.program, models(teacher_lm), job, ends) if teacher_lm else None
        reflection = ReflectionLM((models(reflection_lm) if reflection_lm else student).lm(role, REFLECTION), ends)
        with dspy.context(lm=student.lm(role, program.program.token_limit)), call_scope("optimizer"):
            made = _optimize(job, program, metric, teacher, reflection)
        if ends:
            raise ends[0]
        if made.program.fingerprint == program.program.fingerprint:
            tell(f"{name}: no candidate was better on the topics to choose by, so it stays as it is")
            after = before  # a second sample of the same prompts would only measure chance
        else:
            with call_scope("after"):
                after = _scores(made, job, metric)
    gain, interval = mean_with_interval([b - a for a, b in zip(before, after, strict=True)], job.seed)
    tell(f"{name}: {fmean(after):.3f} after, {gain:+.3f} [{interval[0]:+.3f}, {interval[1]:+.3f}]")
    costs = [call.cost for call in (*earlier, *calls)]
    compiled = Provenance(
        sha256="",
        model=job.settings.lm_of(role),
        optimizer=job.optimizer,
        metric=job.task.metric_name,
        before=round(fmean(before), 4),
        after=round(fmean(after), 4),
        interval=(round(interval[0], 4), round(interval[1], 4)),
        topics=tuple(topic for topic, _ in (*job.split.train, *job.split.validation)),
        held_back=tuple(topic for topic, _ in job.split.held_back),
        seed=job.seed,
        calls=len(costs),
        dollars=None if None in costs else sum(cost for cost in costs if cost is not None),
        command=job.command,
    )
    versions = {"storm-pipeline": version("storm-pipeline"), "dspy": dspy.__version__}
    add_to_set(folder, name, _without_gold(made.program), compiled, versions)
    return compiled


def _optimize(
    job: Job, program: dspy.Module, metric: Metric, teacher: dspy.Module | None, reflection: dspy.BaseLM
) -> dspy.Module:
    """Return the program improved by the job's optimiser, whose output is not shown.

    ``teacher``: program that makes examples; None for the program itself. ``reflection``: model that writes new
    instructions (``gepa``).
    """
    train, validation = flat(job.split.train), flat(job.split.validation)
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        if job.optimizer == "labeled":
            return dspy.LabeledFewShot(k=MOST_SHOWN).compile(program, trainset=train)
        if job.optimizer == "bootstrap":
            as_they_are = not teacher and all(have_replies(predictor, train) for predictor in program.predictors())
            bootstrap = dspy.BootstrapFewShotWithRandomSearch(
                metric=lambda gold, pred, _=None: float(metric(gold, pred).score),
                max_bootstrapped_demos=MOST_SHOWN,
                max_labeled_demos=MOST_SHOWN if as_they_are else 0,  # with a teacher, it makes all examples
                num_candidate_programs=job.candidates,
                num_threads=job.settings.calls_in_flight,
                max_errors=len(train),
                metric_threshold=0.5,
            )
            return bootstrap.compile(program, teacher=teacher, trainset=train, valset=validation)
        gepa = dspy.GEPA(
            metric=metric,
            reflection_lm=reflection,
            max_metric_calls=job.candidates * (len(validation) + 6),
            num_threads=job.settings.calls_in_flight,
            seed=job.seed,
        )
        try:
            return gepa.compile(program, trainset=train, valset=validation)
        except AdapterParseError as error:
            raise ReplyError(
                f"the model that writes instructions gave none in the form that {job.optimizer} asks for: name a "
                "more capable one with --reflection-lm, or choose bootstrap or labeled"
            ) from error


def have_replies(predictor: dspy.Predict, examples: Examples) -> bool:
    """Return whether each example has a reply, so that it can be shown in prompts."""
    return all(example.get(name) for example in examples for name in predictor.signature.output_fields)


class ReflectionLM(dspy.BaseLM):
    """The model that writes instructions; its failure ends the compilation, though optimisers would continue."""

    def __init__(self, lm: dspy.BaseLM, ends: list[StormError]) -> None:
        super().__init__(lm.model, lm.model_type, cache=False, num_retries=0)
        self.kwargs = dict(lm.kwargs)
        self._lm, self._ends = lm, ends

    def __call__(
        self, prompt: str | None = None, *, messages: list[dict[str, Any]] | None = None, **kwargs: Any
    ) -> list[Any]:
        """Return the replies of the model; record and raise its ModelError."""
        try:
            replies: list[Any] = self._lm(prompt, messages=messages, **kwargs)
        except ModelError as error:
            self._ends.append(error)
            raise
        return replies


class JournalledProgram(dspy.Module):
    """A copy of a program whose calls are journalled and capped like those of a run.

    ``ends``: fatal errors, which optimisers would count as failed examples; shared by all copies.
    """

    def __init__(self, program: Program, models: LanguageModels, job: Job, ends: list[StormError]) -> None:
        super().__init__()
        self.program = program.deepcopy()

        def ask(program: Program, inputs: dict[str, Any]) -> dspy.Prediction:
            if ends:
                raise ends[0]
            try:
                return models.ask(job.task.role, program, **inputs)
            except (ModelAuthError, BudgetSpentError) as error:
                ends.append(error)
                raise

        self._ask = ask  # a function, so that copies share the models

    def forward(self, **inputs: Any) -> dspy.Prediction:
        """Return the program's prediction, or raise as :meth:`storm_pipeline.models.asking.LanguageModels.ask`."""
        return self._ask(self.program, inputs)


def _without_gold(program: Program) -> Program:
    """Return the program with only its fields in its examples; examples without a reply are removed."""
    for predictor in program.predictors():
        names = predictor.signature.fields
        predictor.demos = [
            dspy.Example(**{name: demo[name] for name in names if name in demo})
            for demo in predictor.demos
            if have_replies(predictor, (demo,))
        ]
    return program


def _with_model(settings: Settings, lm: str) -> Settings:
    """Return the settings with one model for all roles, without the address and key of the previous one."""
    others = {f"{role}_lm" for role in ROLES} | discarded_settings({"lm"})
    kept = {name: value for name, value in settings.model_dump(exclude_unset=True).items() if name not in others}
    return Settings.build({**kept, "lm": lm})


def _scores(module: dspy.Module, job: Job, metric: Metric) -> list[float]:
    """Return the mean of the metric for each held-out topic; 0 for an example that the model fails on."""

    def score(example: dspy.Example) -> float:
        try:
            return float(metric(example, module(**example.inputs())).score)
        except (ModelAuthError, BudgetSpentError):
            raise
        except ModelError:
            return 0.0

    topics = [examples for _, examples in job.split.held_back]
    workers = job.settings.calls_in_flight
    return parallel_map(lambda examples: fmean([score(example) for example in examples]), topics, workers=workers)


def mean_with_interval(differences: Sequence[float], seed: int = 0) -> tuple[float, tuple[float, float]]:
    """Return the mean of paired differences and its 95 % interval (bootstrap percentiles, 2,000 resamples)."""
    values = np.asarray(differences, dtype=np.float64)
    draws = np.random.default_rng(seed).choice(values, size=(2000, len(values))).mean(axis=1)
    low, high = np.percentile(draws, [2.5, 97.5])
    return float(values.mean()), (float(low), float(high))


def flat(*parts: Topics) -> list[dspy.Example]:
    """Return the examples of parts of a split."""
    return [example for part in parts for _, examples in part for example in examples]
