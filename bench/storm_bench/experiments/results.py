"""Collects an experiment's results from its folder alone; the report is made from them."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from storm_bench.experiments.config import ExperimentConfig
from storm_bench.experiments.experiment_folder import ExperimentStore
from storm_bench.experiments.jobs import article_hash, load_article
from storm_bench.experiments.provenance import judged_in, measures_in
from storm_bench.experiments.units import Unit
from storm_bench.reporting.results_file import NO_JUDGE, WORDS_ASKED, ExperimentResults, Result
from storm_pipeline import Article, RunError
from storm_pipeline.api import fingerprint

_PATH = re.compile(r"(?:\w+:)*(~?/[^/].*)", re.S)  # a setting with a local path, such as ``gguf:/models/mine.gguf``


def score_fingerprint(store: ExperimentStore, unit: Unit, metric: str) -> str:
    """Hash of what a score depends on: article, topic, metric and its parameters."""
    known = store.state["metrics"][metric]
    return fingerprint(
        article_hash(store.article_folder(unit)), store.state["topics"].get(unit.topic), metric, known.get("parameters")
    )


def results_of(store: ExperimentStore) -> ExperimentResults:
    """Return the results so far; articles not attempted yet are left out and counted in a note.

    Raises RunError: the folder holds no experiment, or one whose files have another form.
    """
    if not store.state:
        raise RunError(f"{store.folder} holds no experiment: give the folder that `storm experiment run` wrote")
    try:
        return _results_of(store)
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
        raise RunError(
            f"{store.folder} is damaged, or was written by an incompatible version; make the report with that one"
        ) from error


def _results_of(store: ExperimentStore) -> ExperimentResults:
    config = ExperimentConfig.model_validate(store.state["config"])
    metrics = {name: facts for name, facts in store.state["metrics"].items() if "measures" in facts}
    shorten = _path_shortener(store, config)
    units = [Unit(*unit) for unit in store.state["units"]]
    if len(set(units)) < len(units):
        raise ValueError("a unit twice")
    attempted = [unit for unit in units if store.failure(unit) is not None]
    failures: Counter[tuple[str, str]] = Counter()
    results = tuple(_result(store, tuple(metrics), unit, failures) for unit in attempted)
    dropped = _dropped_citations(store, config, [unit for unit in attempted if not store.failure(unit)])
    asked = (WORDS_ASKED,) if any(WORDS_ASKED.name in row.values for row in results) else ()
    judged = tuple(own for name in metrics for own in judged_in(metrics[name]))
    unjudged = {name for own in judged if own.judge == NO_JUDGE for name in own.measures}
    notes = (*config.notes, *store.state["notes"], *_notes(len(units) - len(attempted), failures), *dropped)
    return ExperimentResults(
        config.title,
        tuple(
            replace(
                row,
                failure=shorten(row.failure),
                values={name: value for name, value in row.values.items() if name not in unjudged},
            )
            for row in results
        ),
        (*(measure for name in metrics for measure in measures_in(metrics[name])), *asked),
        config.baseline,
        {name: shorten(fact) for name, fact in {**store.state["facts"], **_metrics(metrics)}.items()},
        judged,
        tuple(map(shorten, notes)),
        config.published.values,
        config.published.source,
    )


def _result(store: ExperimentStore, metrics: Sequence[str], unit: Unit, failures: Counter[tuple[str, str]]) -> Result:
    values: dict[str, float | None] = {}
    for metric in (name for name in metrics if store.is_scored(unit, name)):
        scored = store.score(unit, metric, score_fingerprint(store, unit, metric))
        if scored and scored.failure:
            failures[metric, scored.failure] += 1
        elif scored:
            values |= scored.values
    if words := store.words_asked(unit):
        values[WORDS_ASKED.name] = words
    return Result(unit.method, unit.topic, unit.seed or 0, values, store.failure(unit) or "")


def _metrics(metrics: dict[str, dict[str, object]]) -> dict[str, str]:
    descriptions = {}
    for name, facts in metrics.items():
        parameters = facts["parameters"]
        listed = (
            ", ".join(f"{key} {value}" for key, value in parameters.items()) if isinstance(parameters, dict) else ""
        )
        descriptions[f"metric {name}"] = f"{facts['reference']}{'; ' + listed if listed else ''}"
    return descriptions


def _notes(unattempted: int, failures: Counter[tuple[str, str]]) -> list[str]:
    notes = [f"{unattempted} articles are still to be written: these are the results so far."] if unattempted else []
    return notes + [f"{metric} could not be computed for {n} articles: {why}" for (metric, why), n in failures.items()]


def _dropped_citations(store: ExperimentStore, config: ExperimentConfig, written: Sequence[Unit]) -> Iterator[str]:
    """Yield how many citations of articles written elsewhere lead to no text, by method."""
    for method in config.methods:
        if not (method.imported or method.recorded or method.system):
            continue
        own = (store.article_folder(unit) for unit in written if unit.method == method.label)
        articles = [article for folder in own if (article := _article(folder))]
        unavailable = sum(article.report.unavailable_citations for article in articles)
        invented = sum(article.report.invented_citations for article in articles)
        kept = sum(len(sentence.citations) for article in articles for sentence in article.sentences())
        dropped = ((unavailable, "of pages whose text is not available"), (invented, "that name no source"))
        if reasons := " and ".join(f"{number} {why}" for number, why in dropped if number):
            total = kept + unavailable + invented
            yield f"{method.label}: {unavailable + invented} of {total} citations were dropped, {reasons}."


def _article(folder: Path) -> Article | None:
    """Return the article in a folder; None if it is damaged, which its scores report."""
    try:
        return load_article(folder)
    except RunError:
        return None


def _path_shortener(store: ExperimentStore, config: ExperimentConfig) -> Callable[[str], str]:
    """Return a function that makes known paths relative, so that reports do not reveal paths of this machine."""
    first = [*_known_paths(store, config)][:100]  # every text is searched for each
    roots = sorted({str(root) for root in first} - {"/"}, key=len, reverse=True)
    known = re.compile(rf"(?<![\w/])(?:{'|'.join(map(re.escape, roots))})(/|(?!\w))")
    return lambda text: known.sub(lambda found: "" if found[1] else Path(found[0]).name, text)


def _known_paths(store: ExperimentStore, config: ExperimentConfig) -> Iterator[Path]:
    """Yield folders and files that the experiment's messages may mention."""
    yield from (store.folder.absolute(), *map(Path, store.state.get("places", ())[:2]), config.data.folder)
    yield from (folder for method in config.methods for folder in (method.recorded, method.imported) if folder)
    for given in (config.resources, config.settings, *(method.settings for method in config.methods)):
        for value in given.values():
            if found := _PATH.fullmatch(str(value)):
                yield Path(found[1]).expanduser()
