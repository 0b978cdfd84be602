"""DSPy's optimisers by name, with defaults for programs of one predictor."""

from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO

import dspy

from storm_pipeline.errors import MissingExtraError, SettingsError
from storm_pipeline.optimize.metrics.base import Examples, Metric

MOST_SHOWN = 3
"""Examples of a prompt, at most: a small model's window and patience are short."""


@dataclass(frozen=True)
class Plan:
    """What an optimiser works with."""

    metric: Metric
    train: Examples
    validation: Examples  # examples that it chooses among candidates by
    candidates: int  # programs that it tries, at least 1
    seed: int
    workers: int  # calls at a time, where the optimiser can make several
    teacher: dspy.Module | None  # program that makes examples; None for the student itself
    task: dspy.BaseLM
    reflection: dspy.BaseLM  # model that writes new instructions (``gepa``, ``miprov2``, ``simba``)


def optimized(name: str, student: dspy.Module, plan: Plan) -> dspy.Module:
    """The student, as the optimiser improves it; what the optimiser prints is not shown."""
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()), dspy.context(lm=plan.task):
        return _OPTIMIZERS[name](student, plan)


def require_optimizer(name: str) -> None:
    """Check that an optimiser can be used, before anything is asked.

    Raises:
        SettingsError: there is no such optimiser.
        MissingExtraError: what it needs is not installed.
    """
    if name not in OPTIMIZERS:
        raise SettingsError(f"there is no optimiser {name!r}: choose one of {', '.join(OPTIMIZERS)}")
    if name == "miprov2":
        try:
            import optuna  # noqa: F401
        except ImportError as error:
            raise MissingExtraError(
                "the optimiser `miprov2` needs the extra 'compile': pip install 'storm-pipeline[compile]'"
            ) from error


def most_calls(name: str, train: int, validation: int, candidates: int) -> int:
    """Calls of the student or a teacher that an optimiser makes at most, without those that repeat a reply."""
    each = {
        "labeled": 0,
        "bootstrap": (candidates + 3) * validation + (candidates + 1) * train,
        "miprov2": (candidates + 1) * validation + 3 * train + candidates,
        "gepa": (candidates + 2) * (validation + 7),
        "simba": (candidates + 2) * (2 * train + 24),
    }
    return each[name]


def have_replies(predictor: dspy.Predict, examples: Examples) -> bool:
    """Whether each example holds a reply, so that it can be shown in prompts."""
    return all(example.get(name) for example in examples for name in predictor.signature.output_fields)


def _labeled(student: dspy.Module, plan: Plan) -> dspy.Module:
    return dspy.LabeledFewShot(k=MOST_SHOWN).compile(student, trainset=list(plan.train))


def _bootstrap(student: dspy.Module, plan: Plan) -> dspy.Module:
    optimizer = dspy.BootstrapFewShotWithRandomSearch(
        metric=lambda gold, pred, trace=None: float(plan.metric(gold, pred, trace).score),
        max_bootstrapped_demos=MOST_SHOWN,
        max_labeled_demos=0 if plan.teacher else _labels(student, plan),  # a teacher makes all examples
        num_candidate_programs=plan.candidates,
        num_threads=plan.workers,
        max_errors=len(plan.train),
        metric_threshold=0.5,
    )
    return optimizer.compile(student, teacher=plan.teacher, trainset=list(plan.train), valset=list(plan.validation))


def _labels(student: dspy.Module, plan: Plan) -> int:
    """How many examples an optimiser may show as they are."""
    return MOST_SHOWN if all(have_replies(own, plan.train) for own in student.predictors()) else 0


def _miprov2(student: dspy.Module, plan: Plan) -> dspy.Module:
    optimizer = dspy.MIPROv2(
        metric=lambda gold, pred, trace=None: float(plan.metric(gold, pred, trace).score),
        prompt_model=plan.reflection,
        task_model=plan.task,
        auto=None,
        num_candidates=plan.candidates,
        max_bootstrapped_demos=MOST_SHOWN,
        max_labeled_demos=_labels(student, plan),
        num_threads=plan.workers,
        seed=plan.seed,
    )
    train, validation = list(plan.train), list(plan.validation)
    return optimizer.compile(
        student, teacher=plan.teacher, trainset=train, valset=validation, num_trials=plan.candidates, minibatch=False
    )


def _gepa(student: dspy.Module, plan: Plan) -> dspy.Module:
    optimizer = dspy.GEPA(
        metric=plan.metric,
        reflection_lm=plan.reflection,
        max_metric_calls=plan.candidates * (len(plan.validation) + 6),
        num_threads=plan.workers,
        seed=plan.seed,
    )
    return optimizer.compile(student, trainset=list(plan.train), valset=list(plan.validation))


def _simba(student: dspy.Module, plan: Plan) -> dspy.Module:
    optimizer = dspy.SIMBA(
        metric=lambda gold, pred: float(plan.metric(gold, pred).score),
        bsize=min(4, len(plan.train)),
        num_candidates=2,
        max_steps=plan.candidates,
        max_demos=MOST_SHOWN,
        prompt_model=plan.reflection,
        num_threads=plan.workers,
    )
    return optimizer.compile(student, trainset=list(plan.train), seed=plan.seed)


_OPTIMIZERS: dict[str, Callable[[dspy.Module, Plan], dspy.Module]] = {
    "labeled": _labeled,
    "bootstrap": _bootstrap,
    "miprov2": _miprov2,
    "gepa": _gepa,
    "simba": _simba,
}
OPTIMIZERS = tuple(_OPTIMIZERS)
"""Names of the optimisers."""
