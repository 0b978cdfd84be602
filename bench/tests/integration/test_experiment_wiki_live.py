"""Wiki Live as an experiment: our row over the frozen web, beside rows of articles that were written elsewhere."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from judge_llm import FakeModel
from llm import Answer
from test_experiments import described as trial
from test_experiments import run
from wiki_live_files import GUIDE, PRESS, SYSTEMS, topic_file, write_wiki_live

from storm_bench.experiments import ExperimentConfig, read_config
from storm_bench.experiments.config_tables import MethodTable
from storm_pipeline.errors import SettingsError
from storm_pipeline.run.article_json import from_json

FOUND: dict[str, Answer] = {
    "FindStatement": json.dumps({"verdict": "stated"}),
}


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STORM_DATA", str(tmp_path / "data"))
    alone = {"alpha": SYSTEMS["alpha"]}
    return write_wiki_live(
        tmp_path / "data" / "live", Lake_Orrin=topic_file(), Lake_Tarn=topic_file("Lake Tarn", systems=alone)
    )


@pytest.fixture
def model() -> Iterator[FakeModel]:
    with FakeModel(FOUND) as server:
        yield server


def described(model: FakeModel, *methods: dict[str, Any], **values: Any) -> ExperimentConfig:
    plain = {
        "baseline": MethodTable.model_validate(methods[0]).label,
        "metrics": ["statement_coverage_lm", "citation_wiki_live", "citation_wikigenbench", "shape"],
        "data": {"set": "wiki_live", "path": "live"},
        "resources": {"judge_lm": model.lm, "judge": "screen"},
        "methods": list(methods),
    }
    return trial(model, **plain | values)


def test_our_method_is_a_row_beside_the_systems(data: Path, model: FakeModel, tmp_path: Path) -> None:
    config = described(model, {"recipe": "rr"}, {"system": "alpha"}, {"name": "second", "system": "beta"})
    results = run(config, tmp_path / "out")
    rows = [(result.topic, result.method) for result in results.results]
    assert rows == [
        ("Lake_Orrin", "rr"),
        ("Lake_Orrin", "alpha"),
        ("Lake_Orrin", "second"),
        ("Lake_Tarn", "rr"),
        ("Lake_Tarn", "alpha"),
    ], "a system has no row on a topic on which it wrote nothing"
    assert not any(result.failure for result in results.results)
    assert all(result.values["statement_coverage_lm"] is not None for result in results.results)
    by_row = dict(zip(rows, results.results, strict=True))
    assert by_row["Lake_Orrin", "second"].values["citation_recall_wikigenbench"] is None, "it cites nothing"
    assert by_row["Lake_Orrin", "alpha"].values["references"] == 3
    pairs = {row: result.values["citation_pairs_wiki_live"] for row, result in by_row.items()}
    assert (pairs["Lake_Orrin", "alpha"], pairs["Lake_Orrin", "second"]) == (6, 0), "those published with the article"
    held = by_row["Lake_Orrin", "alpha"].values["citation_pages_held_wiki_live"]
    assert held == pytest.approx(5 / 6), "one address leads to no page"


@pytest.mark.parametrize("corpus", ["topic", "pooled"])
def test_the_searched_corpus_contains_no_copy_of_the_article(
    data: Path, model: FakeModel, tmp_path: Path, corpus: str
) -> None:
    config = described(model, {"recipe": "rr"}, search={"corpus": corpus}, metrics=["shape"]).with_overrides(topics=1)
    run(config, tmp_path / "out")
    article = from_json((tmp_path / "out/articles/Lake_Orrin/rr/article.json").read_text("utf-8"))
    assert {url for source in article.sources for url in (source.url, *source.also)} == {PRESS, GUIDE}


def test_imported_articles_are_a_row(data: Path, model: FakeModel, tmp_path: Path) -> None:
    folder = data.parent / "mine"
    folder.mkdir()
    (folder / "Lake_Orrin.txt").write_text("A lake.\n# History\nIt was filled in 1931.", "utf-8")
    config = described(model, {"name": "mine", "imported": "mine"}, metrics=["shape"])
    first, second = run(config, tmp_path / "out").results
    assert (first.failure, first.values["sections"]) == ("", 1)
    assert (
        "no article on 'Lake Tarn': put Lake_Tarn.md, Lake_Tarn.txt, Lake_Tarn.json, Lake_Tarn.wiki, "
        "Lake_Tarn.docx, Lake_Tarn.html or Lake_Tarn.htm there" in second.failure
    )
    assert str(tmp_path) not in second.failure
    (folder / "Lake_Tarn.md").write_text("Another lake.", "utf-8")
    assert not any(result.failure for result in run(config, tmp_path / "out").results)
    (folder / "Lake_Tarn.md").write_text("Another lake, and deep.", "utf-8")
    with pytest.raises(SettingsError, match="Lake_Tarn/mine was written or started with other settings"):
        run(config, tmp_path / "out")


def test_dropped_citations_are_noted(data: Path, model: FakeModel, tmp_path: Path) -> None:
    folder = tmp_path / "config" / "mine"
    folder.mkdir(parents=True)
    text = f"A lake.[1][2] It is deep.[3]\n\n## References\n1. [The dam]({PRESS})\n2. [Gone](https://gone.example)"
    (folder / "Lake_Orrin.md").write_text(text, "utf-8")
    (tmp_path / "config" / "trial.toml").write_text(
        'title = "A trial"\nbaseline = "mine"\nmetrics = ["shape"]\n'
        'data = { set = "wiki_live", path = "live", topics = 1 }\n'
        'methods = [{ name = "mine", imported = "mine" }, { system = "alpha" }, { human = true }]\n',
        "utf-8",
    )
    config = read_config(tmp_path / "config" / "trial.toml")
    assert config.method("mine").imported == folder, "beside the experiment's file"
    results = run(config, tmp_path / "out")
    assert [result.values["references"] for result in results.results] == [1, 3, None]
    assert [note for note in results.notes if "citations" in note] == [
        "mine: 2 of 3 citations were dropped, 1 of pages whose text is not available and 1 that name no source.",
        "alpha: 1 of 4 citations were dropped, 1 of pages whose text is not available.",
    ]


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ({}, "set exactly one of: recipe, recorded, imported, system"),
        ({"recipe": "rr", "system": "alpha"}, "set exactly one of"),
        ({"imported": "x"}, "methods with recorded or imported articles need a name"),
        ({"system": "../alpha"}, "pattern"),
    ],
)
def test_a_method_has_exactly_one_kind(model: FakeModel, method: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        MethodTable.model_validate(method)


def test_sizes_select_methods_by_name(data: Path, model: FakeModel) -> None:
    sizes = {"few": {"methods": ["second", "alpha"]}, "wrong": {"methods": ["gamma"]}}
    config = described(model, {"recipe": "rr"}, {"system": "alpha"}, {"name": "second", "system": "beta"}, sizes=sizes)
    chosen = config.sized("few")
    assert [method.label for method in chosen.methods] == ["alpha", "second"]
    assert chosen.baseline == "alpha"
    with pytest.raises(SettingsError, match="unknown method: 'gamma'"):
        config.sized("wrong")
