"""PPO's computations on rewards: per-token rewards, advantages, the clipped objective. Pure functions of tensors."""

from collections.abc import Sequence

import torch
from torch import Tensor


def token_rewards(rewards: Sequence[Sequence[float]], ends: Sequence[Sequence[int]], penalty: Tensor) -> Tensor:
    """Σ_j 1(t = T_j) R̂[j] minus a penalty.

    Args:
        rewards: of each answer's segments.
        ends: the column of each segment's last token.
        penalty: β log π/π_ref, shape (answers, tokens − 1).
    """
    found = -penalty
    for row, (own, at) in enumerate(zip(rewards, ends, strict=True)):
        for reward, column in zip(own, at, strict=True):
            found[row, column] += reward
    return found


def advantages_of(rewards: Tensor, values: Tensor, mask: Tensor, discount: float, decay: float) -> Tensor:
    """Return generalised advantages: Â_t = δ_t + γλ Â_{t+1}, δ_t = r_t + γ V_{t+1} − V_t, with V = 0 at the end.

    Args:
        rewards: shape (answers, tokens − 1).
        values: of the states in which each token is chosen, same shape.
        mask: which are of responses, one stretch a row, same shape.
        discount: γ.
        decay: λ.

    Returns:
        Same shape, 0 outside the mask.
    """
    found = torch.zeros_like(rewards)
    after, later = torch.zeros(len(rewards)), torch.zeros(len(rewards))
    for at in reversed(range(rewards.shape[1])):
        delta = rewards[:, at] + discount * after - values[:, at]
        later = torch.where(mask[:, at], delta + discount * decay * later, 0.0)
        after = torch.where(mask[:, at], values[:, at], 0.0)
        found[:, at] = later
    return found


def clipped_objective(ratio: Tensor, advantages: Tensor, mask: Tensor, clip: float) -> Tensor:
    """−mean of min(ρ Â, clip(ρ, 1 − ε, 1 + ε) Â) over the masked tokens."""
    better = torch.minimum(ratio * advantages, ratio.clamp(1 - clip, 1 + clip) * advantages)
    return -(better * mask).sum() / mask.sum().clamp(min=1)
