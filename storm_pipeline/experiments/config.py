"""What an experiment compares, on which topics, and by which metrics: a TOML file, read and checked."""

import dataclasses
import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator, model_validator

from storm_pipeline.errors import SettingsError
from storm_pipeline.evaluation.datasets.closed_corpus import Sources
from storm_pipeline.evaluation.metrics.registry import METRICS
from storm_pipeline.evaluation.metrics.resources import Resources
from storm_pipeline.recipes import OUTLINES, RECIPES
from storm_pipeline.run.journal import fingerprint
from storm_pipeline.settings import Settings

DATA = "STORM_DATA"
"""Environment variable with the folder below which data sets lie."""
_OWN = frozenset({"out", "cache", "exclude_urls", "exclude_titles", "seed"})
"""Settings that the experiment itself sees to."""
_RESOURCES = frozenset(field.name for field in dataclasses.fields(Resources)) - {"cache", "settings"}
_NAME = r"^(?:[^/\\:.\x00-\x1f][^/\\:\x00-\x1f]*)?$"
"""What may be the name of a folder; or nothing."""
_OPENED = TypeAdapter(Resources)


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


class DataTable(_Table):
    """The topics.

    Attributes:
        set: which data set.
        path: its folder; a relative one lies below the folder that ``STORM_DATA`` names, if it names one.
        core: WikiGenBench: only the topics that its manifest marks.
        topics: how many, from the first; None takes all.
        ids: these topics alone, in this order.
    """

    set: Literal["freshwiki", "wikigenbench", "wiki_live"]
    path: Path
    core: bool = False
    topics: int | None = Field(default=None, ge=1)
    ids: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """Where it lies."""
        return _absolute(self.path)


class SearchTable(_Table):
    """Where runs search.

    Attributes:
        corpus: ``engine``, what the settings name; ``topic``, the documents of the topic; ``pooled``, those of all
            topics of the data set; ``article``, the human article itself, an upper bound that WikiGenBen calls golden.
        sources: of a corpus: what editors cited, what a search found, or both.
        ranker: of a corpus.
        passages: of one document that a search returns at most.
    """

    corpus: Literal["engine", "topic", "pooled", "article"] = "engine"
    sources: Sources = "mixed"
    ranker: Literal["random", "tfidf", "bm25", "dense", "golden"] = "bm25"
    passages: int = Field(default=3, ge=1)


class MethodTable(_Table):
    """A row of the tables: a recipe with settings of its own, or articles that another system wrote.

    Attributes:
        name: of the row; default: the recipe.
        recipe: one of :data:`storm_pipeline.recipes.RECIPES`.
        settings: those that differ from the experiment's.
        search: in place of the experiment's.
        recorded: folder of the official STORM's runs whose articles are scored, found as a data set's folder is.
        polished: of those, the articles after polishing.
        imported: folder of articles from elsewhere, ``TOPIC.md`` or ``TOPIC.txt``, found as a data set's folder is.
        system: a system whose articles come with the data set; topics on which it wrote none are left out of its row.
    """

    name: str = Field("", pattern=_NAME)
    recipe: str = ""
    settings: Mapping[str, Any] = {}
    search: SearchTable | None = None
    recorded: Path | None = None
    polished: bool = False
    imported: Path | None = None
    system: str = Field("", pattern=_NAME)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if sum(map(bool, (self.recipe, self.recorded, self.imported, self.system))) != 1:
            raise ValueError("give one of: a recipe, a folder of recorded runs, a folder of articles, a system")
        if self.recipe and self.recipe not in RECIPES:
            raise ValueError(f"there is no recipe {self.recipe!r}: choose one of {', '.join(RECIPES)}")
        if (self.recorded or self.imported) and not self.name:
            raise ValueError("articles from a folder need a name")
        _check_settings(self.settings)
        return self

    @property
    def label(self) -> str:
        """What the tables call it."""
        return self.name or self.recipe or self.system


class SizeTable(_Table):
    """A size of the experiment other than the whole: what is given here takes its place.

    Attributes:
        topics: how many.
        methods: names of those that stay.
        metrics: names of those that stay.
        settings: laid over those of the experiment.
    """

    topics: int | None = Field(default=None, ge=1)
    methods: tuple[str, ...] | None = Field(default=None, min_length=1)
    metrics: tuple[str, ...] | None = Field(default=None, min_length=1)
    settings: Mapping[str, Any] = {}


class ExperimentConfig(_Table):
    """A whole experiment.

    Attributes:
        title: of the report.
        writes: articles, or outlines alone.
        seeds: a run each; none: one run without a seed.
        baseline: the method that the others are compared with.
        metrics: names, see :data:`storm_pipeline.evaluation.metrics.registry.METRICS`.
        data: the topics.
        search: where all methods search that name nothing else.
        settings: of all runs, see :class:`storm_pipeline.settings.Settings`.
        resources: of the metrics, see :class:`storm_pipeline.evaluation.metrics.resources.Resources`.
        methods: what is compared.
        sizes: name → size.
        notes: sentences that the report shows.
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
            raise ValueError(f"there is no resource {unknown[0]!r}: choose of {', '.join(sorted(_RESOURCES))}")
        try:
            _OPENED.validate_python(resources)
        except ValidationError as error:
            first = error.errors()[0]
            raise ValueError(f"{first['loc'][0]!r} cannot be {first['input']!r}: {first['msg'].lower()}") from error
        return resources

    @model_validator(mode="after")
    def _check(self) -> Self:
        names = [method.label for method in self.methods]
        listed: tuple[tuple[str, Sequence[object]], ...] = (
            ("methods", [name.casefold() for name in names]),
            ("metrics", self.metrics),
            ("seeds", self.seeds),
        )
        for kind, own in listed:
            if twice := [one for one in own if own.count(one) > 1]:
                raise ValueError(f"{twice[0]!r} stands twice among the {kind}: leave one, or name them apart")
        if self.baseline not in names:
            raise ValueError(f"the baseline {self.baseline!r} is none of the methods {', '.join(names)}")
        if unknown := [name for name in self.metrics if name not in METRICS]:
            raise ValueError(f"no metric is called {unknown[0]!r}: choose of {', '.join(METRICS)}")
        if self.writes == "outline" and (bad := [m.label for m in self.methods if m.recipe not in OUTLINES]):
            raise ValueError(f"{bad[0]!r} makes no outline of its own: choose of {', '.join(OUTLINES)}")
        _check_settings(self.settings)
        return self

    def method(self, name: str) -> MethodTable:
        """The method of a name."""
        return next(method for method in self.methods if method.label == name)

    def search_of(self, method: MethodTable) -> SearchTable:
        """Where a method's runs search."""
        return method.search or self.search

    def settings_of(self, method: MethodTable) -> Settings:
        """What a method's runs are written with, but for what belongs to a topic or a seed.

        Raises:
            SettingsError: a value is not allowed.
        """
        return Settings.build({**self.settings, **method.settings})

    def sized(self, name: str) -> "ExperimentConfig":
        """This experiment in one of its sizes; ``full`` is the whole.

        Raises:
            SettingsError: it has no such size, or the size does not fit it.
        """
        if name == "full":
            return self
        if name not in self.sizes:
            raise SettingsError(
                f"the experiment has no size {name!r}: choose one of {', '.join(['full', *self.sizes])}"
            )
        size = self.sizes[name]
        if unknown := set(size.methods or ()) - {method.label for method in self.methods}:
            raise SettingsError(f"size {name!r} names a method that the experiment has not: {min(unknown)!r}")
        kept = [m.model_dump() for m in self.methods if size.methods is None or m.label in size.methods]
        labels = [method["name"] or method["recipe"] or method["system"] for method in kept]
        return _validated(
            self.model_dump()
            | {
                "methods": kept,
                "baseline": self.baseline if self.baseline in labels else labels[0],
                "metrics": size.metrics or self.metrics,
                "settings": {**self.settings, **size.settings},
                "data": {**self.data.model_dump(), "topics": size.topics or self.data.topics},
                "sizes": {},
            }
        )

    def changed(self, *, topics: int | None = None, settings: Mapping[str, Any] | None = None) -> "ExperimentConfig":
        """This experiment with another number of topics, and settings in place of its own and its methods'.

        Raises:
            SettingsError: a setting is unknown, or one that the experiment itself sees to.
        """
        given = dict(settings or {})
        seeds = (given.pop("seed"),) if "seed" in given else self.seeds
        kept = [{name: value for name, value in m.settings.items() if name not in given} for m in self.methods]
        methods = [m.model_dump() | {"settings": own} for m, own in zip(self.methods, kept, strict=True)]
        return _validated(
            self.model_dump()
            | {
                "settings": {**self.settings, **given},
                "methods": methods,
                "seeds": seeds,
                "data": {**self.data.model_dump(), "topics": topics or self.data.topics},
            }
        )

    def judged_by(self, **judges: str | None) -> "ExperimentConfig":
        """This experiment with other judges: ``judge`` of support, ``judge_lm`` that grades; None leaves one."""
        given = {name: value for name, value in judges.items() if value is not None}
        return self.model_copy(update={"resources": {**self.resources, **given}})

    def located(self, engine: str) -> "ExperimentConfig":
        """This experiment as any process can read it: paths absolute, and the engine named that ``auto`` stands for."""

        def named(settings: Mapping[str, Any]) -> Mapping[str, Any]:
            return {**settings, "search": engine} if settings.get("search") == "auto" else settings

        methods = [
            method.model_copy(
                update={
                    "settings": named(method.settings),
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
                "settings": named({"search": "auto", **self.settings}),
            }
        )

    @property
    def fingerprint(self) -> str:
        """Equal for equal experiments."""
        return fingerprint(self.model_dump(mode="json"))


def read_config(path: Path | str) -> ExperimentConfig:
    """The experiment that a file describes.

    Raises:
        SettingsError: the file cannot be read, is no TOML, or says something that is not allowed; names the place.
    """
    path = Path(path)
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"cannot read {path}: {error.strerror}; name an experiment's .toml file") from error
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{path} is no TOML: {error}") from error
    return _validated(values, f"{path}: ")


def _validated(values: Mapping[str, Any], place: str = "") -> ExperimentConfig:
    try:
        return ExperimentConfig.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the experiment"
        said = first["msg"].removeprefix("Value error, ")
        raise SettingsError(f"{place}{where}: {said}") from error


def _absolute(path: Path) -> Path:
    """A path of a data set, which lies below the folder that ``STORM_DATA`` names unless it is absolute."""
    return (Path(os.environ.get(DATA, "")).expanduser() / path.expanduser()).absolute()


def _check_settings(settings: Mapping[str, Any]) -> None:
    for name in settings:
        if name in _OWN:
            raise ValueError(f"the setting {name!r} is seen to by the experiment: leave it out")
        if name not in Settings.model_fields:
            raise ValueError(f"there is no setting {name!r}")
