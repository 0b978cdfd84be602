"""From an experiment's folder to the values that its report is made from; nothing else is needed for it."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from storm_pipeline.errors import RunError
from storm_pipeline.evaluation.reporting.results import ExperimentResults, Result
from storm_pipeline.experiments.config import ExperimentConfig
from storm_pipeline.experiments.provenance import judged_in, measures_in
from storm_pipeline.experiments.store import ExperimentStore
from storm_pipeline.experiments.units import Unit
from storm_pipeline.experiments.work import hash_of
from storm_pipeline.run.journal import fingerprint

_PATH = re.compile(r"(?:\w+:)*(~?/[^/].*)", re.S)
"""A value that names a place on the machine, such as ``gguf:/models/mine.gguf``."""


def score_fingerprint(store: ExperimentStore, unit: Unit, metric: str) -> str:
    """What a score is given for: equal for an equal article, topic and metric with equal parameters."""
    known = store.state["metrics"][metric]
    return fingerprint(
        hash_of(store.article_folder(unit)), store.state["topics"].get(unit.topic), metric, known.get("parameters")
    )


def results_of(store: ExperimentStore) -> ExperimentResults:
    """What an experiment knows so far; articles that were not tried yet are left out, and told of in a note.

    Raises:
        RunError: the folder holds no experiment.
    """
    if not store.state:
        raise RunError(f"{store.folder} holds no experiment: give the folder that `storm experiment run` wrote")
    try:
        config = ExperimentConfig.model_validate(store.state["config"])
        metrics = {name: facts for name, facts in store.state["metrics"].items() if "measures" in facts}
    except (ValueError, KeyError) as error:
        raise RunError(f"{store.folder} was written by another version, whose report this one cannot make") from error
    short = _shortener(store, config)
    units = [Unit(*unit) for unit in store.state["units"]]
    tried = [unit for unit in units if store.failure(unit) is not None]
    troubles: Counter[tuple[str, str]] = Counter()
    rows = tuple(_row(store, tuple(metrics), unit, troubles) for unit in tried)
    judged = tuple(own for name in metrics for own in judged_in(metrics[name]))
    return ExperimentResults(
        config.title,
        tuple(replace(row, failure=short(row.failure)) for row in rows),
        tuple(measure for name in metrics for measure in measures_in(metrics[name])),
        config.baseline,
        {name: short(fact) for name, fact in {**store.state["facts"], **_metrics(metrics)}.items()},
        judged,
        tuple(map(short, (*config.notes, *store.state["notes"], *_notes(len(units) - len(tried), troubles)))),
    )


def _row(store: ExperimentStore, metrics: Sequence[str], unit: Unit, troubles: Counter[tuple[str, str]]) -> Result:
    values: dict[str, float | None] = {}
    for metric in metrics:
        scored = store.score(unit, metric, score_fingerprint(store, unit, metric))
        if scored and scored.failure:
            troubles[metric, scored.failure] += 1
        elif scored:
            values |= scored.values
    return Result(unit.method, unit.topic, unit.seed or 0, values, store.failure(unit) or "")


def _metrics(metrics: dict[str, dict[str, object]]) -> dict[str, str]:
    told = {}
    for name, facts in metrics.items():
        parameters = facts["parameters"]
        listed = (
            ", ".join(f"{key} {value}" for key, value in parameters.items()) if isinstance(parameters, dict) else ""
        )
        told[f"metric {name}"] = f"{facts['reference']}{'; ' + listed if listed else ''}"
    return told


def _notes(untried: int, troubles: Counter[tuple[str, str]]) -> list[str]:
    notes = [f"{untried} articles are still to be written: these are the results so far."] if untried else []
    return notes + [f"{metric} could not be computed for {n} articles: {why}" for (metric, why), n in troubles.items()]


def _shortener(store: ExperimentStore, config: ExperimentConfig) -> Callable[[str], str]:
    """Names files from the folder on that the experiment knows: where it lies is no business of a report's readers."""
    roots = sorted({str(root) for root in _roots(store, config)} - {"/"}, key=len, reverse=True)
    known = re.compile(rf"(?<![\w/])(?:{'|'.join(map(re.escape, roots))})(/|(?!\w))")
    return lambda text: known.sub(lambda found: "" if found[1] else Path(found[0]).name, text)


def _roots(store: ExperimentStore, config: ExperimentConfig) -> Iterator[Path]:
    """Folders and files that the experiment's messages may name."""
    yield from (store.folder.absolute(), *map(Path, store.state.get("places", ())), config.data.folder)
    yield from (folder for method in config.methods for folder in (method.recorded, method.imported) if folder)
    for given in (config.resources, config.settings, *(method.settings for method in config.methods)):
        for value in given.values():
            if found := _PATH.fullmatch(str(value)):
                yield Path(found[1]).expanduser()
