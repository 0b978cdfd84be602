"""The losses of reward models (FoRAG, Table 2) and of fine-tuning with good and bad answers.

Table 2 combines how finely an answer is *evaluated* with how finely a reward is *modelled*. The first decides the
segments (the whole answer, or each sentence) and the loss: log loss where labels are 0 or 1 (holistic, sentence), the
squared error where a segment's label is aggregated from those of its subclaims. The second decides what predicts a
segment's reward: the value at its last token (sequence level), or the aggregate of the values at all of its tokens.
As in the paper losses are sums over segments and answers; The stage that trains divides by the answers of a
batch, so that its size does not change the step.
"""

from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

Aggregate = Literal["mean", "min", "max"]


def segment_rewards(values: Tensor, segments: Tensor, count: int, how: Aggregate | Literal["last"]) -> Tensor:
    """Return the reward of each segment, from values of its tokens.

    Args:
        values: one number a token, shape (answers, tokens).
        segments: number of each token's segment, same shape; -1 where it belongs to none.
        count: segments of the answer that has most.
        how: the ``last`` token's value (sequence level), or the ``mean``, ``min`` or ``max`` of all (token level).

    Returns:
        Shape (answers, count); 0 for segments that an answer does not have.
    """
    member = segments.unsqueeze(-1) == torch.arange(count, device=segments.device)  # answers, tokens, segments
    has = member.any(1)
    if how == "last":
        position = torch.arange(segments.shape[1], device=segments.device).view(1, -1, 1)
        last = torch.where(member, position, -1).amax(1)
        return torch.where(has, values.gather(1, last.clamp(min=0)), 0.0)
    spread = values.unsqueeze(-1)
    if how == "mean":
        return (spread * member).sum(1) / member.sum(1).clamp(min=1)
    filled = torch.where(member, spread, torch.inf if how == "min" else -torch.inf)
    best = filled.amin(1) if how == "min" else filled.amax(1)
    return torch.where(has, best, 0.0)


def log_loss(predicted: Tensor, label: Tensor, given: Tensor) -> Tensor:
    """Σ −(r log R̂ + (1 − r) log(1 − R̂)) over the segments that have a label (section 5.2).

    Args:
        predicted: R̂ in (0, 1), shape (answers, segments).
        label: r in [0, 1], same shape.
        given: whether there is such a segment, same shape.
    """
    safe = torch.where(given, predicted, 0.5)
    terms = functional.binary_cross_entropy(safe, label.to(safe.dtype), reduction="none")
    return torch.where(given, terms, 0.0).sum()


def squared_error(predicted: Tensor, label: Tensor, given: Tensor) -> Tensor:
    """Σ (R̂ − r)² over the segments that have a label (section 5.2); arguments as :func:`log_loss`."""
    return torch.where(given, (predicted - label) ** 2, 0.0).sum()


def token_log_probabilities(logits: Tensor, tokens: Tensor) -> Tensor:
    """Log π(token) for each token but the first, from the logits before it.

    Args:
        logits: shape (answers, tokens, vocabulary).
        tokens: shape (answers, tokens).

    Returns:
        Shape (answers, tokens − 1).
    """
    chosen = logits[:, :-1].gather(-1, tokens[:, 1:].unsqueeze(-1)).squeeze(-1)
    return chosen - logits[:, :-1].logsumexp(-1)


def likelihood_loss(log_probabilities: Tensor, counted: Tensor) -> Tensor:
    """−log π, the mean over the counted tokens: supervised fine-tuning.

    Args:
        log_probabilities: shape (answers, tokens).
        counted: which tokens count, same shape.
    """
    return -(log_probabilities * counted).sum() / counted.sum().clamp(min=1)


def unlikelihood_loss(log_probabilities: Tensor, counted: Tensor) -> Tensor:
    """−log(1 − π), the mean over the counted tokens of answers to be made less likely (Welleck et al. 2019)."""
    other = torch.log1p(-log_probabilities.exp().clamp(max=1 - 1e-6))
    return -(other * counted).sum() / counted.sum().clamp(min=1)
