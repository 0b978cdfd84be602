"""Answers sampled from a model.

``generate`` of transformers would do, but builds the mask of prompts that are filled up anew for each token, which
takes four fifths of a tiny model's time.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from storm_training.batches import Example


@torch.no_grad()
def sample(
    model: Any, prompts: Sequence[tuple[int, ...]], *, ending: int, most: int, seed: int, temperature: float = 1.0
) -> list[Example]:
    """Return one answer per prompt, sampled in one batch.

    Args:
        model: a causal language model.
        prompts: token ids.
        ending: the end token, with which an answer ends unless it has ``most`` tokens.
        most: tokens of an answer at most, the end included.
        seed: of the draws; torch's own generator is used, and left where the draws end.
        temperature: 0 takes the likeliest token each time.
    """
    torch.manual_seed(seed)
    width = max(map(len, prompts))
    tokens = torch.tensor([[ending] * (width - len(prompt)) + list(prompt) for prompt in prompts])
    known = torch.arange(width) >= torch.tensor([[width - len(prompt)] for prompt in prompts])
    shown, past, found = tokens, None, tokens[:, :0]
    while found.shape[1] < most and not (found == ending).any(1).all():
        output = model(
            input_ids=shown,
            attention_mask=_mask(known, shown.shape[1]),
            position_ids=(known.cumsum(1) - 1).clamp(min=0)[:, -shown.shape[1] :],
            past_key_values=past,
            use_cache=True,
            logits_to_keep=1,
        )
        logits, past = output.logits[:, -1].float(), output.past_key_values
        shown = (logits / temperature).softmax(-1).multinomial(1) if temperature else logits.argmax(-1, keepdim=True)
        found, known = torch.cat([found, shown], 1), functional.pad(known, (0, 1), value=True)
    return [Example(prompt, _until(row.tolist(), ending)) for prompt, row in zip(prompts, found, strict=True)]


def _mask(known: Tensor, queries: int) -> Tensor:
    """Return the additive attention mask of the last columns: 0 for visible tokens, shape (answers, 1, q, k)."""
    columns = torch.arange(known.shape[1])
    seen = known.unsqueeze(1) & (columns <= columns[-queries:].unsqueeze(1))
    return torch.where(seen, 0.0, torch.finfo(torch.float32).min).unsqueeze(1)


def _until(tokens: list[int], ending: int) -> tuple[int, ...]:
    """Return the tokens up to the end token, which is kept."""
    return tuple(tokens[: tokens.index(ending) + 1]) if ending in tokens else tuple(tokens)
