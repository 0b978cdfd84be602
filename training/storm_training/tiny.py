"""A tokenizer and a Llama small enough to be trained from nothing on two cores within minutes."""

from collections.abc import Iterable
from typing import Any

END = "<|end|>"
"""Ends a response, and fills up batches."""


def train_tokenizer(texts: Iterable[str], *, vocabulary: int = 640) -> Any:
    """Return a byte-level BPE tokenizer (GPT-2's splitting, which llama.cpp knows as ``gpt-2``).

    Args:
        texts: what it is trained on.
        vocabulary: most tokens, of which 256 are bytes.

    Returns:
        A ``PreTrainedTokenizerFast`` whose end and padding token is :data:`END`.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary, special_tokens=[END], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token=END, pad_token=END, clean_up_tokenization_spaces=False
    )


def tiny_llama(tokenizer: Any, *, seed: int, hidden: int = 96, layers: int = 3) -> Any:
    """Return a Llama with random weights: 0.4 M parameters by default, embeddings tied, heads of 32 numbers.

    Args:
        tokenizer: its vocabulary and its end token.
        seed: of the weights.
        hidden: width; a multiple of 32.
        layers: how many.
    """
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=hidden,
        intermediate_size=hidden // 32 * 85 // 32 * 32,
        num_hidden_layers=layers,
        num_attention_heads=hidden // 32,
        max_position_embeddings=512,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return LlamaForCausalLM(config)
