"""The configuration of an experiment (methods, topics, metrics): read from a TOML file and validated."""

import dataclasses
import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self, overload

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator, model_validator

from storm_pipeline.configuration.addresses import without_secrets
from storm_pipeline.errors import SettingsError
from storm_pipeline.evaluation.datasets.closed_corpus import Sources
from storm_pipeline.evaluation.metrics.registry import METRICS
from storm_pipeline.evaluation.metrics.resources import Resources
from storm_pipeline.files import read_bounded
from storm_pipeline.recipes import OUTLINES, RECIPES
from storm_pipeline.run.journal import fingerprint
from storm_pipeline.settings import Settings

DATA = "STORM_DATA"
"""Environment variable: the folder that contains the data sets."""
_MANAGED = frozenset({"out", "cache", "exclude_urls", "exclude_titles", "seed"})
"""Settings that the experiment sets itself."""
_RESOURCES = frozenset(field.name for field in dataclasses.fields(Resources)) - {"cache", "settings"}
_OF_HUMANS = frozenset({"rubric", "wikigen_quality", "shape"})
"""Metrics of the human article: they neither compare it with itself nor judge its citations (WikiGenBench v2, 5.1)."""
_FOLDER_NAME = r"^(?:[^/\\:.\x00-\x1f][^/\\:\x00-\x1f]*)?$"
"""A valid folder name, or an empty string."""
_MAX_BYTES = 1_000_000
_RESOURCES_ADAPTER = TypeAdapter(Resources)


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


class DataTable(_Table):
    """The topics.

    Attributes:
        set: which data set.
        path: its folder; relative paths are resolved against ``STORM_DATA`` if that is set.
        core: WikiGenBench only: use only the topics marked ``in_core`` in its manifest.
        topics: use only the first this many; None: all.
        ids: use only these topics, in this order.
    """

    set: Literal["freshwiki", "wikigenbench", "wiki_live"]
    path: Path
    core: bool = False
    topics: int | None = Field(default=None, ge=1)
    ids: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """Absolute path of the data set."""
        return _absolute(self.path)


class SearchTable(_Table):
    """What runs search.

    Attributes:
        corpus: ``engine``: the engine in the settings; ``topic``: the topic's documents; ``pooled``: the documents
            of all topics; ``article``: the human article itself, an upper bound that WikiGenBen calls golden.
        sources: which documents of the corpus: cited by editors, found by search, or both.
        ranker: ranks the corpus.
        passages: maximum passages per document in one search result.
    """

    corpus: Literal["engine", "topic", "pooled", "article"] = "engine"
    sources: Sources = "mixed"
    ranker: Literal["random", "tfidf", "bm25", "dense", "golden"] = "bm25"
    passages: int = Field(default=3, ge=1)


class MethodTable(_Table):
    """A row of the tables: a recipe with its own settings, or articles written by another system.

    Attributes:
        name: label of the row; default: the recipe.
        recipe: one of :data:`storm_pipeline.recipes.RECIPES`.
        settings: overrides of the experiment's settings.
        search: overrides the experiment's search.
        recorded: folder of official STORM runs to score: relative to the folder of the experiment's file if it exists
            there, else resolved like a data set's path.
        polished: score the polished articles of those runs.
        imported: folder of articles, one per topic, see :mod:`storm_pipeline.evaluation.articles.folder`; resolved like
            ``recorded``.
        system: a system whose articles are part of the data set; topics it did not write about are skipped.
        human: the human article itself, scored only by what does not compare it with itself or judge citations.
    """

    name: str = Field("", pattern=_FOLDER_NAME)
    recipe: str = ""
    settings: Mapping[str, Any] = {}
    search: SearchTable | None = None
    recorded: Path | None = None
    polished: bool = False
    imported: Path | None = None
    system: str = Field("", pattern=_FOLDER_NAME)
    human: bool = False

    @model_validator(mode="after")
    def _check(self) -> Self:
        if sum(map(bool, (self.recipe, self.recorded, self.imported, self.system, self.human))) != 1:
            raise ValueError("set exactly one of: recipe, recorded, imported, system, human")
        if self.recipe and self.recipe not in RECIPES:
            raise ValueError(f"unknown recipe {self.recipe!r}: choose one of {', '.join(RECIPES)}")
        if (self.recorded or self.imported) and not self.name:
            raise ValueError("methods with recorded or imported articles need a name")
        _check_settings(self.settings)
        return self

    @property
    def label(self) -> str:
        """Its label in the tables."""
        return self.name or self.recipe or self.system or "human article"


class VariantTable(_Table):
    """Settings under which every method with a recipe is written once more, as rows of their own.

    What a comparison has to vary for all methods alike: a model, or what becomes of unsupported sentences.

    Attributes:
        name: added to the methods' labels: ``storm, NAME``.
        settings: overrides of the experiment's and the methods' settings.
    """

    name: str = Field(min_length=1, pattern=_FOLDER_NAME)
    settings: Mapping[str, Any] = Field(min_length=1)

    @field_validator("settings")
    @classmethod
    def _check(cls, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        _check_settings(settings)
        return settings

    def of(self, method: MethodTable) -> MethodTable:
        """The method under this variant's settings."""
        label = f"{method.label}, {self.name}"
        return method.model_copy(update={"name": label, "settings": {**method.settings, **self.settings}})


class SizeTable(_Table):
    """A reduced size of the experiment; values given here override the experiment's.

    Attributes:
        topics: number of topics.
        methods: names of the methods to keep.
        metrics: names of the metrics to use.
        settings: overrides of the experiment's settings.
    """

    topics: int | None = Field(default=None, ge=1)
    methods: tuple[str, ...] | None = Field(default=None, min_length=1)
    metrics: tuple[str, ...] | None = Field(default=None, min_length=1)
    settings: Mapping[str, Any] = {}


class ExperimentConfig(_Table):
    """A whole experiment.

    Attributes:
        title: title of the report.
        writes: whole articles, or outlines only.
        seeds: one run per seed; empty: one run without a seed.
        baseline: the method that the others are compared with.
        metrics: names, see :data:`storm_pipeline.evaluation.metrics.registry.METRICS`.
        data: the topics.
        search: default search of all methods.
        settings: settings of all runs, see :class:`storm_pipeline.settings.Settings`.
        resources: resources of the metrics, see :class:`storm_pipeline.evaluation.metrics.resources.Resources`.
        methods: the compared methods.
        sizes: name → size.
        notes: sentences shown at the top of the report.
    """

    title: str = Field(min_length=1)
    writes: Literal["article", "outline"] = "article"
    seeds: tuple[int, ...] = ()
    baseline: str
    metrics: tuple[str, ...] = Field(min_length=1)
    data: DataTable
    search: SearchTable = SearchTable()
    settings: Mapping[str, Any] = {}
    resources: Mapping[str, Any] = {}
    methods: tuple[MethodTable, ...] = Field(min_length=1)
    sizes: Mapping[str, SizeTable] = {}
    notes: tuple[str, ...] = ()

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
            if duplicates := [value for value in values if values.count(value) > 1]:
                raise ValueError(f"duplicate {duplicates[0]!r} in {kind}: remove one, or give them different names")
        if self.baseline not in names:
            raise ValueError(f"the baseline {self.baseline!r} is not one of the methods {', '.join(names)}")
        if unknown := [name for name in self.metrics if name not in METRICS]:
            raise ValueError(f"unknown metric {unknown[0]!r}: choose one of {', '.join(METRICS)}")
        if self.writes == "outline" and (bad := [m.label for m in self.methods if m.recipe not in OUTLINES]):
            raise ValueError(f"{bad[0]!r} does not write an outline: choose one of {', '.join(OUTLINES)}")
        _check_settings(self.settings)
        return self

    def method(self, name: str) -> MethodTable:
        """The method with this label."""
        return next(method for method in self.methods if method.label == name)

    def metrics_of(self, method: MethodTable) -> tuple[str, ...]:
        """The metrics of a method's articles, in order: of the human article only those that can judge it."""
        return tuple(name for name in self.metrics if not method.human or name in _OF_HUMANS)

    def search_of(self, method: MethodTable) -> SearchTable:
        """The search configuration of a method's runs."""
        return method.search or self.search

    def settings_of(self, method: MethodTable) -> Settings:
        """The settings of a method's runs, without those that depend on topic or seed.

        Raises:
            SettingsError: a value is invalid.
        """
        return Settings.build({**self.settings, **method.settings})

    def sized(self, name: str) -> "ExperimentConfig":
        """This experiment at one of its sizes; ``full`` returns it unchanged.

        Raises:
            SettingsError: the size is unknown or does not match the experiment.
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
        return _validated(
            self.model_dump()
            | {
                "methods": [method.model_dump() for method in kept],
                "baseline": self.baseline if self.baseline in labels else labels[0],
                "metrics": size.metrics or self.metrics,
                "settings": {**self.settings, **size.settings},
                "data": {**self.data.model_dump(), "topics": size.topics or self.data.topics},
                "sizes": {},
            }
        )

    def with_overrides(
        self, *, topics: int | None = None, settings: Mapping[str, Any] | None = None
    ) -> "ExperimentConfig":
        """This experiment with another number of topics, and with settings that override its own and its methods'.

        Raises:
            SettingsError: a setting is unknown or managed by the experiment.
        """
        overrides = dict(settings or {})
        seeds = (overrides.pop("seed"),) if "seed" in overrides else self.seeds
        kept = [{name: value for name, value in m.settings.items() if name not in overrides} for m in self.methods]
        methods = [m.model_dump() | {"settings": own} for m, own in zip(self.methods, kept, strict=True)]
        return _validated(
            self.model_dump()
            | {
                "settings": {**self.settings, **overrides},
                "methods": methods,
                "seeds": seeds,
                "data": {**self.data.model_dump(), "topics": topics or self.data.topics},
            }
        )

    def with_judges(self, **judges: str | None) -> "ExperimentConfig":
        """This experiment with other judges: ``judge`` (support), ``judge_lm`` (grades); None keeps the current one."""
        given = {name: value for name, value in judges.items() if value is not None}
        for name, value in given.items():
            try:
                without_secrets(value)
            except ValueError as error:
                raise SettingsError(f"{name}: {error}") from error
        return self.model_copy(update={"resources": {**self.resources, **given}})

    def resolved(self, engine: str) -> "ExperimentConfig":
        """This experiment as any process can read it: absolute paths, and the engine's name in place of ``auto``."""

        def with_engine(settings: Mapping[str, Any]) -> Mapping[str, Any]:
            return {**settings, "search": engine} if settings.get("search") == "auto" else settings

        methods = [
            method.model_copy(
                update={
                    "settings": with_engine(method.settings),
                    "recorded": _absolute(method.recorded) if method.recorded else None,
                    "imported": _absolute(method.imported) if method.imported else None,
                }
            )
            for method in self.methods
        ]
        return self.model_copy(
            update={
                "data": self.data.model_copy(update={"path": self.data.folder.absolute()}),
                "methods": tuple(methods),
                "settings": with_engine({"search": "auto", **self.settings}),
            }
        )

    @property
    def fingerprint(self) -> str:
        """Hash of the configuration."""
        return fingerprint(self.model_dump(mode="json"))


class _ExperimentFile(ExperimentConfig):
    """An experiment as written in a file.

    Attributes:
        variants: each adds a row for every method with a recipe.
    """

    variants: tuple[VariantTable, ...] = ()

    def expanded(self) -> Mapping[str, Any]:
        """The experiment with a row for every method and variant."""
        rows = [variant.of(method) for variant in self.variants for method in self.methods if method.recipe]
        methods = [method.model_dump() for method in (*self.methods, *rows)]
        return self.model_dump(exclude={"variants"}) | {"methods": methods}


def read_config(path: Path | str) -> ExperimentConfig:
    """Read an experiment's configuration file.

    Raises:
        SettingsError: the file cannot be read, is not TOML, or has an invalid value; the message names the location.
    """
    path = Path(path)
    try:
        values = tomllib.loads(read_bounded(path, _MAX_BYTES).decode("utf-8"))
    except OSError as error:
        raise SettingsError(f"cannot read {path}: {error.strerror}; name an experiment's .toml file") from error
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{path} is not valid TOML: {error}") from error
    place = f"{path}: "
    config = _validated(_validated(values, place, _ExperimentFile).expanded(), place)
    return config.model_copy(update={"methods": tuple(_located(method, path.parent) for method in config.methods)})


@overload
def _validated(values: Mapping[str, Any], place: str = "") -> ExperimentConfig: ...
@overload
def _validated(values: Mapping[str, Any], place: str, kind: type[_ExperimentFile]) -> _ExperimentFile: ...
def _validated(
    values: Mapping[str, Any], place: str = "", kind: type[ExperimentConfig] = ExperimentConfig
) -> ExperimentConfig:
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the experiment"
        message = first["msg"].removeprefix("Value error, ")
        raise SettingsError(f"{place}{where}: {message}") from error


def _located(method: MethodTable, folder: Path) -> MethodTable:
    """The method with absolute paths to the articles that lie beside the experiment's file."""
    given = {name: getattr(method, name) for name in ("recorded", "imported")}
    beside = {name: folder.absolute() / path.expanduser() for name, path in given.items() if path}
    return method.model_copy(update={name: path for name, path in beside.items() if path.is_dir()})


def _absolute(path: Path) -> Path:
    """Resolve a path against ``STORM_DATA`` unless it is absolute."""
    return (Path(os.environ.get(DATA, "")).expanduser() / path.expanduser()).absolute()


def _check_settings(settings: Mapping[str, Any]) -> None:
    for name, value in settings.items():
        if isinstance(value, str):
            without_secrets(value)
        if name in _MANAGED:
            raise ValueError(f"the setting {name!r} is managed by the experiment: remove it")
        if name not in Settings.model_fields:
            raise ValueError(f"unknown setting {name!r}")
