"""The synthetic world: what is demonstrated, what is true of it, and where its sentences are."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from training_helpers import pairs, tokenizer

from storm_training.batches import encode, order
from storm_training.errors import TrainingError
from storm_training.segments import segment, whole
from storm_training.truth import measure, subclaims
from storm_training.world import Fact, Item, demonstrate, draw, items

MATERIALS = (
    Fact("Orlan", "sells", "two", "pots"),
    Fact("Brask", "sells", "six", "rugs"),
    Fact("Orlan", "grows", "nine", "figs"),
)
ITEM = Item("What is known of Orlan?", "parallel", MATERIALS, (0, 2))


def sentences(text):
    return segment(tokenizer(), encode(tokenizer(), "Q", text)).sentences


@given(st.integers(0, 10_000), st.sampled_from(["outlined", "unplanned"]))
def test_a_teacher_without_errors_is_coherent_helpful_and_true(seed, style):
    rng = random.Random(seed)
    item = draw(rng)
    found = measure(item, sentences(demonstrate(item, style, 0.0, rng)))
    assert (found.coherent, found.helpful, found.factual) == (True, True, True)
    assert found.sentences == found.true_sentences == len(item.points)


@given(st.integers(0, 10_000))
def test_every_misstated_value_is_false(seed):
    rng = random.Random(seed)
    item = draw(rng)
    said = sentences(demonstrate(item, "unplanned", 1.0, rng))
    assert {label for labels in subclaims(item, said) for label in labels} == {0.0}


def test_subclaims_by_hand():
    said = ["Orlan sells two rugs.", "Brask sells six rugs.", "It is nice.", "Orlan grows six plums."]
    assert subclaims(ITEM, said) == [[1, 0], [1, 1], [0], [0, 0]]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (["Orlan sells two pots.", "Orlan grows nine figs."], (True, True, True)),
        (["Orlan grows nine figs.", "Orlan sells two pots."], (False, True, True)),
        (["Orlan sells two pots.", "Orlan sells two pots."], (False, False, True)),
        (["Orlan sells two rugs."], (True, False, False)),
        (["It is nice."], (False, False, False)),
        ([], (False, False, False)),
    ],
)
def test_measures_by_hand(said, expected):
    found = measure(ITEM, said)
    assert (found.coherent, found.helpful, found.factual) == expected


def test_the_same_seed_draws_the_same_world():
    assert items(5, 3) == items(5, 3) != items(5, 4)


@pytest.mark.parametrize("at", range(8))
def test_each_sentence_has_its_own_tokens(at):
    item, text = pairs()[at]
    found = segment(tokenizer(), encode(tokenizer(), item.prompt, text))
    for number, sentence in enumerate(found.sentences):
        own = [token for token, of in zip(found.example.response, found.numbers, strict=True) if of == number]
        assert tokenizer().decode(own).strip() == sentence
    told = [token for token, of in zip(found.example.response, whole(found), strict=True) if of == 0]
    assert tokenizer().decode(told).startswith(" " + found.sentences[0])
    assert told[-1] == tokenizer().eos_token_id


@given(st.integers(1, 40), st.integers(1, 50), st.integers(0, 5))
def test_a_pass_takes_each_example_at_most_once(count, size, seed):
    each = count // min(size, count)
    taken = [at for step in range(each) for at in order(count, size, step, seed)]
    assert len(set(taken)) == len(taken) == each * min(size, count)


@pytest.mark.parametrize(("prompt", "response", "lacks"), [("", "a", "no prompt"), ("a", " ", "no response")])
def test_an_empty_example_is_refused(prompt, response, lacks):
    with pytest.raises(TrainingError, match=lacks):
        encode(tokenizer(), prompt, response)
