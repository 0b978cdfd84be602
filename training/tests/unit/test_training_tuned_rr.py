"""TunedRR from end to end: a teacher's article, a writer tuned on it, exported, and a row of an experiment."""

import json
from pathlib import Path

import torch
from found_pages import page
from llm import FakeModel
from typer.testing import CliRunner

from storm_bench.datasets.built import write_topics
from storm_bench.experiments import Experiment, ExperimentConfig
from storm_bench.types import HumanArticle, HumanSection, Topic, TopicDocument
from storm_pipeline.interfaces.batch.executors import ThreadExecutor
from storm_pipeline.run.article_json import from_json
from storm_training.__main__ import app
from storm_training.batches import encode
from storm_training.export import export_gguf
from storm_training.fine_tuning import fine_tune
from storm_training.loop import Steps
from storm_training.tiny import tiny_llama, train_tokenizer
from storm_training.writers import read_pairs

NAME = "Silk Road"
ARTICLE = "Cotton from Aleppo paid tolls near Tyre [1]. Museums keep old songs about spring caravans [2]."


def described(lm):
    return ExperimentConfig.model_validate(
        {
            "title": "TunedRR",
            "baseline": "rr",
            "metrics": ["rouge", "shape", "cost"],
            "data": {"set": "wikigenbench", "path": "bench", "core": True},
            "search": {"corpus": "topic"},
            "settings": {
                "lm": lm,
                "writing": "whole",
                "uncited": "unchecked",
                "top_k": 2,
                "length": "100",
                "temperature": 0,
            },
            "methods": [{"recipe": "rr"}],
        }
    )


def row(lm, folder):
    """The row of the only topic, and the article's sentences with how many passages each cites."""
    cache = Path(__file__).resolve().parents[3] / "cache"
    with Experiment(described(lm), folder, ThreadExecutor(), cache=cache, on_progress=lambda _: None) as experiment:
        (found,) = experiment.run().results
    path = next(folder.rglob("article.json"))
    article = from_json(path.read_text(encoding="utf-8"))
    return found, [(one.text, len(one.citations)) for one in article.sentences()]


def tuned(prompt, response, path):
    """A writer of 0.2 M parameters that knows one article by heart."""
    torch.set_num_threads(1)
    tokenizer = train_tokenizer([prompt, response] * 2, vocabulary=1500)
    model = tiny_llama(tokenizer, seed=0, hidden=64, layers=2)
    model.config.max_position_embeddings = 4096  # it has no table of positions
    steps = Steps(steps=60, batch=1, rate=1e-2, warmup=5)
    fine_tune(model, [encode(tokenizer, prompt, response)], steps, padding=tokenizer.eos_token_id)
    return export_gguf(model, tokenizer, path, "Q8_0")


def data(folder):
    """A data set of one topic as the bench builds it."""
    shown = [page(7 + at, NAME) for at in range(4)]
    documents = tuple(TopicDocument(one.url, one.title, one.text, "human") for one in shown)
    human = HumanArticle(NAME, "https://en.wikipedia.org/wiki/Silk_Road", "", (HumanSection("Goods", shown[0].text),))
    topic = Topic("1", NAME, human, documents)
    write_topics(folder, [topic])
    return folder


def test_pairs_are_a_teachers_articles_on_a_topics_chunks(tmp_path):
    path, source = tmp_path / "pairs.jsonl", data(tmp_path / "bench")
    with FakeModel({"WriteArticle": ARTICLE}) as teacher:
        order = ["articles", str(source), "--to", str(path), "--lm", teacher.lm, "--length", "100"]
        found = CliRunner().invoke(app, order)
        assert found.exit_code == 0, found.output
        (asked,) = teacher.of("WriteArticle")
        assert CliRunner().invoke(app, order).exit_code == 0
        assert len(teacher.of("WriteArticle")) == 1, "a second call asks nothing"
        assert "no article" in str(
            CliRunner().invoke(app, [*order[:3], str(tmp_path / "no"), "--without", "1"]).exception
        )
    (row,) = map(json.loads, path.read_text().splitlines())
    assert row["response"] == ARTICLE
    assert [(one["role"], one["content"]) for one in row["prompt"]] == list(asked.messages)
    (example,) = read_pairs(path, train_tokenizer([ARTICLE, *(one["content"] for one in row["prompt"])]), 5000)
    assert example.prompt
    path.write_text("[]\n")
    assert f"{path} is damaged" in str(CliRunner().invoke(app, order).exception)


def test_what_a_teacher_costs_is_told_and_capped(tmp_path, monkeypatch):
    path = tmp_path / "pairs.jsonl"
    data(tmp_path / "of-one-topic")
    monkeypatch.setenv("STORM_DATA", str(tmp_path))  # where the data are looked for if not here
    with FakeModel({"WriteArticle": ARTICLE}) as teacher:
        order = ["articles", "of-one-topic", "--to", str(path), "--lm", teacher.lm, "--length", "100"]
        capped = CliRunner().invoke(app, [*order, "--max-cost", "0.000001"])
        asked = len(teacher.of("WriteArticle"))
    assert "1 texts by openai/fake" in capped.output
    assert "unknown dollars" in capped.output
    assert asked == 0
    assert "no article" in str(capped.exception)


def test_a_writer_tuned_on_a_teachers_article_is_a_row_of_an_experiment(tmp_path, monkeypatch):
    data(tmp_path / "data" / "bench")
    monkeypatch.setenv("STORM_DATA", str(tmp_path / "data"))
    with FakeModel({"WriteArticle": ARTICLE}) as teacher:
        taught, article = row(teacher.lm, tmp_path / "teacher")
        (asked,) = teacher.of("WriteArticle")
    path = tuned("".join(content for _, content in asked.messages), ARTICLE, tmp_path / "writer.gguf")
    found, own = row(f"gguf:{path}", tmp_path / "tuned")
    assert not found.failure
    assert own == article
    assert all(cited for _, cited in own)
    assert found.values["rouge_1"] == taught.values["rouge_1"] > 0
