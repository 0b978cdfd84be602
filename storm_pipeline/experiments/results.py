"""From an experiment's folder to the values that its report is made from; nothing else is needed for it."""

from collections import Counter
from collections.abc import Sequence

from storm_pipeline.errors import RunError
from storm_pipeline.evaluation.reporting.results import ExperimentResults, Result
from storm_pipeline.experiments.config import ExperimentConfig
from storm_pipeline.experiments.facts import judged_in, measures_in
from storm_pipeline.experiments.store import ExperimentStore
from storm_pipeline.experiments.units import Unit
from storm_pipeline.experiments.work import hash_of
from storm_pipeline.journal import fingerprint


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
    units = [Unit(*unit) for unit in store.state["units"]]
    tried = [unit for unit in units if store.failure(unit) is not None]
    troubles: Counter[tuple[str, str]] = Counter()
    rows = tuple(_row(store, tuple(metrics), unit, troubles) for unit in tried)
    judged = tuple(found for name in metrics if (found := judged_in(metrics[name])))
    return ExperimentResults(
        config.title,
        rows,
        tuple(measure for name in metrics for measure in measures_in(metrics[name])),
        config.baseline,
        {**store.state["facts"], **_metrics(metrics)},
        judged,
        (*config.notes, *store.state["notes"], *_notes(len(units) - len(tried), troubles)),
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
