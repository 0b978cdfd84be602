"""Rows of an experiment that no recipe of its own writes: the human article, and methods under a variant's settings."""

import textwrap
from pathlib import Path

import pytest
from judge_llm import FakeModel
from test_experiments import CACHE, data, described, model, run

from storm_bench.experiments import read_config
from storm_bench.experiments.data import topics_of
from storm_bench.experiments.jobs import settings_of
from storm_bench.experiments.units import Unit
from storm_pipeline.errors import SettingsError
from storm_pipeline.models.programs import Programs, Provenance, add_to_set

__all__ = ["data", "model"]  # fixtures

FROM_MEMORY = ("direct", "rr-no-documents")
FILE = """
title = "A trial"
baseline = "rr"
metrics = ["shape"]
[data]
set = "wikigenbench"
path = "bench"
[search]
corpus = "topic"
[settings]
top_k = 4
uncited = "drop"
[[methods]]
recipe = "rr"
[[methods]]
name = "large"
recipe = "rr"
settings = { top_k = 9 }
[[methods]]
human = true
[[variants]]
name = "kept"
settings = { uncited = "keep" }
[sizes.smoke]
topics = 1
methods = ["rr", "large, kept"]
"""


def test_the_human_article_is_a_row_scored_only_by_what_does_not_compare_it_with_itself(
    data: Path, model: FakeModel, tmp_path: Path
) -> None:
    methods = [{"recipe": "rr"}, {"human": True}]
    config = described(model, "rr", methods=methods, metrics=["rouge", "citation_alce", "shape"])
    results = run(config, tmp_path / "out")
    people = [row for row in results.results if row.method == "human article"]
    assert len(people) == 2
    for row in people:
        assert not row.failure
        assert row.values["sections"] == 2
        assert (row.values["words"] or 0) > 50
        assert {row.values.get(name) for name in ("rouge_1", "references", "citation_recall_alce")} == {None}


def test_a_variant_is_a_row_for_every_method_with_a_recipe(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "trial.toml"
    file.write_text(FILE, "utf-8")
    config = read_config(file)
    assert [method.label for method in config.methods] == ["rr", "large", "human article", "rr, kept", "large, kept"]
    (topic, *_) = topics_of(config)
    found = {
        name: settings_of(config, topic, Unit(topic.id, name)) for name in ("rr", "large", "rr, kept", "large, kept")
    }
    assert {name: (own.top_k, own.uncited) for name, own in found.items()} == {
        "rr": (4, "drop"),
        "large": (9, "drop"),
        "rr, kept": (4, "keep"),
        "large, kept": (9, "keep"),
    }
    assert [method.label for method in config.sized("smoke").methods] == ["rr", "large, kept"]
    assert [method.label for method in config.with_overrides(topics=1).methods] == [m.label for m in config.methods]


def test_what_becomes_of_unsupported_sentences_adds_no_row_to_a_recipe_that_writes_from_memory(tmp_path: Path) -> None:
    file = tmp_path / "trial.toml"
    memory = "".join(f'[[methods]]\nrecipe = "{recipe}"\n' for recipe in FROM_MEMORY)
    model = '[[variants]]\nname = "other"\nsettings = { writer_lm = "openai/x", uncited = "keep" }\n'
    file.write_text(FILE.replace("[[variants]]", f"{memory}{model}[[variants]]"), "utf-8")
    labels = [method.label for method in read_config(file).methods]
    assert labels == [
        *("rr", "large", "human article", "direct", "rr-no-documents"),
        *("rr, other", "large, other", "direct, other", "rr-no-documents, other"),
        *("rr, kept", "large, kept"),
    ]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('{ uncited = "keep" }', "{ uncitd = 1 }", "unknown setting 'uncitd'"),
        ('{ uncited = "keep" }', '{ out = "x" }', "managed by the experiment"),
        ('name = "kept"', 'name = "a/b"', "pattern"),
        ('name = "kept"', 'name = ""', "at least 1 character"),
    ],
)
def test_a_mistake_in_a_variant_is_named(tmp_path: Path, before: str, after: str, said: str) -> None:
    file = tmp_path / "trial.toml"
    file.write_text(FILE.replace(before, after), "utf-8")
    with pytest.raises(SettingsError, match=said):
        read_config(file)


def test_two_rows_of_one_name_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "trial.toml"
    twice = textwrap.dedent("""
        [[variants]]
        name = "kept"
        settings = { top_k = 3 }
    """)
    file.write_text(FILE + twice, "utf-8")
    with pytest.raises(SettingsError, match="duplicate 'rr, kept'"):
        read_config(file)


def test_a_seed_that_occurs_very_often_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "trial.toml"
    file.write_text(f"seeds = [{'1,' * 120_000}]\n{FILE}", "utf-8")  # minutes if each is compared with each
    with pytest.raises(SettingsError, match="duplicate 1 in seeds"):
        read_config(file)


@pytest.mark.parametrize("file", sorted((CACHE.parent / "experiments").glob("*.toml")), ids=lambda file: file.stem)
def test_the_rows_of_the_shipped_comparisons_treat_unsupported_sentences_alike(file: Path) -> None:
    config = read_config(file, allow_code=True)
    written = {m.label for m in config.methods if m.recipe and not m.label.endswith(", unchecked")}
    if config.writes == "outline" or config.settings.get("uncited") == "unchecked":
        assert not any("uncited" in method.settings for method in config.methods)
        return
    unchecked = {m.label for m in config.methods if m.settings.get("uncited") == "unchecked"}
    from_memory = {m.label for m in config.methods if m.recipe in FROM_MEMORY}
    assert unchecked == {f"{label}, unchecked" for label in written - from_memory}


def test_a_compiled_set_is_a_method(data: Path, model: FakeModel, tmp_path: Path) -> None:
    article = Programs().article.deepcopy()
    signature = article.predict.signature
    article.predict.signature = signature.with_instructions(f"{signature.instructions} Mind the bridges.")
    how = Provenance("", "m", "gepa", "cited text", 0.2, 0.4, (0.1, 0.3), ("A",), ("B",), 0, 3)
    add_to_set(tmp_path / "mine", "article", article, how, {"storm-pipeline": "0"})
    methods = [{"recipe": "rr"}, {"recipe": f"rr@{tmp_path / 'mine'}"}]
    config = described(model, "rr", methods=methods, metrics=["shape"]).with_overrides(topics=1)
    assert [method.label for method in config.methods] == ["rr", "rr@mine"]
    results = run(config, tmp_path / "out")
    assert [row.failure for row in results.results] == [""] * 2
    shown = ["Mind the bridges." in asked.prompt for asked in model.asked if asked.signature == "WriteArticle"]
    assert {True, False} == set(shown)
