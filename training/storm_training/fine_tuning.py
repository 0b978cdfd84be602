"""Supervised fine-tuning (FoRAG 4.1), and the two baselines of section 6.3 that optimise factuality without rewards.

Departures from the paper: −log π is the mean over a batch's tokens, and steps are set, not epochs. trl, which has such
a loop, does not resolve beside the versions that the package pins. The weight of unlikelihood is ours; the paper gives
none. It is small, since most tokens of a bad answer are as they should be, and likely: each pulls at the model.
Filtering and unlikelihood start from the tuned model and see the answers that the reward models are trained on.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from storm_training import curves
from storm_training.batches import Batch, Example, collate, order
from storm_training.errors import TrainingError
from storm_training.loop import Steps, train
from storm_training.losses import likelihood_loss, token_log_probabilities, unlikelihood_loss


def response_log_probabilities(model: Any, batch: Batch) -> Tensor:
    """Log π of each token but the first, shape (answers, tokens − 1); :func:`counted` says which are of responses.

    Columns that have tokens of prompts alone are 0: their logits, which take half the time of a tiny model, are left
    out.
    """
    return chunk_log_probabilities(model(input_ids=batch.tokens, logits_to_keep=kept(batch)).logits, batch)


def kept(batch: Batch) -> int:
    """Return the number of final columns of logits for tokens of responses."""
    return batch.tokens.shape[1] - batch.first + 1


def chunk_log_probabilities(logits: Tensor, batch: Batch) -> Tensor:
    """Return :func:`response_log_probabilities` of a chunk of columns of logits."""
    found = token_log_probabilities(logits.float(), batch.tokens[:, batch.first - 1 :])
    return functional.pad(found, (batch.first - 1, 0))


def counted(batch: Batch) -> Tensor:
    """Return the mask of response tokens."""
    return batch.response[:, 1:]


def fine_tune(
    model: Any, examples: Sequence[Example], settings: Steps, *, padding: int, folder: Path | None = None
) -> list[curves.Row]:
    """SFT: the likelihood of responses given their prompts.

    Args:
        model: a causal language model; trained in place.
        examples: prompts with the answers to be learnt.
        settings: of the loop.
        padding: the padding token.
        folder: of checkpoint and curve.

    Raises:
        TrainingError: there are no examples, or a loss is not a number.
    """
    if not examples:
        raise TrainingError("there is nothing to fine-tune on: the data is empty, or a filter left none")

    def loss_of(step: int) -> Tensor:
        picked = order(len(examples), settings.batch, step, settings.seed)
        batch = collate([examples[at] for at in picked], padding)
        return likelihood_loss(response_log_probabilities(model, batch), counted(batch))

    return train(model, loss_of, settings, folder)


def tune_filtered(
    model: Any, answers: Sequence[tuple[Example, bool]], settings: Steps, *, padding: int, folder: Path | None = None
) -> list[curves.Row]:
    """MLE with filtering: SFT on the factual ones of (answer, factual); otherwise as :func:`fine_tune`."""
    return fine_tune(
        model, [answer for answer, factual in answers if factual], settings, padding=padding, folder=folder
    )


def tune_unlikely(
    model: Any,
    answers: Sequence[tuple[Example, bool]],
    settings: Steps,
    *,
    padding: int,
    weight: float = 0.004,
    folder: Path | None = None,
) -> list[curves.Row]:
    """Tune by unlikelihood: make factual answers more likely and the others less likely.

    Args:
        model: trained in place.
        answers: with whether each is factual.
        settings: of the loop; each batch is drawn from both kinds, half and half.
        padding: the padding token.
        weight: of the unlikelihood term.
        folder: of checkpoint and curve.

    Raises:
        TrainingError: all answers have the same label.
    """
    good, bad = ([answer for answer, factual in answers if factual is wanted] for wanted in (True, False))
    if not good or not bad:
        raise TrainingError("unlikelihood needs factual and other answers: all have the same label")
    half = max(1, settings.batch // 2)

    def part(examples: list[Example], step: int) -> tuple[Tensor, Tensor]:
        batch = collate([examples[at] for at in order(len(examples), half, step, settings.seed)], padding)
        return response_log_probabilities(model, batch), counted(batch)

    def loss_of(step: int) -> Tensor:
        return likelihood_loss(*part(good, step)) + weight * unlikelihood_loss(*part(bad, step))

    return train(model, loss_of, settings, folder)


@torch.no_grad()
def perplexity_loss(model: Any, examples: Sequence[Example], padding: int) -> float:
    """Return the mean −log π over the responses' tokens: the loss on examples that were not trained on."""
    batch = collate(examples, padding)
    return float(likelihood_loss(response_log_probabilities(model, batch), counted(batch)))
