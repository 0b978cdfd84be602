"""Tiny models of transformers with random weights and a tokenizer of whole words, saved as folders."""

import string
from pathlib import Path
from typing import Any

WORDS = "rome fell in silence and the trade of silk went on by sea".split()
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused0]", "[unused1]", "<start>"]


def write_tokenizer(folder: Path, *, start: bool = False) -> int:
    """Save the tokenizer; returns the size of its vocabulary."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from transformers import PreTrainedTokenizerFast

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
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

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
    import torch
    from transformers import BertForSequenceClassification

    torch.manual_seed(5)
    config = _bert(write_tokenizer(folder))
    config.id2label, config.label2id = dict(enumerate(labels)), {label: i for i, label in enumerate(labels)}
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder


def _bert(size: int) -> Any:
    from transformers import BertConfig

    return BertConfig(
        vocab_size=size, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=64, initializer_range=0.5,
    )  # fmt: skip
