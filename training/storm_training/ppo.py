"""PPO with a reward at each segment's end (FoRAG 5.2; Schulman et al. 2017).

r̂_t = Σ_j 1(t = T_j) (R̂[j] − R̂_SFT) − β log π(a_t|s_t)/π_ref(a_t|s_t), advantages by GAE, a clipped objective.

Departures from the paper, which gives neither hyper-parameters nor code: R̂_SFT is the mean over the segments of the
tuned model's answer to the same prompt, as that answer's segments are not this one's; the value head uses the writer's
hidden states; a run stops when the mean KL of its answers exceeds a bound; the reference is the tuned model. The curve
has reward, KL and length side by side, so that a reward gained by length or by distance is seen.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from storm_training import checkpoints, curves
from storm_training.batches import Batch, Example, collate, order
from storm_training.errors import TrainingError
from storm_training.fine_tuning import chunk_log_probabilities, counted, kept, response_log_probabilities
from storm_training.loop import STRICT, adamw, slices, step_of
from storm_training.returns import advantages_of, clipped_objective, token_rewards
from storm_training.sampling import sample
from storm_training.segments import Segmented, segment

Answers = Sequence[tuple[int, Segmented]]
"""Sampled answers, each with its prompt's position."""
Rewards = Callable[[Answers], tuple[list[list[float]], list[tuple[int, ...]]]]
"""Returns, for answers, each segment's reward, and the segment's number of each of the response's tokens."""


@dataclass(frozen=True)
class PpoSettings:
    """How PPO runs.

    Attributes:
        iterations: rounds of sampling and updating.
        batch: answers in a round.
        epochs: passes over a round's answers.
        minibatch: answers of an update.
        rate: learning rate, constant.
        beta: weight of the KL term, per token.
        clip: how far from 1 a token's probability ratio counts.
        discount: γ.
        decay: λ of GAE.
        value_weight: of the value head's squared error.
        kl_bound: mean KL to the reference of an answer, in nats, above which the run stops.
        most_tokens: of an answer.
        seed: of samples and order.
        save_every: rounds between checkpoints.
    """

    __pydantic_config__ = STRICT

    iterations: int = 30
    batch: int = 64
    epochs: int = 2
    minibatch: int = 32
    rate: float = 3e-4
    beta: float = 0.05
    clip: float = 0.2
    discount: float = 1.0
    decay: float = 0.95
    value_weight: float = 0.5
    kl_bound: float = 30.0
    most_tokens: int = 64
    seed: int = 0
    save_every: int = 10


@dataclass(frozen=True)
class Round:
    """Sampled answers with what an update needs; tensors of shape (answers, tokens − 1), 0 outside responses."""

    batch: Batch
    log_probabilities: Tensor
    advantages: Tensor
    returns: Tensor


class Policy(torch.nn.Module):
    """A writer with a value head."""

    def __init__(self, writer: Any) -> None:
        super().__init__()
        self.writer = writer
        self.value = torch.nn.Linear(writer.config.hidden_size, 1)
        torch.nn.init.zeros_(self.value.weight)
        torch.nn.init.zeros_(self.value.bias)

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Log π of each token but the first, and the values of the states before them; (answers, tokens − 1) each.

        Log π is 0 in columns of prompts alone.
        """
        found = self.writer(input_ids=batch.tokens, logits_to_keep=kept(batch), output_hidden_states=True)
        values = self.value(found.hidden_states[-1].float()).squeeze(-1)
        return chunk_log_probabilities(found.logits, batch), values[:, :-1]


def optimise(
    writer: Any,
    tokenizer: Any,
    prompts: Sequence[tuple[int, ...]],
    rewards: Rewards,
    settings: PpoSettings,
    *,
    baseline: Sequence[float],
    watch: Callable[[Answers], float] | None = None,
    folder: Path | None = None,
) -> list[curves.Row]:
    """Optimise a writer for rewards; a folder's checkpoint is gone on from, to the same weights.

    Args:
        writer: the tuned model; trained in place, its copy is the reference.
        tokenizer: its tokenizer.
        prompts: token ids.
        rewards: of sampled answers.
        settings: how.
        baseline: R̂_SFT of each prompt.
        watch: what answers are really worth: a column ``watched`` of the curve, 0 without it. It does not enter the
            training.
        folder: where checkpoint and curve are kept.

    Returns:
        The curve: ``step``, ``reward`` (mean of a segment's), ``gain`` (over the tuned model's), ``kl`` (an answer's,
        in nats), ``tokens`` (an answer's), ``watched``, ``loss``. It is shorter than ``iterations`` if the run stopped
        at the bound.

    Raises:
        TrainingError: prompts and baseline differ in number, or a loss is not a number.
    """
    if len(prompts) != len(baseline) or not prompts:
        raise TrainingError(
            f"{len(prompts)} prompts have {len(baseline)} rewards of the tuned model: one each is needed"
        )
    run = _Run(writer, tokenizer, prompts, rewards, settings=settings, baseline=baseline)
    done = checkpoints.restore(folder, run.policy, run.optimizer) if folder else 0
    rows = curves.read(folder, done) if folder else []
    for step in range(done, settings.iterations):
        row, answers, round_ = run.sampled(step)
        if row["kl"] > settings.kl_bound:
            break
        seen = watch(answers) if watch else 0.0
        rows.append({**row, "watched": seen, "loss": run.update(round_)})
        if folder and (step + 1 == settings.iterations or (step + 1) % settings.save_every == 0):
            curves.write(folder, rows)
            checkpoints.save(folder, step + 1, run.policy, run.optimizer)
    if folder and rows:
        curves.draw(rows, folder / "curve.png", folder.name)
    return rows


class _Run:
    """Constants of all rounds."""

    def __init__(
        self,
        writer: Any,
        tokenizer: Any,
        prompts: Sequence[tuple[int, ...]],
        rewards: Rewards,
        *,
        settings: PpoSettings,
        baseline: Sequence[float],
    ) -> None:
        self.reference = copy.deepcopy(writer).requires_grad_(requires_grad=False).eval()
        self.policy = Policy(writer).eval()
        self.optimizer = adamw(self.policy, settings.rate)
        self._tokenizer, self._prompts, self._rewards = tokenizer, prompts, rewards
        self._settings, self._baseline = settings, baseline

    @torch.no_grad()
    def sampled(self, step: int) -> tuple[dict[str, float], Answers, Round]:
        """Return a round's figures, its answers with their prompts' positions, and what the update needs."""
        chosen, end = self._settings, self._tokenizer.eos_token_id
        picked = order(len(self._prompts), chosen.batch, step, chosen.seed)
        prompts = [self._prompts[at] for at in picked]
        seed = chosen.seed * 1_000_003 + step
        examples = sample(self.policy.writer, prompts, ending=end, most=chosen.most_tokens, seed=seed)
        answers = [(at, segment(self._tokenizer, example)) for at, example in zip(picked, examples, strict=True)]
        batch = collate(examples, end)
        own, values, reference = self._evaluated(batch)
        mask = counted(batch)
        ratio = (own - reference) * mask
        found, numbers = self._rewards(answers)
        gains = [[value - self._baseline[at] for value in row] for at, row in zip(picked, found, strict=True)]
        ends = [_ends(*pair) for pair in zip(examples, numbers, strict=True)]
        advantages = advantages_of(
            token_rewards(gains, ends, chosen.beta * ratio), values, mask, chosen.discount, chosen.decay
        )
        row = {
            "step": float(step),
            "reward": _mean([value for row in found for value in row]),
            "gain": _mean([value for row in gains for value in row]),
            "kl": float(ratio.sum(1).mean()),
            "tokens": _mean([float(len(example.response)) for example in examples]),
        }
        return row, answers, Round(batch, own, advantages, advantages + values * mask)

    def _evaluated(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """Log π, values, and the reference's log π, by parts as large as an update's: logits are what takes memory."""
        parts = [_rows(batch, rows) for rows in slices(len(batch.tokens), self._settings.minibatch)]
        own, values = zip(*map(self.policy, parts), strict=True)
        reference = [response_log_probabilities(self.reference, part) for part in parts]
        return torch.cat(own), torch.cat(values), torch.cat(reference)

    def update(self, round_: Round) -> float:
        """Train all epochs on a round; return the mean loss."""
        settings = self._settings
        losses = [
            step_of(self.policy, self.optimizer, self._loss(_part(round_, rows)), most_norm=1.0)
            for _ in range(settings.epochs)
            for rows in slices(len(round_.returns), settings.minibatch)
        ]
        return _mean(losses)

    def _loss(self, part: Round) -> Tensor:
        mask = counted(part.batch)
        own, values = self.policy(part.batch)
        kept = part.advantages[mask]
        advantages = (part.advantages - kept.mean()) / (kept.std(correction=0) + 1e-6)
        ratio = torch.where(mask, own - part.log_probabilities, 0.0).exp()
        error: Tensor = (((values - part.returns) ** 2) * mask).sum() / mask.sum()
        return clipped_objective(ratio, advantages, mask, self._settings.clip) + self._settings.value_weight * error


def _part(round_: Round, rows: slice) -> Round:
    return Round(
        _rows(round_.batch, rows), round_.log_probabilities[rows], round_.advantages[rows], round_.returns[rows]
    )


def _rows(batch: Batch, rows: slice) -> Batch:
    return Batch(batch.tokens[rows], batch.response[rows])


def _ends(example: Example, numbers: Sequence[int]) -> list[int]:
    """Return the column of each segment's last token, among all tokens but the first."""
    last = {number: at for at, number in enumerate(numbers) if number >= 0}
    return [len(example.prompt) + last[number] - 1 for number in sorted(last)]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
