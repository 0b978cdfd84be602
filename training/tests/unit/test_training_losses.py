"""Losses against cases computed by hand, to 1e-6."""

import math

import pytest
import torch

from storm_training.losses import (
    likelihood_loss,
    log_loss,
    segment_rewards,
    squared_error,
    token_log_probabilities,
    unlikelihood_loss,
)

VALUES = torch.tensor([[0.9, 0.2, 0.4, 0.6, 0.7], [0.1, 0.3, 0.5, 0.8, 0.9]])
SEGMENTS = torch.tensor([[-1, 0, 0, 1, 1], [-1, 0, 0, 0, -1]])
GIVEN = torch.tensor([[True, True], [True, False]])


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("last", [[0.4, 0.7], [0.8, 0.0]]),
        ("mean", [[0.3, 0.65], [1.6 / 3, 0.0]]),
        ("min", [[0.2, 0.6], [0.3, 0.0]]),
        ("max", [[0.4, 0.7], [0.8, 0.0]]),
    ],
)
def test_a_segment_is_rewarded_by_its_tokens(how, expected):
    found = segment_rewards(VALUES, SEGMENTS, 2, how)
    torch.testing.assert_close(found, torch.tensor(expected), atol=1e-6, rtol=0)


def test_log_loss_is_the_sum_over_segments():
    predicted = torch.tensor([[0.4, 0.7], [0.8, 0.0]])
    label = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    by_hand = -math.log(0.4) - math.log(0.3) - math.log(0.8)
    assert log_loss(predicted, label, GIVEN).item() == pytest.approx(by_hand, abs=1e-6)


def test_squared_error_is_the_sum_over_segments():
    predicted = torch.tensor([[0.4, 0.7], [0.8, 0.9]])
    label = torch.tensor([[0.5, 1.0], [0.0, 0.0]])
    assert squared_error(predicted, label, GIVEN).item() == pytest.approx(0.01 + 0.09 + 0.64, abs=1e-6)


def test_absent_segments_send_no_gradient():
    predicted = torch.tensor([[0.4, 0.7], [0.8, 0.0]], requires_grad=True)
    log_loss(predicted, torch.tensor([[1.0, 0.0], [1.0, 0.0]]), GIVEN).backward()
    assert predicted.grad is not None
    assert predicted.grad.isfinite().all()
    assert predicted.grad[1, 1] == 0


def test_likelihood_and_unlikelihood_by_hand():
    logits = torch.tensor([[[0.0, math.log(3)], [math.log(4), 0.0], [0.0, 0.0]]])
    found = token_log_probabilities(logits, torch.tensor([[0, 1, 0]]))
    torch.testing.assert_close(found, torch.tensor([[math.log(0.75), math.log(0.8)]]), atol=1e-6, rtol=0)
    counted = torch.tensor([[True, True]])
    assert likelihood_loss(found, counted).item() == pytest.approx(-(math.log(0.75) + math.log(0.8)) / 2, abs=1e-6)
    by_hand = -(math.log(0.25) + math.log(0.2)) / 2
    assert unlikelihood_loss(found, counted).item() == pytest.approx(by_hand, abs=1e-5)
