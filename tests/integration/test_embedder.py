"""The embedders on real networks: a tiny random BERT made here, and the pinned MiniLM."""

import json
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storm_pipeline.errors import SettingsError
from storm_pipeline.evidence.retrieval import int8_network
from storm_pipeline.evidence.retrieval.embedder import (
    CountsTokens,
    HashingEmbedder,
    SentenceTransformerEmbedder,
    open_embedder,
    shared_embedder,
)
from storm_pipeline.evidence.retrieval.int8_bert import Int8BertEmbedder
from storm_pipeline.evidence.retrieval.int8_network import has_exact_int8
from storm_pipeline.text.chunks import token_chunks

TEXTS = [
    *("the silk road was a network of trade routes", "camel", "", "a lone \ud800 surrogate", "silk " * 40),
    *("the road from rome to the desert " * 5, "trade"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sentence-transformers folder laid out as the pinned one, with small random weights."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    base = tmp_path_factory.mktemp("models") / "tiny"
    (base / "1_Pooling").mkdir(parents=True)
    words = sorted(set(" ".join(TEXTS[:6:5]).split()))
    (base / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]))
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=5 + len(words),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        max_position_embeddings=64,
        initializer_range=0.2,
    )
    BertModel(config).save_pretrained(base)
    BertTokenizerFast(str(base / "vocab.txt")).save_pretrained(base)
    kinds = {"": "Transformer", "1_Pooling": "Pooling", "2_Normalize": "Normalize"}
    modules = [
        {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for i, (path, kind) in enumerate(kinds.items())
    ]
    (base / "modules.json").write_text(json.dumps(modules))
    (base / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 32, "do_lower_case": False}))
    pooling = {"word_embedding_dimension": 64, "pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}
    (base / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    return base


def test_int8_vectors_point_where_the_float_models_do(folder: Path) -> None:
    fast, exact = Int8BertEmbedder(folder), SentenceTransformerEmbedder(folder)
    ours, theirs = fast.embed(TEXTS), exact.embed(TEXTS)
    assert ours.shape == theirs.shape == (len(TEXTS), fast.dimension)
    assert fast.dimension == exact.dimension == 64
    assert ours.dtype == theirs.dtype == np.float32
    assert np.allclose(np.linalg.norm(ours, axis=1), 1, atol=1e-5)
    assert ((ours * theirs).sum(axis=1) > 0.99).all()
    assert fast.name == "tiny+int8"
    assert exact.name == "tiny"


def test_a_processor_without_exact_integers_gets_the_float_model(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(int8_network, "has_exact_int8", lambda: False)
    ours = Int8BertEmbedder(folder).embed(TEXTS)
    assert np.allclose(ours, SentenceTransformerEmbedder(folder).embed(TEXTS), atol=1e-5)


@settings(max_examples=25)
@given(order=st.permutations(range(len(TEXTS))), size=st.integers(1, 7), budget=st.sampled_from([1, 50, 5000]))
def test_a_vector_does_not_depend_on_its_batch(folder: Path, order: list[int], size: int, budget: int) -> None:
    whole = Int8BertEmbedder(folder).embed(TEXTS)
    part = Int8BertEmbedder(folder, batch_tokens=budget).embed([TEXTS[i] for i in order[:size]])
    assert np.allclose(part, whole[order[:size]], rtol=0, atol=0 if has_exact_int8() else 1e-6)


@pytest.mark.parametrize("change", ["hidden_act", "pooling", "modules", "weights"])
def test_another_architecture_is_left_to_the_library(folder: Path, tmp_path: Path, change: str) -> None:
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    if change == "hidden_act":
        config = json.loads((other / "config.json").read_text())
        (other / "config.json").write_text(json.dumps(config | {"hidden_act": "relu"}))
    elif change == "pooling":
        config = json.loads((other / "1_Pooling" / "config.json").read_text())
        pooling = config | {"pooling_mode_mean_tokens": False, "pooling_mode_cls_token": True}
        (other / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    elif change == "modules":
        modules = json.loads((other / "modules.json").read_text())
        (other / "modules.json").write_text(json.dumps(modules[:2]))
    else:
        (other / "model.safetensors").unlink()
    assert Int8BertEmbedder.fits(folder)
    assert not Int8BertEmbedder.fits(other)
    if change != "weights":
        opened = open_embedder(str(other), tmp_path)
        assert isinstance(opened, SentenceTransformerEmbedder)
        assert np.allclose(np.linalg.norm(opened.embed(["silk road"]), axis=1), 1, atol=1e-5)


def test_what_is_no_model_is_named_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="give a folder"):
        open_embedder(str(tmp_path), tmp_path).embed(["x"])


def test_a_damaged_weights_file_is_named(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    (other / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(SettingsError, match="delete the folder"):
        Int8BertEmbedder(other).embed(["x"])


@pytest.mark.parametrize("kind", [Int8BertEmbedder, SentenceTransformerEmbedder])
def test_tokens_are_counted(folder: Path, kind: type[Int8BertEmbedder] | type[SentenceTransformerEmbedder]) -> None:
    embedder = kind(folder)
    assert isinstance(embedder, CountsTokens)
    assert embedder.count_tokens("silk road, silk") == 4
    assert embedder.count_tokens("") == 0
    assert embedder.longest == json.loads((folder / "sentence_bert_config.json").read_text())["max_seq_length"]
    passages = token_chunks(
        "the silk road was a network of trade routes. " * 9, embedder.longest - 2, embedder.count_tokens
    )
    assert len(passages) > 1
    assert all(embedder.count_tokens(passage) <= embedder.longest - 2 for passage in passages)


def test_twenty_storms_at_once_hold_one_encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[HashingEmbedder] = []

    def open_slowly(*_: object, **__: object) -> HashingEmbedder:
        time.sleep(0.05)
        opened.append(HashingEmbedder())
        return opened[-1]

    monkeypatch.setattr("storm_pipeline.evidence.retrieval.embedder.open_embedder", open_slowly)
    with ThreadPoolExecutor(20) as pool:
        shared = list(pool.map(lambda _: shared_embedder("any-model", tmp_path), range(20)))
    assert len(opened) == 1
    assert all(embedder is opened[0] for embedder in shared)
