"""PPO: its arithmetic against cases computed by hand, and what it does to a writer."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from training_helpers import assert_rows_match, examples, tokenizer, weights, writer

from storm_training.errors import TrainingError
from storm_training.ppo import PpoSettings, optimise
from storm_training.returns import advantages_of, clipped_objective, token_rewards

PROMPTS = [example.prompt for example in examples()[:16]]
QUICK = PpoSettings(iterations=4, batch=16, minibatch=8, most_tokens=6, rate=3e-3, beta=0.0, save_every=2)


def toy(answers):
    """The share of an answer's tokens whose number is even."""
    rows = [answer.example.response for _, answer in answers]
    return [[sum(token % 2 == 0 for token in row) / len(row)] for row in rows], [(0,) * len(row) for row in rows]


def run(model, settings, **more):
    return optimise(model, tokenizer(), PROMPTS, toy, settings, baseline=[0.0] * len(PROMPTS), **more)


def test_rewards_stand_at_the_ends_of_segments_less_the_penalty():
    penalty = torch.tensor([[0.0, 0.1, 0.2, 0.3], [0.5, 0.0, 0.0, 0.0]])
    found = token_rewards([[0.5, -0.25], [1.0]], [[1, 3], [2]], penalty)
    expected = torch.tensor([[0.0, 0.4, -0.2, -0.55], [-0.5, 0.0, 1.0, 0.0]])
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=0)


def test_advantages_by_hand():
    """γ = 0.9, λ = 0.5; the first token is of the prompt, the last is padding.

    δ3 = 1 − 0.4 = 0.6; δ2 = 0.9·0.4 − 0.2 = 0.16; δ1 = 0.5 + 0.9·0.2 − 0.1 = 0.58.
    Â3 = 0.6; Â2 = 0.16 + 0.45·0.6 = 0.43; Â1 = 0.58 + 0.45·0.43 = 0.7735.
    """
    rewards = torch.tensor([[9.0, 0.5, 0.0, 1.0, 9.0]])
    values = torch.tensor([[7.0, 0.1, 0.2, 0.4, 7.0]])
    mask = torch.tensor([[False, True, True, True, False]])
    found = advantages_of(rewards, values, mask, 0.9, 0.5)
    torch.testing.assert_close(found, torch.tensor([[0.0, 0.7735, 0.43, 0.6, 0.0]]), atol=1e-6, rtol=0)


@given(st.lists(st.floats(-2, 2), min_size=1, max_size=8), st.lists(st.floats(-2, 2), min_size=8, max_size=8))
def test_without_discount_and_decay_advantages_are_what_is_left_to_gain(rewards, values):
    row, mask = torch.tensor([rewards]), torch.ones(1, len(rewards), dtype=torch.bool)
    value = torch.tensor([values[: len(rewards)]])
    left = row.flip(1).cumsum(1).flip(1) - value
    torch.testing.assert_close(advantages_of(row, value, mask, 1.0, 1.0), left, atol=1e-5, rtol=0)


def test_the_objective_is_clipped_where_it_would_gain():
    ratio, mask = torch.tensor([[1.5, 0.5, 1.5, 0.5, 9.0]]), torch.tensor([[True, True, True, True, False]])
    advantages = torch.tensor([[1.0, 1.0, -1.0, -1.0, 9.0]])
    found = clipped_objective(ratio, advantages, mask, 0.2)
    assert found.item() == pytest.approx(-(1.2 + 0.5 - 1.5 - 0.8) / 4, abs=1e-6)


def test_a_toy_reward_is_improved():
    rows = run(writer(), PpoSettings(**{**vars(QUICK), "iterations": 15, "rate": 1e-2}))
    assert rows[-1]["reward"] > rows[0]["reward"] + 0.2
    assert rows[-1]["kl"] > rows[0]["kl"] == pytest.approx(0, abs=1e-4)


def test_it_stops_at_the_bound_of_the_kl_term():
    settings = PpoSettings(**{**vars(QUICK), "iterations": 25, "rate": 1e-2, "kl_bound": 1.0})
    rows = run(writer(), settings)
    assert 1 <= len(rows) < 25
    assert all(row["kl"] <= 1.0 for row in rows)


def test_a_killed_run_goes_on_to_the_same_weights(tmp_path):
    whole, cut = writer(), writer()
    rows = run(whole, QUICK, folder=tmp_path / "whole")

    def dies(answers):
        seen = toy(answers)
        dies.rounds += 1
        if dies.rounds == 4:
            raise KeyboardInterrupt
        return seen

    dies.rounds = 0
    with pytest.raises(KeyboardInterrupt):
        optimise(cut, tokenizer(), PROMPTS, dies, QUICK, baseline=[0.0] * 16, folder=tmp_path / "cut")
    again = writer()
    assert_rows_match(run(again, QUICK, folder=tmp_path / "cut"), rows)
    for name, tensor in weights(whole).items():
        torch.testing.assert_close(weights(again)[name], tensor, atol=1e-6, rtol=0)
    assert (tmp_path / "cut" / "curve.png").exists()


def test_the_tuned_models_reward_is_subtracted_and_what_is_watched_is_kept():
    rows = optimise(
        writer(),
        tokenizer(),
        PROMPTS,
        lambda answers: ([[0.75] for _ in answers], [(0,) * len(answer.example.response) for _, answer in answers]),
        PpoSettings(**{**vars(QUICK), "iterations": 1}),
        baseline=[0.5] * 16,
        watch=lambda answers: float(len({at for at, _ in answers})),
    )
    assert (rows[0]["reward"], rows[0]["gain"], rows[0]["watched"]) == (0.75, 0.25, 16.0)
    assert math.isfinite(rows[0]["loss"])


def test_every_prompt_needs_a_baseline():
    with pytest.raises(TrainingError, match="one each"):
        optimise(writer(), tokenizer(), PROMPTS, toy, QUICK, baseline=[0.0])
