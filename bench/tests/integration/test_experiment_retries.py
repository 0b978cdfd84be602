"""What becomes of articles that an earlier call began, when the experiment is described otherwise now."""

import json
import shutil
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
from judge_llm import FakeModel
from servers import Reply
from test_experiments import CACHE, data, described, model, run, topic

from storm_bench.datasets.built import write_topics
from storm_bench.experiments import Experiment, ExperimentConfig
from storm_pipeline.errors import SettingsError
from storm_pipeline.interfaces.batch.executors import ThreadExecutor
from storm_pipeline.run.article_json import from_json

__all__ = ["data", "model"]  # fixtures

REFUSED = Reply(status=400, body={"error": {"message": "no such model"}})


class Killed(ThreadExecutor):
    """Dies when the first job has begun."""

    def run(self, work: Callable[[Any], Any], jobs: Iterable[Any], **_: Any) -> NoReturn:
        next(iter(jobs))
        raise KeyboardInterrupt


def one(model: FakeModel, recipe: str, **values: Any) -> ExperimentConfig:
    """A single article by a method called "it"."""
    methods = [{"name": "it", "recipe": recipe}]
    return described(model, baseline="it", metrics=["shape"], methods=methods, **values).with_overrides(topics=1)


def begun(config: ExperimentConfig, out: Path) -> None:
    """Begin the first article, and be killed."""
    with Experiment(config, out, Killed(), cache=CACHE) as killed, pytest.raises(KeyboardInterrupt):
        killed.run()


def recipes(out: Path) -> list[str]:
    return [json.loads(path.read_text("utf-8"))["recipe"] for path in out.glob("articles/1/it/*/run.json")]


def test_a_failed_method_is_retried_as_edited_even_after_a_kill(data: Path, tmp_path: Path) -> None:
    with FakeModel(faults={"WriteArticle": [REFUSED]}) as model:
        run(one(model, "rr"), tmp_path / "out")
        edited = one(model, "direct")
        begun(edited, tmp_path / "out")
        assert run(edited, tmp_path / "out").results[0].failure == ""
    assert recipes(tmp_path / "out") == ["direct"]


def test_changed_documents_are_searched_on_retry(data: Path, tmp_path: Path) -> None:
    with FakeModel(faults={"WriteArticle": [REFUSED]}) as model:
        run(one(model, "rr", search={"corpus": "topic", "sources": "search"}), tmp_path / "out")
        run(one(model, "rr", search={"corpus": "topic", "sources": "human"}), tmp_path / "out")
    article = from_json((tmp_path / "out/articles/1/it/article.json").read_text("utf-8"))
    cited = {document.url for document in topic(1).documents if document.origin == "human"}
    assert {source.url for source in article.sources} <= cited


def test_a_changed_pool_is_another_experiment(data: Path, model: FakeModel, tmp_path: Path) -> None:
    changed = shutil.copytree(data, data.with_name("changed"))
    write_topics(changed, [topic(1), replace(topic(2), documents=topic(2).documents[1:])])
    elsewhere = {"set": "wikigenbench", "path": "changed", "core": True}
    own, pooled = {"corpus": "topic"}, {"corpus": "pooled"}
    begun(one(model, "rr", search=own), tmp_path / "own")
    begun(one(model, "rr", search=pooled), tmp_path / "pooled")
    begun(one(model, "rr", search=own, data=elsewhere), tmp_path / "own")
    with pytest.raises(SettingsError, match="other settings"):
        begun(one(model, "rr", search=pooled, data=elsewhere), tmp_path / "pooled")


def test_a_changed_dense_ranker_is_another_experiment(data: Path, model: FakeModel, tmp_path: Path) -> None:
    for ranker in ("bm25", "dense"):
        begun(one(model, "rr", search={"corpus": "topic", "ranker": ranker}), tmp_path / ranker)
    other = {"embedder": "another"}
    begun(one(model, "rr", search={"corpus": "topic", "ranker": "bm25"}, resources=other), tmp_path / "bm25")
    with pytest.raises(SettingsError, match="other settings"):
        begun(one(model, "rr", search={"corpus": "topic", "ranker": "dense"}, resources=other), tmp_path / "dense")
