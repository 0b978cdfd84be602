"""DSPy's optimisers by name, with defaults for programs of one predictor."""

from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO

import dspy

from storm_pipeline.optimize.metrics import Examples, Metric

MOST_SHOWN = 3  # maximum examples in a prompt, for the window of a small model


@dataclass(frozen=True)
class Plan:
    """The inputs of an optimiser."""

    metric: Metric
    train: Examples
    validation: Examples  # examples for choosing among candidates
    candidates: int  # number of candidate programs, at least 1
    seed: int
    workers: int  # concurrent calls
    teacher: dspy.Module | None  # program that makes examples; None for the student itself
    task: dspy.BaseLM
    reflection: dspy.BaseLM  # model that writes new instructions (``gepa``)


def optimize(name: str, student: dspy.Module, plan: Plan) -> dspy.Module:
    """Return the student improved by an optimiser, whose output is not shown."""
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()), dspy.context(lm=plan.task):
        return OPTIMIZERS[name](student, plan)


def most_calls(name: str, train: int, validation: int, candidates: int) -> int:
    """Return the maximum number of calls of student and teacher, not counting repeated replies."""
    if name == "gepa":
        return (candidates + 2) * (validation + 7)
    return (candidates + 3) * validation + (candidates + 1) * train if name == "bootstrap" else 0


def have_replies(predictor: dspy.Predict, examples: Examples) -> bool:
    """Return whether each example has a reply, so that it can be shown in prompts."""
    return all(example.get(name) for example in examples for name in predictor.signature.output_fields)


def _labeled(student: dspy.Module, plan: Plan) -> dspy.Module:
    return dspy.LabeledFewShot(k=MOST_SHOWN).compile(student, trainset=list(plan.train))


def _bootstrap(student: dspy.Module, plan: Plan) -> dspy.Module:
    as_they_are = not plan.teacher and all(have_replies(predictor, plan.train) for predictor in student.predictors())
    optimizer = dspy.BootstrapFewShotWithRandomSearch(
        metric=lambda gold, pred, _=None: float(plan.metric(gold, pred).score),
        max_bootstrapped_demos=MOST_SHOWN,
        max_labeled_demos=MOST_SHOWN if as_they_are else 0,  # with a teacher, it makes all examples
        num_candidate_programs=plan.candidates,
        num_threads=plan.workers,
        max_errors=len(plan.train),
        metric_threshold=0.5,
    )
    return optimizer.compile(student, teacher=plan.teacher, trainset=list(plan.train), valset=list(plan.validation))


def _gepa(student: dspy.Module, plan: Plan) -> dspy.Module:
    optimizer = dspy.GEPA(
        metric=plan.metric,
        reflection_lm=plan.reflection,
        max_metric_calls=plan.candidates * (len(plan.validation) + 6),
        num_threads=plan.workers,
        seed=plan.seed,
    )
    return optimizer.compile(student, trainset=list(plan.train), valset=list(plan.validation))


OPTIMIZERS: dict[str, Callable[[dspy.Module, Plan], dspy.Module]] = {
    "labeled": _labeled,
    "bootstrap": _bootstrap,
    "gepa": _gepa,
}
"""The optimisers by name."""
