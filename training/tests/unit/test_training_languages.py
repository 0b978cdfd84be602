"""The second language: other words for the same facts, of which the same is true."""

import random

from hypothesis import given
from hypothesis import strategies as st
from training_helpers import tokenizer

from storm_training import evaluation
from storm_training.batches import encode
from storm_training.evaluation import answers_of
from storm_training.languages import translate
from storm_training.segments import segment
from storm_training.truth import measure
from storm_training.world import demonstrate, draw


@given(st.integers(0, 10_000))
def test_a_translated_answer_has_the_same_truth(seed):
    rng = random.Random(seed)
    item = draw(rng)
    text = demonstrate(item, "outlined", 0.3, rng)
    own, other = (segment(tokenizer(), encode(tokenizer(), "Q", one)).sentences for one in (text, translate(text)))
    assert len(own) == len(other) == 3
    assert not set(own) & set(other)
    assert measure(item, own) == measure(item, [translate(sentence) for sentence in other])


def test_answers_stand_in_the_order_of_their_prompts_however_many_are_sampled_at_once(monkeypatch):
    from training_helpers import writer

    monkeypatch.setattr(evaluation, "_AT_ONCE", 2)
    prompts = [f"Question: {word}" for word in "a b c d e".split()]
    found = answers_of(writer(), tokenizer(), prompts, most=3, seed=0)
    assert [tokenizer().decode(list(one.example.prompt)) for one in found] == prompts
