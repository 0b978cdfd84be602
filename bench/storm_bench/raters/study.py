"""A study as its file describes it: articles, raters and questions, checked before anything is drawn."""

import csv
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from storm_bench.errors import first_problem
from storm_bench.experiments.config_tables import ConfigTable, DataTable
from storm_bench.raters.scales import SCALES, Scale
from storm_pipeline import SettingsError
from storm_pipeline.api import read_toml

_MOST_SYSTEMS = 20  # since each pair is tested on each scale
_RESERVED = frozenset({"comment", "preference", "attention"})  # names of questions that no scale may have


class RaterTable(ConfigTable):
    """Who rates: a person, or a program with a language model."""

    name: str = Field(pattern=r"^\w[\w .-]{0,39}$")
    kind: Literal["person", "model"] = "person"


class ArticleTable(ConfigTable):
    """An article of a study: a file, the folder of a run, or one of the data set."""

    topic: str = Field(min_length=1, max_length=200)
    system: str = Field(min_length=1, max_length=100)  # who wrote it; ``human`` is the data set's human article
    path: Path | None = None  # None: it is in the data set
    author: str = ""  # the rater who wrote it, or played its writer, and never rates it


class FactsTable(ConfigTable):
    """Facts that each article on a topic is searched for: a list, or a CSV file with a column ``fact``."""

    topic: str
    facts: tuple[str, ...] = ()
    path: Path | None = None


class Study(ConfigTable):
    """A study. Raters see ``title`` and ``instructions``; they see neither systems nor authors."""

    title: str = Field(min_length=1, max_length=200)
    instructions: str = ""
    seed: int = 0  # of all that is drawn
    raters_per_item: int = Field(default=2, ge=1)
    compare: tuple[str, ...] = Field(default=(), max_length=_MOST_SYSTEMS)  # rated as pairs on a topic; empty: singly
    rubrics: tuple[str, ...] = ()  # ``storm``, ``conner``, ``forag``, one of their scales, or one of ``scales``
    preference: bool = True  # ask which article of a pair is better
    comments: bool = True  # ask for free text
    errors: bool = False  # let sentences be marked that their sources do not support
    usefulness: bool = False  # ask for STORM's statements at the end
    citations: bool = True  # show numbers and passages; False hides them in all articles
    words: int | None = Field(default=None, ge=100)  # articles are shortened to as many
    attention: int = Field(default=0, ge=0, le=20)  # pages for each rater that check attention
    raters: tuple[RaterTable, ...] = Field(min_length=1, max_length=1_000)
    articles: tuple[ArticleTable, ...] = Field(min_length=1, max_length=5_000)
    facts: tuple[FactsTable, ...] = ()
    scales: dict[str, Scale] = Field(default_factory=dict, max_length=30)
    pages: Path | None = None  # JSON Lines with ``url``, ``title`` and ``text`` of pages that files cite
    data: DataTable | None = None

    @cached_property
    def questions(self) -> dict[str, Scale]:
        """The scales that are asked for each article, by name."""
        known = SCALES | self.scales
        return {name: known[name] for rubric in self.rubrics for name in known if rubric in (name, _group(name))}

    @cached_property
    def items(self) -> tuple[tuple[int, ...], ...]:
        """Places of the articles that are rated together: one, or a pair on the same topic."""
        if not self.compare:
            return tuple((place,) for place in range(len(self.articles)))
        places = {(article.topic, article.system): place for place, article in enumerate(self.articles)}
        topics = dict.fromkeys(article.topic for article in self.articles)
        pairs = [[places.get((topic, system)) for system in pair] for topic in topics for pair in self.pairs]
        return tuple((first, second) for first, second in pairs if first is not None and second is not None)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs of systems that are compared."""
        return list(combinations(self.compare, 2))

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems, those that are compared first."""
        return tuple(dict.fromkeys((*self.compare, *(article.system for article in self.articles))))

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield the keys whose values do not fit others, each with the reason."""
        names = {rater.name for rater in self.raters}
        written = {article.system for article in self.articles}
        yield from _twice("raters", [rater.name for rater in self.raters])
        yield from _twice("articles", [f"{article.topic} by {article.system}" for article in self.articles])
        yield from _twice("compare", self.compare)
        for place, article in enumerate(self.articles):
            if article.author and article.author not in names:
                yield f"articles.{place}.author", f"{article.author!r} is not the name of a rater"
            if article.path is None and self.data is None:
                yield f"articles.{place}.path", "name a file or a run's folder, or add the table data"
        if len(self.compare) == 1 or set(self.compare) - written:
            yield "compare", f"name two or more systems of the articles: {', '.join(sorted(written))}"
        if len(self.systems) > _MOST_SYSTEMS:
            yield "articles", f"{len(self.systems)} systems; at most {_MOST_SYSTEMS} are compared"
        if not self.items:
            yield "compare", "there is no topic with articles of two of these systems"
        if self.raters_per_item > len(self.raters):
            yield "raters_per_item", f"{self.raters_per_item} raters an item, but {len(self.raters)} raters"
        yield from self._problems_of_questions()

    def _problems_of_questions(self) -> Iterator[tuple[str, str]]:
        for rubric in self.rubrics:
            if not any(rubric in (name, _group(name)) for name in SCALES | self.scales):
                known = dict.fromkeys((*map(_group, SCALES), *self.scales))
                yield "rubrics", f"{rubric!r} is unknown: choose of {', '.join(known)}, or add scales.{rubric}"
        if taken := sorted(name for name in self.scales if "." in name or name in _RESERVED):
            yield f"scales.{taken[0]}", "choose another name: pages ask a question of this name, or it has a full stop"
        yield from _twice("facts", [table.topic for table in self.facts])
        topics = {article.topic for article in self.articles}
        for place, table in enumerate(self.facts):
            if table.topic not in topics:
                yield f"facts.{place}.topic", f"there is no article on {table.topic!r}"
            if not 1 <= len(table.facts) <= 200:
                yield f"facts.{place}.facts", "list at least one fact, at most 200, or name a file with a column fact"
        if not (self.rubrics or self.facts or self.errors or (self.compare and self.preference)):
            yield "rubrics", "nothing is asked: name rubrics, add facts, or set errors = true"


def read_study(path: Path) -> Study:
    """Read a study's file, with the facts of its files; paths are relative to it.

    Raises SettingsError: it cannot be read, or a value is wrong; the message has its key.
    """
    try:
        study = Study.model_validate(read_toml(path))
        facts = tuple(_with_facts(table, path.parent, place) for place, table in enumerate(study.facts))
    except OSError as error:
        raise SettingsError(f"cannot read {path}: {error.strerror}; name a study's .toml file") from error
    except ValidationError as error:
        where, why = first_problem(error, "the study")
        raise SettingsError(f"{path}: {where}: {why}") from error
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{path} cannot be used: {error}") from error
    study = study.model_copy(update={"facts": facts})
    for key, why in study.problems():
        raise SettingsError(f"{path}: {key}: {why}")
    return study


def _with_facts(table: FactsTable, folder: Path, place: int) -> FactsTable:
    if table.path is None:
        return table
    try:
        with (folder / table.path).open(encoding="utf-8", newline="") as lines:
            read = tuple(row["fact"].strip() for row in csv.DictReader(lines))
    except (OSError, KeyError, AttributeError, csv.Error) as error:
        raise ValueError(f"facts.{place}.path: {table.path} is not a CSV file with a column fact") from error
    return table.model_copy(update={"facts": (*table.facts, *read)})


def _group(name: str) -> str:
    return name.partition(".")[0]


def _twice(key: str, values: list[str] | tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for value, times in Counter(values).items():
        if times > 1:
            yield key, f"{value!r} is there {times} times"
