"""Reward models: a number in (0, 1) for each segment of an answer (FoRAG 5.2, Table 2).

Departures from the paper: trunk and head start from the tuned writer (the paper does not say from what); one forward
pass rewards all sentences, which the paper names as the better way (6.5); a batch's loss is divided by its answers;
the token level aggregates by the mean by default (the paper does not say which of its three it took).
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from storm_training import curves
from storm_training.batches import Example, collate, order
from storm_training.errors import TrainingError
from storm_training.loop import Steps, train
from storm_training.losses import Aggregate, log_loss, segment_rewards, squared_error
from storm_training.reward_data import Judged, Level, targets
from storm_training.segments import Segmented, numbered, whole


@dataclass(frozen=True)
class Cell:
    """A cell of Table 2: how finely answers are evaluated, and how finely rewards are modelled.

    Attributes:
        level: of evaluation; of ``subclaim`` the loss is the squared error, else the log loss.
        granularity: what predicts a segment's reward: its last token (``sequence``), or all (``token``).
        aggregate: of the token level.
    """

    level: Level
    granularity: Literal["sequence", "token"] = "sequence"
    aggregate: Aggregate = "mean"

    @property
    def name(self) -> str:
        """As Table 5 names it."""
        return self.level + ("+token" if self.granularity == "token" else "")


LEVELS: tuple[Level, ...] = ("holistic", "sentence", "subclaim")
CELLS = tuple(Cell(level, granularity) for granularity in ("token", "sequence") for level in LEVELS)
"""The six cells of Table 2, in the order of Table 5."""


class RewardModel(torch.nn.Module):
    """A causal model's trunk with a head of one number a token."""

    def __init__(self, writer: Any, cell: Cell, padding: int) -> None:
        super().__init__()
        self.trunk = copy.deepcopy(writer.get_decoder())
        self.head = torch.nn.Linear(writer.config.hidden_size, 1)
        torch.nn.init.zeros_(self.head.weight)
        torch.nn.init.zeros_(self.head.bias)
        self.cell, self._padding = cell, padding

    def forward(self, rows: Sequence[tuple[Example, Sequence[int]]]) -> Tensor:
        """Return rewards in (0, 1), shape (answers, maximum segments of an answer); 0 without a segment."""
        batch = collate([example for example, _ in rows], self._padding)
        numbers, count = numbered(rows, batch.tokens.shape[1])
        hidden = self.trunk(input_ids=batch.tokens).last_hidden_state
        values = torch.sigmoid(self.head(hidden.float())).squeeze(-1)
        how = "last" if self.cell.granularity == "sequence" else self.cell.aggregate
        return segment_rewards(values, numbers, count, how)

    def segments(self, answer: Segmented) -> tuple[int, ...]:
        """Return the segment numbers of the response's tokens at this model's level; one segment without sentences."""
        return whole(answer) if self.cell.level == "holistic" or not answer.sentences else answer.numbers

    @torch.no_grad()
    def rewards(self, answers: Sequence[Segmented]) -> list[list[float]]:
        """Return the reward of each segment of each answer, in order."""
        numbers = [self.segments(answer) for answer in answers]
        found = self([(answer.example, number) for answer, number in zip(answers, numbers, strict=True)])
        return [row[: max(number) + 1].tolist() for row, number in zip(found, numbers, strict=True)]


def train_reward_model(
    model: RewardModel, data: Sequence[Judged], settings: Steps, folder: Path | None = None
) -> list[curves.Row]:
    """Train by the loss of the model's cell of Table 2.

    Args:
        model: trained in place.
        data: answers with labels.
        settings: of the loop.
        folder: of checkpoint and curve.

    Raises:
        TrainingError: there is no data, all labels are the same, or a loss is not a number.
    """
    marked = [(item.answer.example, *targets(item, model.cell.level)) for item in data]
    if len({label for _, _, labels in marked for label in labels}) < 2:
        raise TrainingError("a reward model needs answers of different labels: there is none, or one label only")

    def loss_of(step: int) -> Tensor:
        picked = [marked[at] for at in order(len(marked), settings.batch, step, settings.seed)]
        predicted = model([(example, numbers) for example, numbers, _ in picked])
        loss = squared_error if model.cell.level == "subclaim" else log_loss
        return loss(predicted, *_labels([labels for _, _, labels in picked], predicted.shape[1])) / len(picked)

    return train(model, loss_of, settings, folder)


def _labels(rows: Sequence[Sequence[float]], count: int) -> tuple[Tensor, Tensor]:
    """Return labels and their mask; a sentence after the truncation has no token and no label."""
    labels = torch.zeros(len(rows), count)
    for at, row in enumerate(rows):
        labels[at, : len(row)] = torch.tensor(row[:count])
    given = torch.arange(count).unsqueeze(0) < torch.tensor([[len(row)] for row in rows])
    return labels, given


def ranking(model: RewardModel, data: Sequence[Judged]) -> float:
    """Return how often a true segment has a higher reward than one that is not, in [0, 1]; ties count half.

    This is the area under the ROC curve: 0.5 is a coin's, whatever share of segments is true. A model that calls all
    segments false, where most are, gets no more. It is 0.5 too where there is no such pair.
    """
    found = model.rewards([item.answer for item in data])
    wanted = [targets(item, model.cell.level)[1] for item in data]
    pairs = [pair for row, labels in zip(found, wanted, strict=True) for pair in zip(row, labels, strict=False)]
    true, other = (torch.tensor([reward for reward, label in pairs if (label == 1) is side]) for side in (True, False))
    gaps = true.unsqueeze(1) - other
    return float((gaps.sign() + 1).mean() / 2) if gaps.numel() else 0.5
