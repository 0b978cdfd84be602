"""Data sets as training sets of `storm compile`, on small files made here."""

import gzip
import json
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from test_datasets_labelled import TEXT, claim, written
from test_datasets_wikigenbench import HITS, PAGE, tree

from storm_bench.datasets import training
from storm_pipeline.errors import DatasetError
from storm_pipeline.optimize.tasks import ENTRY_POINTS, TASKS, examples_of, read_training
from storm_pipeline.settings import Settings
from storm_pipeline.types import Article

SETTINGS = Settings.build({"lm": "openai/x"})
PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def gold(program: str, article: Article) -> list[str]:
    ((_, examples),) = examples_of(TASKS[program], [article], SETTINGS)
    return [passage.text for passage in examples[0].gold.passages]


def wice(folder: Path, *rows: dict[str, Any]) -> Path:
    with gzip.open(folder / "wice_claim_dev.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return folder


def row(text: str, label: str, supporting: list[list[int]]) -> dict[str, Any]:
    meta = {"id": text, "claim_title": "Orrin Dam", "claim_section": "History."}
    evidence = ["It rained.", "Work began in 1931.", "It ended in 1936."]
    return {"claim": text, "label": label, "supporting_sentences": supporting, "evidence": evidence, "meta": meta}


def test_a_topics_documents_are_what_its_sections_rest_on(tmp_path: Path) -> None:
    near = " ".join(f"Rain number {n} came from the west and fell on Main Street." for n in range(10))
    hits = [*HITS, {"title": "Rain", "link": "https://f.example/1", "text": near}]
    (article,) = training.wikigenbench(tree(tmp_path, {"7": PAGE}, {"7": hits}))
    assert article.title == "Storm Ada"
    assert any("Main Street" in text for text in gold("queries", article))
    shown = {snippet.text for source in article.sources for snippet in source.snippets}
    assert set(gold("queries", article)) <= shown


def test_what_people_found_supported_shows_how_to_answer(tmp_path: Path) -> None:
    place = wice(
        tmp_path,
        row("The dam was built from 1931 to 1936.", "supported", [[1, 2], [2]]),
        row("It is made of gold.", "not_supported", []),
    )
    (article,) = training.wice(place)
    assert [bool(sentence.citations) for sentence in article.sentences()] == [True, False]
    assert gold("queries", article) == ["Work began in 1931. It ended in 1936."]
    (article,) = training.expertqa(written(tmp_path, claim("The dam is old.", "Complete", f"https://a.org/x {TEXT}")))
    ((_, (example,)),) = examples_of(TASKS["passage_answer"], [article], SETTINGS)
    assert example.question == "What is the dam?" and example.answer == "The dam is old. [1]"


def test_damaged_claims_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="cannot be read"):
        training.wice(tmp_path)
    with pytest.raises(DatasetError, match="is damaged"):
        training.wice(wice(tmp_path, {"claim": "x"}))


def test_the_package_declares_its_readers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    declared = [EntryPoint(name, at, ENTRY_POINTS) for name, at in PROJECT["entry-points"][ENTRY_POINTS].items()]
    assert {own.name for own in declared} == {"freshwiki", "wikigenbench", "wiki-live", "expertqa", "wice"}
    assert all(callable(own.load()) for own in declared)
    monkeypatch.setattr("storm_pipeline.optimize.tasks.entry_points", lambda **_: declared)
    place = tree(tmp_path, {"7": PAGE}, {"7": HITS})
    assert [own.title for own in read_training(f"wikigenbench:{place}")] == ["Storm Ada"]
    with pytest.raises(DatasetError, match="choose among expertqa, freshwiki"):
        read_training(f"nothing:{place}")
