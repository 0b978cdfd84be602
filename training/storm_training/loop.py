"""The loop that all stages but PPO share: AdamW with a cosine schedule, checkpoints, a curve."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from pydantic import ConfigDict
from torch import Tensor

from storm_training import checkpoints, curves
from storm_training.errors import TrainingError

STRICT = ConfigDict(extra="forbid")
"""Configuration of settings read from a file: an unknown one is an error."""


@dataclass(frozen=True)
class Steps:
    """How a stage is trained.

    Attributes:
        steps: batches in all.
        batch: examples in a batch.
        rate: highest learning rate; it falls to 0 along a cosine (section 6.1) after ``warmup`` steps.
        warmup: steps over which the rate rises.
        seed: of the order of examples.
        save_every: steps between checkpoints.
        most_norm: gradients of a larger norm are scaled down to it.
    """

    __pydantic_config__ = STRICT

    steps: int = 400
    batch: int = 32
    rate: float = 3e-3
    warmup: int = 20
    seed: int = 0
    save_every: int = 100
    most_norm: float = 1.0


def rate_at(settings: Steps, step: int) -> float:
    """Return the learning rate of a step, from 0."""
    if step < settings.warmup:
        return settings.rate * (step + 1) / settings.warmup
    done = (step - settings.warmup) / max(1, settings.steps - settings.warmup)
    return settings.rate * (1 + math.cos(math.pi * done)) / 2


def train(
    model: torch.nn.Module, loss_of: Callable[[int], Tensor], settings: Steps, folder: Path | None = None
) -> list[curves.Row]:
    """Minimise the losses of the steps' batches; resumes from a folder's checkpoint with the same result.

    Args:
        model: trained in place; left in evaluation mode.
        loss_of: the loss of a step's batch, from 0; a function of the step and the weights alone.
        settings: how.
        folder: where checkpoint and curve are kept; None keeps nothing.

    Returns:
        The curve: ``step``, ``loss``, ``rate``.

    Raises:
        TrainingError: a loss is not a number, or the checkpoint cannot be used.
    """
    optimizer = adamw(model, settings.rate)
    done = checkpoints.restore(folder, model, optimizer) if folder else 0
    rows = curves.read(folder, done) if folder else []
    model.train()
    for step in range(done, settings.steps):
        rows.append({"step": step, **_update(model, optimizer, loss_of(step), settings, step)})
        if folder and (step + 1 == settings.steps or (step + 1) % settings.save_every == 0):
            curves.write(folder, rows)
            checkpoints.save(folder, step + 1, model, optimizer)
    model.eval()
    if folder and rows:
        curves.draw(rows, folder / "curve.png", folder.name)
    return rows


def adamw(model: torch.nn.Module, rate: float) -> torch.optim.AdamW:
    """Return AdamW over the trainable parameters, without decay of weights."""
    return torch.optim.AdamW(trainable(model), lr=rate, betas=(0.9, 0.95), weight_decay=0.0)


def trainable(model: torch.nn.Module) -> list[torch.nn.Parameter]:
    """Return the parameters that are trained."""
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


def step_of(model: torch.nn.Module, optimizer: torch.optim.Optimizer, loss: Tensor, most_norm: float) -> float:
    """Take a step down the loss's gradient; return the loss.

    Raises:
        TrainingError: the loss is not a number.
    """
    value = loss.item()
    if not math.isfinite(value):
        raise TrainingError(f"the loss is {value}: lower the learning rate, or look for empty or damaged examples")
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(trainable(model), most_norm)
    optimizer.step()
    return value


def _update(
    model: torch.nn.Module, optimizer: torch.optim.AdamW, loss: Tensor, settings: Steps, step: int
) -> dict[str, float]:
    rate = rate_at(settings, step)
    for group in optimizer.param_groups:
        group["lr"] = rate
    return {"loss": step_of(model, optimizer, loss, settings.most_norm), "rate": rate}


def slices(count: int, size: int) -> Iterator[slice]:
    """Return consecutive parts of at most ``size``."""
    return (slice(start, start + size) for start in range(0, count, size))
