"""Reward data at three levels, reward models of all six cells."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from training_helpers import examples, tokenizer, weights, writer

from storm_pipeline.evidence.judges.base import Verdict
from storm_training.batches import Example, encode
from storm_training.errors import TrainingError
from storm_training.loop import Steps
from storm_training.reward_data import judge_labels, judged, targets
from storm_training.reward_model import Cell, RewardModel, ranking, train_reward_model
from storm_training.segments import segment

END = tokenizer().eos_token_id
LEVELS, GRANULARITIES = ("holistic", "sentence", "subclaim"), ("sequence", "token")
CELLS = [Cell(level, granularity) for level in LEVELS for granularity in GRANULARITIES]


def answer(text):
    return segment(tokenizer(), encode(tokenizer(), "Question:", text))


def labelled():
    """Answers whose sentences are true unless a town keeps something: what a reward model can see at once."""
    rows = [segment(tokenizer(), example) for example in examples()]
    return [judged(row, [[float(one.split()[1] != "keeps"), 1.0] for one in row.sentences]) for row in rows]


class Pieces:
    """A tokenizer whose tokens are the pieces of a text: one may hold a line of dots with its line ends."""

    eos_token_id = -1

    def __init__(self, pieces):
        self.pieces = pieces

    def decode(self, tokens, *, skip_special_tokens):
        return self.pieces[tokens[0]]


@given(st.lists(st.sampled_from(["Orlan sells", " pots.", "\n...\n", "\n---\n", " A.\n\n...", "\n", "Answer:", "?! "])))
def test_each_sentence_has_a_token(pieces):
    found = segment(Pieces(pieces), Example((1, 2), tuple(range(len(pieces)))))
    assert sorted({*found.numbers} - {-1}) == list(range(len(found.sentences)))


def test_labels_at_the_three_levels():
    found = answer("Orlan sells two pots. Brask sells six rugs.")
    item = judged(found, [[1.0, 1.0], [1.0, 0.0]])
    numbers, labels = targets(item, "subclaim")
    assert labels == (1.0, 0.5)
    assert targets(item, "sentence") == (numbers, (1.0, 0.0))
    whole, label = targets(item, "holistic")
    assert label == (0.0,)
    assert set(whole) == {0}
    assert [numbers.count(-1), max(numbers)] == [1, 1]


def test_an_answer_without_a_sentence_is_one_false_segment():
    empty = segment(tokenizer(), Example((1, 2), (END,)))
    for level in LEVELS:
        assert targets(judged(empty, []), level) == ((0,), (0.0,))


def test_labels_out_of_range_or_number_are_refused():
    found = answer("Orlan sells two pots. Brask sells six rugs.")
    for labels in ([[1.0]], [[1.0], []], [[1.0], [2.0]], [[1.0], [float("nan")]]):
        with pytest.raises(TrainingError):
            judged(found, labels)


class Words:
    """Supports a claim whose words are all in one passage."""

    name, threshold, parameters = "words", 1.0, {}

    def judge(self, questions):
        found = [
            any(set(question.claim.split()) <= set(passage.split()) for passage in question.passages)
            for question in questions
        ]
        return [Verdict("supported" if good else "not", float(good)) for good in found]


def test_a_judge_labels_subclaims_by_the_materials():
    materials = ["Orlan sells pots", "Brask sells two rugs"]
    said = ["Orlan sells two", "Brask sells rugs"]
    assert judge_labels(Words(), said, materials) == [[0.0], [1.0]]
    split = {"Orlan sells two": ["Orlan sells", "sells two"], "Brask sells rugs": ["Brask rugs"]}
    assert judge_labels(Words(), said, materials, split.__getitem__) == [[1.0, 1.0], [1.0]]


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)
def test_every_cell_learns_and_rewards_each_segment(cell):
    model = RewardModel(writer(), cell, END)
    data = labelled()
    rows = train_reward_model(model, data, Steps(steps=25, batch=32, rate=2e-2, warmup=3))
    assert rows[-1]["loss"] < rows[0]["loss"]
    found = model.rewards([item.answer for item in data])
    for item, row in zip(data, found, strict=True):
        assert len(row) == (1 if cell.level == "holistic" else len(item.answer.sentences))
        assert all(0 <= value <= 1 for value in row)


def test_a_reward_model_ranks_true_segments_above_others():
    model = RewardModel(writer(), Cell("sentence"), END)
    assert ranking(model, labelled()) == 0.5  # all rewards are one half
    train_reward_model(model, labelled(), Steps(steps=40, batch=32, rate=2e-2, warmup=3))
    assert ranking(model, labelled()) > 0.95
    other = [judged(item.answer, [[1 - min(labels)] for labels in item.labels]) for item in labelled()]
    assert ranking(model, other) < 0.05


def test_the_loss_is_that_of_the_table():
    """With a head of zeros each reward is 1/2: −log 1/2 a segment, (1/2 − r)² a sentence."""
    data = [judged(answer("Orlan sells two pots. Brask sells six rugs."), [[1.0, 0.0], [1.0, 1.0]])]
    data.append(judged(answer("Orlan sells two pots."), [[0.0, 0.0]]))
    first = {
        level: train_reward_model(RewardModel(writer(), Cell(level), END), data, Steps(steps=1, batch=2))[0]["loss"]
        for level in ("sentence", "subclaim")
    }
    assert first["sentence"] == pytest.approx(3 * 0.6931472 / 2, abs=1e-6)
    assert first["subclaim"] == pytest.approx((0 + 0.25 + 0.25) / 2, abs=1e-6)


def test_one_label_only_is_refused():
    data = [judged(answer("Orlan sells two pots."), [[1.0]])] * 4
    with pytest.raises(TrainingError, match="one label only"):
        train_reward_model(RewardModel(writer(), Cell("sentence"), END), data, Steps())


def test_the_writer_is_not_changed():
    model = writer()
    before = weights(model)
    train_reward_model(RewardModel(model, Cell("sentence"), END), labelled(), Steps(steps=2))
    assert all(torch.equal(tensor, before[name]) for name, tensor in weights(model).items())
