"""The embedders on real networks: a tiny random BERT made here, and the pinned MiniLM."""

import gc
import json
import os
import shutil
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storm_pipeline.errors import SettingsError
from storm_pipeline.evidence.retrieval import Vectors
from storm_pipeline.evidence.retrieval.embedder import (
    CachingEmbedder,
    CountsTokens,
    HashingEmbedder,
    SentenceTransformerEmbedder,
    open_embedder,
    shared_embedder,
)
from storm_pipeline.evidence.retrieval.encoder_process import ProcessEmbedder, private_folder, share_encoder_process
from storm_pipeline.run.concurrency import in_own_thread, parallel_map
from storm_pipeline.sources.engines.corpus import CorpusSearch

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


def test_vectors_have_unit_length(folder: Path) -> None:
    embedder = SentenceTransformerEmbedder(folder)
    vectors = embedder.embed(TEXTS)
    assert embedder.name == "tiny"
    assert vectors.shape == (len(TEXTS), embedder.dimension) == (len(TEXTS), 64)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.array_equal(embedder.embed(TEXTS * 40), np.tile(vectors, (40, 1)))


def test_a_text_waits_for_no_more_than_a_batch_of_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = threading.Event()

    def encode(_: object, texts: list[str], **__: object) -> Vectors:
        started.set()
        wait([one], 0.05)  # not for ever: it may wait for this batch
        return np.zeros((len(texts), 64), dtype=np.float32)

    embedder = SentenceTransformerEmbedder(folder)
    assert embedder.dimension == 64
    monkeypatch.setattr("sentence_transformers.SentenceTransformer.encode", encode)
    one = in_own_thread(lambda: (started.wait(), embedder.embed(["camel"])), "one")
    assert embedder.embed(["silk road"] * 1600).shape == (1600, 64)
    assert one.result(0)


@settings(max_examples=25)
@given(order=st.permutations(range(len(TEXTS))), size=st.integers(1, 7))
def test_a_vector_does_not_depend_on_its_batch(folder: Path, order: list[int], size: int) -> None:
    embedder = SentenceTransformerEmbedder(folder)
    whole = embedder.embed(TEXTS)
    part = embedder.embed([TEXTS[i] for i in order[:size]])
    assert np.array_equal(part, whole[order[:size]])


def test_what_is_no_model_or_damaged_is_named_with_a_remedy(folder: Path, tmp_path: Path) -> None:
    damaged, none = shutil.copytree(folder, tmp_path / "damaged"), str(tmp_path)
    (damaged / "model.safetensors").write_bytes(b"nothing")
    opened = (open_embedder(none, tmp_path), ProcessEmbedder(none, tmp_path, tmp_path))
    for embedder in (*opened, SentenceTransformerEmbedder(damaged)):
        with pytest.raises(SettingsError, match="give a folder"):
            embedder.embed(["x"])


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


def encoders(folder: Path) -> list[int]:
    """Ids of the encoder processes of a folder."""
    found = subprocess.run(["pgrep", "-f", f"serve.*{folder}"], capture_output=True, check=False)
    return [int(line) for line in found.stdout.split()]


@pytest.mark.skipif(not shutil.which("pgrep"), reason="counts processes by pgrep")
def test_runs_share_an_encoder_process_that_is_replaced_and_ends(folder: Path, tmp_path: Path) -> None:
    def ask(texts: list[str]) -> Vectors:
        return ProcessEmbedder(str(folder), tmp_path, tmp_path).embed(texts)

    alone, one = open_embedder(str(folder), tmp_path), ProcessEmbedder(str(folder), tmp_path, tmp_path)
    vectors = alone.embed(TEXTS)
    assert isinstance(one, CountsTokens)
    assert isinstance(alone, CountsTokens)
    assert (one.name, one.dimension, one.longest) == (alone.name, alone.dimension, alone.longest)
    assert (one.count_tokens("silk road, silk"), alone.count_tokens("silk road, silk"), alone.count_tokens("")) == (
        4,
        4,
        0,
    )
    parts = [TEXTS[start : start + 2] for start in range(0, len(TEXTS), 2)]
    assert np.array_equal(np.concatenate(parallel_map(ask, parts, workers=4)), vectors)
    (process,) = encoders(tmp_path)
    assert [path.is_socket() for path in tmp_path.glob("*/listener-*")] == [True]  # not where others may make another
    os.kill(process, signal.SIGKILL)
    assert np.array_equal(parallel_map(one.embed, [TEXTS, TEXTS], workers=2)[1], vectors)
    (other,) = encoders(tmp_path)
    assert other != process
    del one
    gc.collect()
    end = time.monotonic() + 60
    while encoders(tmp_path) and time.monotonic() < end:
        time.sleep(0.2)
    assert not encoders(tmp_path)


def test_the_folder_of_encoder_processes_must_be_private(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder = private_folder()
    assert folder.parent == tmp_path
    folder.chmod(0o755)
    with pytest.raises(SettingsError, match="open to other users"):
        private_folder()
    share_encoder_process()
    assert "each process embeds by itself" in caplog.text
    assert isinstance(shared_embedder(str(tmp_path), tmp_path), SentenceTransformerEmbedder)


def test_a_relative_folder_is_that_of_the_process_that_asks(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    (tmp_path / "silk.txt").write_text("Silk came by road.")
    for number, (place, longest) in enumerate(((tmp_path / "a", 7), (tmp_path / "b", 9), (tmp_path / "b", 11)), 1):
        shutil.copytree(folder, place / "m", dirs_exist_ok=True)
        (place / "m" / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": longest}))
        monkeypatch.chdir(place)
        found.append(ProcessEmbedder("./m", tmp_path, tmp_path))
        assert found[-1].longest == longest
        for embedder in (found[-1], open_embedder("./m", tmp_path), CachingEmbedder(found[-1])):
            CorpusSearch(tmp_path / "silk.txt", cache=tmp_path, embedder=embedder)
        assert len(list((tmp_path / "corpora").iterdir())) == number  # no model gets the vectors of another
