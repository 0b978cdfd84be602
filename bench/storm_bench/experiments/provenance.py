"""Provenance of an experiment, for repeating it: versions, models, prompts, metrics, judge calibrations."""

import os
import platform
import subprocess
from collections import Counter
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from storm_bench.calibration import known_calibration
from storm_bench.experiments import jobs
from storm_bench.experiments.config import ExperimentConfig
from storm_bench.experiments.config_tables import DataTable, MethodTable
from storm_bench.judges.base import ScoringJudge
from storm_bench.metrics.base import Measure, Metric
from storm_bench.metrics.resources import Resources
from storm_bench.reporting import NO_JUDGE, JudgedMeasures, judges_of
from storm_pipeline import MissingExtraError, SettingsError, StormError, __version__
from storm_pipeline.api import Programs, catalogue, fingerprint

_LIBRARIES = (
    "dspy litellm torch sentence-transformers transformers faiss-cpu bm25s xllamacpp numpy scipy nltk rouge-score "
    "sacrebleu spacy flair"
).split()
_EARLIER_SEPARATOR = "; earlier "
_MEASURES = TypeAdapter(tuple[Measure, ...])
_JUDGED = TypeAdapter(tuple[JudgedMeasures, ...])


def provenance_of(config: ExperimentConfig, before: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts about this session; where an earlier session differed, both values are listed.

    ``before``: ``experiment.json`` as earlier sessions left it.
    """
    models = {method.label: config.settings_of(method) for method in config.methods if method.recipe}
    named = {f"{label}: {name}" for label, settings in models.items() for name in settings.models}
    plain = {name.partition(": ")[2] for name in named}
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    facts = {
        "storm-pipeline": f"{__version__}{_commit()}",
        "Python": f"{platform.python_version()} on {platform.system()} {platform.machine()}, {cores} cores",
        "libraries": ", ".join(f"{name} {found}" for name in _LIBRARIES if (found := _version(name))),
        "models": ", ".join(sorted(plain if len(plain) <= 1 else named)) or "none",
        "pinned models": ", ".join(f"{asset.name} {fingerprint(dict(asset.files))[:8]}" for asset in catalogue()),
        "prompts": ", ".join(f"{name} {digest[:8]}" for name, digest in Programs().fingerprints().items()),
        "settings": _settings(config),
        "data": _data(config.data),
        "search": _searches(config),
        "seeds": ", ".join(map(str, config.seeds)) or "none",
        "description": config.fingerprint,
    }
    earlier: Mapping[str, str] = before.get("facts", {})
    return {name: _with_earlier(earlier.get(name, ""), now) for name, now in facts.items()}


def metric_facts(config: ExperimentConfig, cache: Path, before: Mapping[str, Any]) -> dict[str, Any]:
    """Return metric → its measures, parameters, reference and judges, as JSON values.

    Opens every metric before anything is paid for. A metric that cannot be opened has its reason under ``missing``,
    beside the facts of earlier sessions. ``before``: ``experiment.json`` as earlier sessions left it. Raises
    SettingsError: a metric's judge, tagger or embedder is misconfigured.
    """
    earlier: Mapping[str, Any] = before.get("metrics", {})
    now = {name: _metric_facts(name, config, cache) for name in config.metrics}
    return {name: earlier.get(name, {}) | facts if "missing" in facts else facts for name, facts in now.items()}


def measures_in(facts: Mapping[str, Any]) -> tuple[Measure, ...]:
    """Return the measures in one metric's :func:`metric_facts`."""
    return _MEASURES.validate_python(facts["measures"])


def judged_in(facts: Mapping[str, Any]) -> tuple[JudgedMeasures, ...]:
    """Return the judges in one metric's :func:`metric_facts`."""
    return _JUDGED.validate_python(facts["judged"])


def is_unjudged(facts: Mapping[str, Any]) -> bool:
    """Return whether nobody judges any measure in one metric's :func:`metric_facts`: nothing is to be scored then."""
    of_nobody = {name for own in judged_in(facts) if own.judge == NO_JUDGE for name in own.measures}
    return {measure.name for measure in measures_in(facts)} <= of_nobody


def _metric_facts(name: str, config: ExperimentConfig, cache: Path) -> dict[str, Any]:
    try:
        metric = jobs.metric_of(config, cache, name)
        rests_on = _judged(metric, jobs.resources_of(config, cache))
    except StormError as error:
        if isinstance(error, SettingsError) and not isinstance(error, MissingExtraError):
            raise  # a wrong setting must be fixed, not skipped
        return {"missing": str(error)}
    return {
        "measures": _MEASURES.dump_python(tuple(metric.measures), mode="json"),
        "parameters": dict(metric.parameters),
        "reference": metric.reference,
        "judged": _JUDGED.dump_python(rests_on, mode="json"),
    }


def _judged(metric: Metric, resources: Resources) -> tuple[JudgedMeasures, ...]:
    kinds = dict(metric.rests_on)
    judges: dict[str, ScoringJudge] = {}
    if "judge" in kinds:
        judges["judge"] = resources.support_judge
    if "screen" in kinds:
        judges["screen"] = resources.statement_screen
    found = judges_of(metric, {kind: known_calibration(judge) for kind, judge in judges.items()})
    if "judge" not in kinds or resources.named_judge:
        return found
    # A model that classes unsupported sentences rests on the screen too.
    return tuple(JudgedMeasures(own.measures, NO_JUDGE) for own in found)


def _data(data: DataTable) -> str:
    topics = f"{len(data.ids)} topics by id" if data.ids else "core topics" if data.core else "all topics"
    return f"{data.set}, {topics}{f', the first {data.topics}' if data.topics else ''}"


def _searches(config: ExperimentConfig) -> str:
    """Return the search of most methods, then the methods that differ."""
    searches = {method.label: _search(config, method) for method in config.methods if method.recipe}
    usual = Counter(searches.values()).most_common(1)[0][0] if searches else "none"
    return "; ".join([usual, *(f"{label}: {search}" for label, search in searches.items() if search != usual)])


def _search(config: ExperimentConfig, method: MethodTable) -> str:
    search = config.search_of(method)
    if search.corpus == "engine":
        return f"engine {config.settings_of(method).search}"
    facts = f"{search.corpus} documents, {search.sources}, ranked by {search.ranker}"
    return f"{facts}, at most {search.passages} chunks of each"


def _settings(config: ExperimentConfig) -> str:
    own = {method.label: _settings_text(method.settings) for method in config.methods}
    parts = [_settings_text(config.settings), *(f"{label}: {given}" for label, given in own.items() if given)]
    return "; ".join(filter(None, parts)) or "defaults"


def _settings_text(settings: Mapping[str, Any]) -> str:
    """Return settings as text, without the engine, which is listed under ``search``."""
    return ", ".join(f"{name} {value}" for name, value in settings.items() if name != "search")


def _with_earlier(earlier: str, now: str) -> str:
    others = [part for part in earlier.split(_EARLIER_SEPARATOR) if part and part != now]
    return _EARLIER_SEPARATOR.join([now, *others])


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _commit() -> str:
    """Return the commit of the checkout that contains this package; empty outside a checkout."""
    root = Path(__file__).resolve().parents[3]
    if not (root / ".git").exists():
        return ""
    try:
        found = subprocess.run(  # noqa: S603 - a fixed command
            ["git", "-C", str(root), "describe", "--always", "--dirty", "--exclude=*"],  # noqa: S607
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
            env={name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ},
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return f" at commit {found.stdout.strip()}"
