"""Train the small judge of support (:mod:`storm_pipeline.judges.small`): a logistic regression over mismatches.

    python -m storm_training.judge --data DATA [--seed 0] [--planted 300]

It prints the regression, which stands in the package. What it is trained on: :mod:`.judge_data`.
"""

import argparse
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path

import torch
import typer
from torch.nn.functional import binary_cross_entropy_with_logits

from storm_pipeline.judges.mismatches import mismatches
from storm_pipeline.judges.small import Regression
from storm_training.judge_data import Example, examples

_PENALTY = 0.5  # of the squared weights, as against the loss added up over all examples
_ROUNDS = 200  # of L-BFGS, at most
_DIGITS = 2  # of a printed weight


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the regression."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the published data sets")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--planted", type=int, default=300, help="planted errors of each kind among all examples")
    args = parser.parse_args(arguments)
    chosen = examples(args.data, args.seed, args.planted)
    found = train(chosen)
    typer.echo(f"LEARNT = {found}  # {len(chosen)} examples")


def train(chosen: Sequence[Example]) -> Regression:
    """The regression that fits the examples best, with a small penalty on its weights."""
    torch.manual_seed(0)
    table = torch.tensor([astuple(mismatches(one.question)) for one in chosen], dtype=torch.float64)
    yes = torch.tensor([float(one.supported) for one in chosen], dtype=torch.float64)
    weights = torch.zeros(table.shape[1] + 1, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([weights], max_iter=_ROUNDS, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        odds = weights[0] + table @ weights[1:]
        value = binary_cross_entropy_with_logits(odds, yes, reduction="sum") + _PENALTY * weights[1:].square().sum()
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    bias, *rest = (round(value, _DIGITS) for value in weights.tolist())
    return Regression(bias, tuple(rest))


if __name__ == "__main__":
    main()
