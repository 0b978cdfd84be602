"""The models behind CONNER's protocols, loaded from tiny folders, beside second implementations."""

import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import torch
from safetensors.torch import load_file, save_file
from servers import Reply, Request, ScriptedServer
from tiny_models import SPECIAL, WORDS, write_classifier, write_gpt2
from transformers import AutoModelForSequenceClassification, AutoTokenizer, BertModel

from storm_bench.conner.causal_model import CausalModel
from storm_bench.conner.completing import Completions, open_writer
from storm_bench.conner.knowledge import Drawing
from storm_bench.conner.named_models import (
    TABLE_14,
    open_inference,
    open_lm,
    open_matching,
)
from storm_bench.conner.pair_models import CrossEncoder, NliModel
from storm_bench.conner.sentence_order import (
    SentenceOrder,
    load_order,
    order_accuracy,
    save_order,
    train_order,
)
from storm_bench.errors import MetricError
from storm_bench.judges.base import Pair
from storm_pipeline import Settings
from storm_pipeline.errors import MissingExtraError, SettingsError
from storm_pipeline.retrieval.embedder import HashingEmbedder, Vectors

Floats = npt.NDArray[np.float64]


def ids(text: str) -> list[int]:
    return [len(SPECIAL) + WORDS.index(word) for word in text.split()]


def gpt2_by_hand(folder: Path, tokens: list[int], heads: int = 3, layers: int = 2) -> Floats:
    """Logits of shape (tokens, vocabulary), in plain numpy."""
    w = {
        name.removeprefix("transformer."): t.double().numpy()
        for name, t in load_file(folder / "model.safetensors").items()
    }

    def norm(x: Floats, name: str) -> Floats:
        centred = x - x.mean(-1, keepdims=True)
        return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * w[f"{name}.weight"] + w[f"{name}.bias"]

    def dense(x: Floats, name: str) -> Floats:
        return x @ w[f"{name}.weight"] + w[f"{name}.bias"]

    x = w["wte.weight"][tokens] + w["wpe.weight"][: len(tokens)]
    for layer in range(layers):
        parts = np.split(dense(norm(x, f"h.{layer}.ln_1"), f"h.{layer}.attn.c_attn"), 3, axis=-1)
        q, k, v = (part.reshape(len(tokens), heads, -1).swapaxes(0, 1) for part in parts)
        scores = q @ k.swapaxes(1, 2) / np.sqrt(q.shape[-1])
        scores = np.where(np.tril(np.ones((len(tokens),) * 2)) > 0, scores, -np.inf)
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (shares / shares.sum(-1, keepdims=True)) @ v
        x = x + dense(mixed.swapaxes(0, 1).reshape(len(tokens), -1), f"h.{layer}.attn.c_proj")
        inner = dense(norm(x, f"h.{layer}.ln_2"), f"h.{layer}.mlp.c_fc")
        inner = 0.5 * inner * (1 + np.tanh(np.sqrt(2 / np.pi) * (inner + 0.044715 * inner**3)))
        x = x + dense(inner, f"h.{layer}.mlp.c_proj")
    return norm(x, "ln_f") @ w["wte.weight"].T


def by_hand(folder: Path, before: list[int], scored: list[int]) -> list[float]:
    """Log-probabilities by a plain softmax."""
    logits = gpt2_by_hand(folder, [*before, *scored])
    rows = logits[len(before) - 1 : -1]
    return [float(row[token] - np.log(np.exp(row).sum())) for row, token in zip(rows, scored, strict=True)]


@pytest.mark.parametrize(
    ("context", "text"), [("", "rome fell"), ("the trade of silk", "went on by sea"), ("rome", "rome"), ("in", "")]
)
def test_log_probabilities_agree_with_a_second_implementation(tmp_path: Path, context: str, text: str) -> None:
    folder = write_gpt2(tmp_path / "gpt2")
    found = CausalModel(folder).log_probabilities(context, text)
    expected = by_hand(folder, [SPECIAL.index("<start>"), *ids(context)], ids(text)) if text else []
    assert found == pytest.approx(expected, abs=1e-4)
    assert len(found) == len(text.split())
    assert all(value <= 0 for value in found)


def test_without_a_start_token_the_first_token_has_no_probability(tmp_path: Path) -> None:
    folder = write_gpt2(tmp_path / "gpt2", start=False)
    model = CausalModel(folder)
    assert model.log_probabilities("", "rome fell") == pytest.approx(
        by_hand(folder, ids("rome"), ids("fell")), abs=1e-4
    )
    assert model.log_probabilities("", "rome") == []
    assert model.log_probabilities("", "") == []
    assert model.log_probabilities("rome", "fell") == pytest.approx(by_hand(folder, ids("rome"), ids("fell")), abs=1e-4)


def test_a_long_context_loses_its_beginning_and_a_long_text_its_end(tmp_path: Path) -> None:
    folder = write_gpt2(tmp_path / "gpt2", window=5)
    model = CausalModel(folder)
    found = model.log_probabilities("rome fell in silence", "the trade")
    assert found == pytest.approx(by_hand(folder, ids("fell in silence"), ids("the trade")), abs=1e-4)
    assert len(model.log_probabilities("", "rome fell in silence and the trade")) == 4


def test_a_language_model_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(MetricError, match=r"cannot be loaded .*give a folder with a causal model"):
        CausalModel(tmp_path).log_probabilities("", "rome")


def test_three_labels_are_read_from_the_configuration(tmp_path: Path) -> None:
    folder = write_classifier(tmp_path / "nli", ["CONTRADICTION", "NEUTRAL", "ENTAILMENT"])
    model, tokenizer = AutoModelForSequenceClassification.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    pairs = [Pair("rome fell", "rome fell in silence"), Pair("silk went by sea and rome fell", "trade")]
    found = NliModel(folder).verdicts(pairs)
    for pair, verdict in zip(pairs, found, strict=True):
        with torch.inference_mode():
            shares = model(**tokenizer(pair.passage, pair.claim, return_tensors="pt")).logits.softmax(-1)[0].tolist()
        assert [verdict.refuted, verdict.neutral, verdict.entailed] == pytest.approx(shares, abs=1e-6)
    assert NliModel(folder).verdicts([]) == []
    assert NliModel(folder).name == "nli:nli"


def test_two_labels_are_no_inference_model(tmp_path: Path) -> None:
    folder = write_classifier(tmp_path / "two", ["no", "yes"])
    with pytest.raises(MetricError, match=r"no label of .* is called 'entailment'"):
        NliModel(folder).verdicts([Pair("rome", "fell")])
    with pytest.raises(MetricError, match="give a folder with a sequence classifier"):
        NliModel(tmp_path).verdicts([Pair("rome", "fell")])


def test_a_ranker_with_two_labels_or_one(tmp_path: Path) -> None:
    two = write_classifier(tmp_path / "two", ["0", "1"])
    model, tokenizer = AutoModelForSequenceClassification.from_pretrained(two), AutoTokenizer.from_pretrained(two)
    texts = ["rome fell", "silk went on by sea"]
    with torch.inference_mode():
        logits = [model(**tokenizer("trade", text, return_tensors="pt")).logits[0] for text in texts]
    assert CrossEncoder(two).matches("trade", texts) == pytest.approx(
        [float(own.softmax(-1)[1]) for own in logits], abs=1e-6
    )
    one = write_classifier(tmp_path / "one", ["relevance"])
    assert all(0 <= score <= 1 for score in CrossEncoder(one).matches("trade", texts))
    three = write_classifier(tmp_path / "three", ["a", "b", "c"])
    with pytest.raises(MetricError, match="has 3 labels"):
        CrossEncoder(three).matches("trade", texts)


def test_classifiers_without_a_trained_head_are_refused(tmp_path: Path) -> None:
    folder = write_classifier(tmp_path / "whole", ["contradiction", "neutral", "entailment"])
    BertModel.from_pretrained(folder).save_pretrained(tmp_path / "headless")
    AutoTokenizer.from_pretrained(folder).save_pretrained(tmp_path / "headless")
    missing = r"no weights for classifier\.bias, classifier\.weight, so its scores would be random: give a model"
    with pytest.raises(MetricError, match=f"{missing} that was trained to rank passages"):
        CrossEncoder(tmp_path / "headless").matches("trade", ["rome fell"])
    with pytest.raises(MetricError, match=f"{missing} that was trained on natural language inference"):
        NliModel(tmp_path / "headless").verdicts([Pair("rome", "fell")])


def without(folder: Path, tensor: str) -> Path:
    """The checkpoint of a folder, robbed of one tensor."""
    path = folder / "model.safetensors"
    save_file({k: v for k, v in load_file(path).items() if k != tensor}, path, metadata={"format": "pt"})
    return folder


def test_models_that_lack_weights_are_refused(tmp_path: Path) -> None:
    lm = CausalModel(without(write_gpt2(tmp_path / "gpt2"), "transformer.h.1.ln_2.weight"))
    with pytest.raises(
        MetricError, match=r"the language model .*gpt2' has no weights for transformer\.h\.1\.ln_2\.weight"
    ):
        lm.log_probabilities("rome", "fell")


def ordered(seed: int, number: int) -> list[Vectors]:
    """Paragraphs whose sentences turn by one step each."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(number):
        angles = rng.uniform(0, 0.3) + 0.4 * np.arange(rng.integers(3, 7))
        noise = rng.normal(scale=0.02, size=(len(angles), 2))
        found.append((np.stack([np.cos(angles), np.sin(angles)], axis=1) + noise).astype(np.float32))
    return found


def test_sentence_order_is_learnt_and_kept(tmp_path: Path) -> None:
    weights = train_order(ordered(0, 300), epochs=20)
    assert order_accuracy(weights, ordered(1, 200)) > 0.9
    again = train_order(ordered(0, 300), epochs=20)
    assert np.array_equal(weights.inner, again.inner)
    save_order(weights, "circle", tmp_path / "new" / "order.safetensors")
    assert np.array_equal(load_order(tmp_path / "new" / "order.safetensors", "circle").outer, weights.outer)
    with pytest.raises(MetricError, match="was trained with circle, not square"):
        load_order(tmp_path / "new" / "order.safetensors", "square")
    with pytest.raises(MetricError, match="train it with"):
        load_order(tmp_path / "none", "circle")
    with pytest.raises(ValueError, match="no paragraph has two sentences"):
        train_order(ordered(0, 3)[0][:0, None])


def test_a_paragraph_scores_alone_as_beside_others() -> None:
    embedder = HashingEmbedder(16)
    texts = [["Rome fell.", "It was silent.", "Trade went on."], ["Silk came."], ["A.", "B."]]
    model = SentenceOrder(embedder, train_order([embedder.embed(own) for own in texts], epochs=1))
    together = model.coherences(texts)
    assert together == pytest.approx([model.coherences([own])[0] for own in texts])
    assert all(0 <= score <= 1 for score in together)
    assert model.name == "stand-in:sentence-order:hashing-16"
    assert model.coherences([]) == []


def test_models_are_opened_by_name(tmp_path: Path) -> None:
    embedder = HashingEmbedder()
    assert open_inference("screen", tmp_path, embedder).name == "stand-in:screen:hashing-128"
    assert open_inference(TABLE_14.inference, tmp_path, embedder).name == "nli:FacebookAI/roberta-large-mnli"
    assert open_matching("cosine", tmp_path, embedder).name == "stand-in:cosine:hashing-128"
    assert open_matching(TABLE_14.matching, tmp_path, embedder).name == "ranker:castorini/monobert-large-msmarco"
    assert open_lm(TABLE_14.lm, tmp_path).name == "EleutherAI/gpt-neo-2.7B"
    for opened in (open_inference, open_matching):
        with pytest.raises(SettingsError, match="there is no model 'tarot:x' here: write "):
            opened("tarot:x", tmp_path, embedder)


def test_completions_are_asked_in_order_with_their_seed() -> None:
    with ScriptedServer(
        lambda request: Reply(body={"choices": [{"text": f" {request.json['prompt']}! \n"}]})
    ) as server:
        lm = Completions(f"{server.url}/v1", "tiny", "secret")
        assert lm.complete(["a", "b", "c"], tokens=5, drawing=Drawing(0.9, 3)) == ["a!", "b!", "c!"]
        assert lm.complete([], tokens=5, drawing=Drawing()) == []
        lm.complete(["d"], tokens=7, drawing=Drawing())
        sent = [request.json for request in server.requests]
    assert server.requests[0].headers["authorization"] == "Bearer secret"
    assert server.requests[0].path == "/v1/completions"
    assert {(one["top_p"], one["temperature"], one["seed"], one["max_tokens"]) for one in sent[:3]} == {
        (0.9, 1.0, 3, 5)
    }
    assert (sent[3]["temperature"], sent[3]["stop"]) == (0.0, ["\n"])
    assert "top_p" not in sent[3]


@pytest.mark.parametrize("reply", [Reply(status=500), Reply(body="no JSON"), Reply(body={"choices": []})])
def test_a_server_that_gives_no_completion(reply: Reply) -> None:
    with ScriptedServer(lambda request: reply) as server, pytest.raises(MetricError, match="gave no completion"):
        Completions(f"{server.url}/v1", "tiny").complete(["a"], tokens=5, drawing=Drawing())


def test_any_model_writes_by_messages(tmp_path: Path) -> None:
    def reply(request: Request) -> Reply:
        content = f"\n {request.json['messages'][-1]['content']} one two three\nmore"
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
        return Reply(body={"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})

    with ScriptedServer(reply) as server:
        lm = open_writer("openai/tiny", Settings(api_base=f"{server.url}/v1", cache=tmp_path, seed=4))
        assert lm.complete(["a", "b"], tokens=3, drawing=Drawing(0.9, 3)) == ["a one two", "b one two"]
        lm.complete(["c"], tokens=3, drawing=Drawing())
        sent = [request.json for request in server.requests]
    assert lm.name == "openai/tiny"
    assert [(one["temperature"], one["top_p"]) for one in sent] == [(1.0, 0.9), (1.0, 0.9), (0.0, 1.0)]
    assert [one["messages"][0]["role"] for one in sent] == ["system"] * 3
    assert [one["seed"] for one in sent] == [7, 7, 4]


@pytest.mark.parametrize(("name", "why"), [("embedded:9b", "choose one of embedded"), ("gpt", "names no provider")])
def test_a_writer_that_does_not_exist_is_named(name: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=why):
        open_writer(name, Settings(cache=tmp_path))


def test_a_gguf_file_needs_its_package_and_a_folder_beside_it_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "small.gguf"
    file.write_bytes(b"GGUF")
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(MissingExtraError, match=r"needs gguf .*pip install 'storm-bench\[eval\]'"):
        CausalModel(file).log_probabilities("", "rome")
    write_gpt2(tmp_path / "small.transformers")
    assert len(CausalModel(file).log_probabilities("", "rome fell")) == 2
    assert CausalModel(file).name == "small"
