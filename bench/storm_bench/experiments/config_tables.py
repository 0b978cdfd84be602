"""The tables of an experiment's configuration file: topics, search, methods, variants and sizes."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from storm_bench.datasets.closed_corpus import Sources
from storm_bench.experiments.own_code import is_own
from storm_pipeline import Settings, SettingsError
from storm_pipeline.api import without_secrets
from storm_pipeline.recipes import RECIPES

_WITHOUT_SOURCES = frozenset({"direct", "rr-no-documents"})
"""Recipes that write from memory: no sentence has a source that could support it."""
DATA = "STORM_DATA"
"""Environment variable: the folder that contains the data sets."""
_MANAGED = frozenset({"out", "cache", "exclude_urls", "exclude_titles", "seed"})
"""Settings that the experiment sets itself."""
_OF_SOURCES = frozenset({"uncited"})  # settings that change nothing in an article written from memory
_FOLDER_NAME = r"^(?:[^/\\:.\x00-\x1f][^/\\:\x00-\x1f]*)?$"  # a valid folder name, or an empty string


class ConfigTable(BaseModel):
    """A table of the file: frozen, with known keys only."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


class DataTable(ConfigTable):
    """The topics."""

    set: Literal["freshwiki", "wikigenbench", "wiki_live"]  # which data set
    path: Path  # its folder; relative paths are resolved against ``STORM_DATA`` if that is set
    core: bool = False  # WikiGenBench only: use only the topics marked ``in_core`` in its manifest
    topics: int | None = Field(default=None, ge=1)  # use only the first this many; None: all
    ids: tuple[str, ...] = ()  # use only these topics, in this order

    @property
    def folder(self) -> Path:
        """Absolute path of the data set."""
        return absolute(self.path)


class SearchTable(ConfigTable):
    """The data that runs search."""

    # ``engine``: the engine in the settings; ``topic``: the topic's documents; ``pooled``: the documents of all topics;
    # ``article``: the human article itself, an upper bound that WikiGenBen calls golden
    corpus: Literal["engine", "topic", "pooled", "article"] = "engine"
    sources: Sources = "mixed"  # which documents of the corpus: cited by editors, found by search, or both
    # ranks the corpus: ``random``, ``tfidf``, ``bm25``; ``dense``, by the resources' embedder;
    # ``dense:NAME``, by an encoder of sentence-transformers (a folder, or a name on the hub, such as
    # ``sentence-transformers/gtr-t5-large``); ``dense:NAME+NAME``, by one for queries and one for chunks, as DPR
    ranker: str = Field(default="bm25", pattern=r"^(?:random|tfidf|bm25|dense(?::[^+\s]+(?:\+[^+\s]+)?)?)$")
    passages: int = Field(default=3, ge=1)  # maximum passages per document in one search result


class PublishedTable(ConfigTable):
    """A paper's values for the methods, which reports show below our means."""

    source: str = ""  # paper, table, models, search and topics: what the values depend on
    # method → measure → value, as our measures count (shares, not percent)
    values: Mapping[str, Mapping[str, float]] = {}


class MethodTable(ConfigTable):
    """A row of the tables: a recipe with its own settings, or articles written by another system."""

    name: str = Field("", pattern=_FOLDER_NAME)  # label of the row; default: the recipe
    # one of :data:`storm_pipeline.recipes.RECIPES`, or ``module:function``, which needs the user's consent;
    # ``storm@SET`` runs it with the programs of the compiled set in the folder SET (an absolute path, or one from the
    # working folder)
    recipe: str = ""
    settings: Mapping[str, Any] = {}  # overrides of the experiment's settings
    search: SearchTable | None = None  # overrides the experiment's search
    # folder of official STORM runs to score: relative to the folder of the experiment's file if it exists there, else
    # resolved like a data set's path
    recorded: Path | None = None
    polished: bool = False  # score the polished articles of those runs
    # folder of articles, one per topic, see :mod:`storm_bench.articles.folder`; resolved like ``recorded``
    imported: Path | None = None
    # a system whose articles are part of the data set; topics it did not write about are skipped
    system: str = Field("", pattern=_FOLDER_NAME)
    # the human article itself, scored only by what does not compare it with itself or judge citations
    human: bool = False

    @model_validator(mode="before")
    @classmethod
    def _split(cls, values: Any) -> Any:
        """Return ``storm@SET`` as a recipe and a setting, under that name."""
        whole = values.get("recipe") if isinstance(values, Mapping) else None
        if not isinstance(whole, str) or "@" not in whole:
            return values
        recipe, _, programs = whole.partition("@")
        label = f"{recipe}@{Path(programs).name}"
        settings = {"programs": str(_at_home(programs).absolute()), **values.get("settings", {})}
        return {"name": label, **values, "recipe": recipe, "settings": settings}

    @model_validator(mode="after")
    def _check(self) -> Self:
        if sum(map(bool, (self.recipe, self.recorded, self.imported, self.system, self.human))) != 1:
            raise ValueError("set exactly one of: recipe, recorded, imported, system, human")
        if self.recipe and self.recipe not in RECIPES and not is_own(self.recipe):
            raise ValueError(f"unknown recipe {self.recipe!r}: choose one of {', '.join(RECIPES)}")
        if (self.recorded or self.imported) and not self.name:
            raise ValueError("methods with recorded or imported articles need a name")
        check_settings(self.settings)
        return self

    @property
    def label(self) -> str:
        """Its label in the tables."""
        return self.name or self.recipe or self.system or "human article"

    def with_articles_beside(self, folder: Path) -> Self:
        """Return the method with absolute paths to those of its articles that lie in a folder."""
        given = {name: path for name in ("recorded", "imported") if (path := getattr(self, name))}
        beside = {name: folder.absolute() / path.expanduser() for name, path in given.items()}
        return self.model_copy(update={name: path for name, path in beside.items() if path.is_dir()})


class VariantTable(ConfigTable):
    """Settings under which every method with a recipe is written once more, as rows of their own.

    What a comparison has to vary for all methods alike: a model, or what becomes of unsupported sentences. The latter
    leaves out recipes that write from memory: their rows would be written twice.
    """

    name: str = Field(min_length=1, pattern=_FOLDER_NAME)  # added to the methods' labels: ``storm, NAME``
    settings: Mapping[str, Any] = Field(min_length=1)  # overrides of the experiment's and the methods' settings

    @field_validator("settings")
    @classmethod
    def _check(cls, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        check_settings(settings)
        return settings

    def changes(self, method: MethodTable) -> bool:
        """Return whether the method's articles depend on the variant's settings: only runs do."""
        ignored: frozenset[str] = _OF_SOURCES if method.recipe in _WITHOUT_SOURCES else frozenset()
        return bool(method.recipe and self.settings.keys() - ignored)

    def of(self, method: MethodTable) -> MethodTable:
        """Return the method under this variant's settings."""
        label = f"{method.label}, {self.name}"
        return method.model_copy(update={"name": label, "settings": {**method.settings, **self.settings}})


class SizeTable(ConfigTable):
    """A reduced size of the experiment; values given here override the experiment's."""

    topics: int | None = Field(default=None, ge=1)  # number of topics
    methods: tuple[str, ...] | None = Field(default=None, min_length=1)  # names of the methods to keep
    metrics: tuple[str, ...] | None = Field(default=None, min_length=1)  # names of the metrics to use
    settings: Mapping[str, Any] = {}  # overrides of the experiment's settings


def absolute(path: Path) -> Path:
    """Resolve a path against ``STORM_DATA`` unless it is absolute."""
    return (_at_home(os.environ.get(DATA, "")) / _at_home(path)).absolute()


def _at_home(path: Path | str) -> Path:
    """Return a path, ``~`` expanded. Raises SettingsError: there is no such user."""
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise SettingsError(f"{str(path)!r} names the home of a user who does not exist") from error


def check_settings(settings: Mapping[str, Any]) -> None:
    """Check the names of settings, and that their values hold no secrets.

    Raises ValueError: a name is unknown or managed by the experiment, or a value holds a secret.
    """
    for name, value in settings.items():
        if isinstance(value, str):
            without_secrets(value)
        if name in _MANAGED:
            raise ValueError(f"the setting {name!r} is managed by the experiment: remove it")
        if name not in Settings.model_fields:
            raise ValueError(f"unknown setting {name!r}")
