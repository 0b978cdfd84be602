"""Tiny models of transformers with random weights and a tokenizer of whole words, saved as folders."""

import string
from pathlib import Path

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertModel,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
    XLNetConfig,
    XLNetModel,
)

WORDS = "rome fell in silence and the trade of silk went on by sea".split()
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused0]", "[unused1]", "<start>"]


def write_tokenizer(folder: Path, *, start: bool = False) -> int:
    """Save the tokenizer; returns the size of its vocabulary."""
    vocabulary = {word: place for place, word in enumerate([*SPECIAL, *WORDS, *string.punctuation])}
    inner = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    inner.pre_tokenizer = Whitespace()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        **({"bos_token": "<start>"} if start else {}),
        model_max_length=64,
    )
    tokenizer.save_pretrained(folder)
    return len(vocabulary)


def write_gpt2(folder: Path, *, start: bool = True, window: int = 16) -> Path:
    """A causal model of two layers."""
    size = write_tokenizer(folder, start=start)
    torch.manual_seed(3)
    config = GPT2Config(
        vocab_size=size, n_positions=window, n_embd=12, n_layer=2, n_head=3, initializer_range=0.5,
        bos_token_id=None, eos_token_id=None,
    )  # fmt: skip
    GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


def write_classifier(folder: Path, labels: list[str]) -> Path:
    """A BERT over pairs of texts."""
    torch.manual_seed(5)
    config = _bert(write_tokenizer(folder))
    config.id2label, config.label2id = dict(enumerate(labels)), {label: i for i, label in enumerate(labels)}
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder


def write_colbert(folder: Path) -> Path:
    """A BERT with ColBERT's projection in its checkpoint."""
    from safetensors.torch import load_file, save_file

    torch.manual_seed(7)
    BertModel(_bert(write_tokenizer(folder)), add_pooling_layer=False).save_pretrained(folder)
    path = folder / "model.safetensors"
    weights = {f"bert.{name}": value for name, value in load_file(path).items()}
    save_file({**weights, "linear.weight": torch.randn(6, 16)}, path, metadata={"format": "pt"})
    return folder


def write_momentum(folder: Path) -> tuple[Path, Path]:
    """A checkpoint of Coherence-Momentum, and the folder of its encoder."""
    encoder = folder / "encoder"
    config = XLNetConfig(vocab_size=write_tokenizer(encoder), d_model=16, n_layer=1, n_head=2, d_inner=16)
    config.save_pretrained(encoder)
    torch.manual_seed(9)
    main, other, head = XLNetModel(config), XLNetModel(config), torch.nn.Linear(16, 1)
    weights = {f"main_encoder.{name}": value for name, value in main.state_dict().items()}
    weights |= {f"momentum_encoder.{name}": value for name, value in other.state_dict().items()}
    weights |= {f"conlinear.{name}": value for name, value in head.state_dict().items()}
    checkpoint = folder / "checkpoint"
    checkpoint.mkdir()
    torch.save(weights, checkpoint / "pytorch_model.bin")
    (checkpoint / "config.json").write_text('{"model_size": "base", "max_len": 20}')
    return checkpoint, encoder


def _bert(size: int) -> BertConfig:
    return BertConfig(
        vocab_size=size, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=64, initializer_range=0.5,
    )  # fmt: skip
