"""The configuration of an experiment (methods, topics, metrics): read from a TOML file and validated."""

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

from pydantic import Field, TypeAdapter, ValidationError, field_validator, model_validator

from storm_bench.errors import first_problem
from storm_bench.experiments.config_tables import (
    ConfigTable,
    DataTable,
    MethodTable,
    PublishedTable,
    SearchTable,
    SizeTable,
    VariantTable,
    absolute,
    check_settings,
)
from storm_bench.experiments.own_code import is_own
from storm_bench.metrics.registry import METRICS
from storm_bench.metrics.resources import Resources
from storm_pipeline import Settings, SettingsError
from storm_pipeline.api import fingerprint, read_toml, without_secrets
from storm_pipeline.recipes import OUTLINES, for_recipe

_RESOURCES = frozenset(field.name for field in dataclasses.fields(Resources)) - {"cache", "settings", "spending"}
_OF_HUMANS = frozenset({"rubric", "wikigen_quality", "shape"})
"""Metrics of the human article: they neither compare it with itself nor judge its citations (WikiGenBench v2, 5.1)."""
_RESOURCES_ADAPTER = TypeAdapter(Resources)
C = TypeVar("C", bound="ExperimentConfig")
CAPS = ("max_cost", "max_tokens", "max_minutes")
"""Settings that limit what a run, or all judges, may spend."""


class ExperimentConfig(ConfigTable):
    """A whole experiment."""

    title: str = Field(min_length=1)  # title of the report
    writes: Literal["article", "outline"] = "article"  # whole articles, or outlines only
    seeds: tuple[int, ...] = ()  # one run per seed; empty: one run without a seed
    baseline: str  # the method that the others are compared with
    metrics: tuple[str, ...] = Field(min_length=1)  # names, see :data:`storm_bench.metrics.registry.METRICS`
    data: DataTable  # the topics
    search: SearchTable = SearchTable()  # default search of all methods
    settings: Mapping[str, Any] = {}  # settings of all runs, see :class:`storm_pipeline.settings.Settings`
    resources: Mapping[str, Any] = {}  # resources of the metrics, see :class:`storm_bench.metrics.resources.Resources`
    methods: tuple[MethodTable, ...] = Field(min_length=1)  # the compared methods
    sizes: Mapping[str, SizeTable] = {}  # name → size
    notes: tuple[str, ...] = ()  # sentences shown at the top of the report
    published: PublishedTable = PublishedTable()  # what the paper prints, shown below our means
    # where modules of the user's own recipes and metrics are looked for first; None if none may be loaded. No file sets
    # it
    code: Path | None = None
    caps: Mapping[str, Any] = {}  # what the user's configuration allows an article, and all judges. No file sets it
    spending: Path | None = None  # file that keeps what judges have spent. No file sets it

    @field_validator("resources")
    @classmethod
    def _check_resources(cls, resources: Mapping[str, Any]) -> Mapping[str, Any]:
        if unknown := sorted(resources.keys() - _RESOURCES):
            raise ValueError(f"unknown resource {unknown[0]!r}: choose one of {', '.join(sorted(_RESOURCES))}")
        try:
            _RESOURCES_ADAPTER.validate_python(resources)
        except ValidationError as error:
            first = error.errors()[0]
            raise ValueError(f"invalid {first['loc'][0]!r} {first['input']!r}: {first['msg'].lower()}") from error
        return resources

    @model_validator(mode="after")
    def _check(self) -> Self:
        names = [method.label for method in self.methods]
        must_be_unique: tuple[tuple[str, Sequence[object]], ...] = (
            ("methods", [name.casefold() for name in names]),
            ("metrics", self.metrics),
            ("seeds", self.seeds),
        )
        for kind, values in must_be_unique:
            if duplicates := [value for value, times in Counter(values).items() if times > 1]:
                raise ValueError(f"duplicate {duplicates[0]!r} in {kind}: remove one, or give them different names")
        if self.baseline not in names:
            raise ValueError(f"the baseline {self.baseline!r} is not one of the methods {', '.join(names)}")
        own = [name for name in (*self.metrics, *(method.recipe for method in self.methods)) if is_own(name)]
        if own and self.code is None:
            raise ValueError(f"{own[0]!r} runs code: read its module, then allow it with --allow-code")
        if unknown := [name for name in self.metrics if name not in METRICS and not is_own(name)]:
            raise ValueError(f"unknown metric {unknown[0]!r}: choose one of {', '.join(METRICS)}")
        if self.writes == "outline" and (bad := [m.label for m in self.methods if m.recipe not in OUTLINES]):
            raise ValueError(f"{bad[0]!r} does not write an outline: choose one of {', '.join(OUTLINES)}")
        check_settings(self.settings)
        return self

    def method(self, name: str) -> MethodTable:
        """Return the method with this label."""
        return next(method for method in self.methods if method.label == name)

    def metrics_of(self, method: MethodTable) -> tuple[str, ...]:
        """Return the metrics of a method's articles, in order: of the human article only those that can judge it."""
        return tuple(name for name in self.metrics if not method.human or name in _OF_HUMANS)

    def search_of(self, method: MethodTable) -> SearchTable:
        """Return the search configuration of a method's runs."""
        return method.search or self.search

    def settings_of(self, method: MethodTable) -> Settings:
        """Return the settings of a method's runs, without those that depend on topic or seed.

        Raises SettingsError: a value is invalid.
        """
        return for_recipe(Settings.build({**self.settings, **method.settings}), method.recipe or "")

    def sized(self, name: str) -> "ExperimentConfig":
        """Return this experiment at one of its sizes; ``full``: unchanged.

        Raises SettingsError: the size is unknown or does not match the experiment.
        """
        if name == "full":
            return self
        if name not in self.sizes:
            raise SettingsError(f"unknown size {name!r}: choose one of {', '.join(['full', *self.sizes])}")
        size = self.sizes[name]
        if unknown := set(size.methods or ()) - {method.label for method in self.methods}:
            raise SettingsError(f"size {name!r} names an unknown method: {min(unknown)!r}")
        kept = [method for method in self.methods if size.methods is None or method.label in size.methods]
        labels = [method.label for method in kept]
        return self._changed(
            methods=[method.model_dump() for method in kept],
            baseline=self.baseline if self.baseline in labels else labels[0],
            metrics=size.metrics or self.metrics,
            settings={**self.settings, **size.settings},
            data={**self.data.model_dump(), "topics": size.topics or self.data.topics},
            sizes={},
        )

    def with_overrides(
        self, *, topics: int | None = None, settings: Mapping[str, Any] | None = None
    ) -> "ExperimentConfig":
        """Return this experiment with another number of topics, and with settings that override its and its methods'.

        Raises SettingsError: a setting is unknown or managed by the experiment.
        """
        overrides = dict(settings or {})
        seeds = (overrides.pop("seed"),) if "seed" in overrides else self.seeds
        kept = [{name: value for name, value in m.settings.items() if name not in overrides} for m in self.methods]
        return self._changed(
            settings={**self.settings, **overrides},
            methods=[m.model_dump() | {"settings": own} for m, own in zip(self.methods, kept, strict=True)],
            seeds=seeds,
            data={**self.data.model_dump(), "topics": topics or self.data.topics},
        )

    def _changed(self, **values: Any) -> "ExperimentConfig":
        return _validated(ExperimentConfig, {**self.model_dump(), **values})

    def with_judges(self, **judges: str | None) -> "ExperimentConfig":
        """Return this experiment with other judges: ``judge`` (support), ``judge_lm`` (grades); None: unchanged."""
        given = {name: value for name, value in judges.items() if value is not None}
        for name, value in given.items():
            try:
                without_secrets(value)
            except ValueError as error:
                raise SettingsError(f"{name}: {error}") from error
        return self.model_copy(update={"resources": {**self.resources, **given}})

    def resolved(self, engine: str, folder: Path) -> "ExperimentConfig":
        """Return this experiment for any process: with absolute paths, its folder's too, and an engine for ``auto``."""

        def with_engine(settings: Mapping[str, Any]) -> Mapping[str, Any]:
            return {**settings, "search": engine} if settings.get("search") == "auto" else settings

        def with_places(method: MethodTable) -> MethodTable:
            places = {name: absolute(path) for name in ("recorded", "imported") if (path := getattr(method, name))}
            return method.model_copy(update={"settings": with_engine(method.settings), **places})

        data = self.data.model_copy(update={"path": self.data.folder.absolute()})
        settings = with_engine({"search": "auto", **self.settings})
        methods, spending = tuple(map(with_places, self.methods)), folder.absolute() / "judging.json"
        return self.model_copy(update={"data": data, "methods": methods, "settings": settings, "spending": spending})

    @property
    def fingerprint(self) -> str:
        """Hash of the configuration."""
        return fingerprint(self.model_dump(mode="json", exclude={"code", "caps", "spending"}))


class _ExperimentFile(ExperimentConfig):
    """An experiment as written in a file."""

    variants: tuple[VariantTable, ...] = ()  # each adds a row for every method whose articles it can change

    def expanded(self) -> Mapping[str, Any]:
        """Return the experiment with the rows of its methods and variants."""
        rows = [variant.of(method) for variant in self.variants for method in self.methods if variant.changes(method)]
        methods = [method.model_dump() for method in (*self.methods, *rows)]
        return self.model_dump(exclude={"variants"}) | {"methods": methods}


def read_config(path: Path | str, *, allow_code: bool = False) -> ExperimentConfig:
    """Read an experiment's configuration file.

    ``allow_code``: let it name recipes and metrics as ``module:name``, whose code then runs; modules are looked for
    beside the file first. Raises SettingsError: the file cannot be read, is not TOML, or has an invalid value; the
    message names the location.
    """
    path = Path(path)
    try:
        values = read_toml(path)
    except OSError as error:
        raise SettingsError(f"cannot read {path}: {error.strerror}; name an experiment's .toml file") from error
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{path} is not valid TOML: {error}") from error
    place = f"{path}: "
    if "code" in values:
        raise SettingsError(f"{place}code: no file allows code to be run; --allow-code does")
    if known := values.keys() & {"caps", "spending"}:
        raise SettingsError(f"{place}{min(known)}: set {', '.join(CAPS)} under settings")
    values |= {"code": path.parent.absolute()} if allow_code else {}
    config = _validated(ExperimentConfig, _validated(_ExperimentFile, values, place).expanded(), place)
    try:
        methods = tuple(method.with_articles_beside(path.parent) for method in config.methods)
    except (OSError, RuntimeError) as error:  # a name that is too long, a user who does not exist
        why = getattr(error, "strerror", None) or error
        raise SettingsError(f"{place}methods: a folder cannot be looked for: {why}") from error
    return config.model_copy(update={"methods": methods})


def _validated(kind: type[C], values: Mapping[str, Any], place: str = "") -> C:
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        where, message = first_problem(error, "the experiment")
        raise SettingsError(f"{place}{where}: {message}") from error
