"""The second language: other words for the same facts, of which the same is true."""

import random

from hypothesis import given
from hypothesis import strategies as st
from training_helpers import tokenizer

from storm_training import evaluation, languages
from storm_training.batches import encode
from storm_training.evaluation import answers_of
from storm_training.languages import bilingual, translate
from storm_training.loop import Steps
from storm_training.segments import segment
from storm_training.settings import RunSettings, WorldSettings
from storm_training.truth import measure
from storm_training.world import demonstrate, draw

TINY = WorldSettings(questions=32, tests=4, hidden=32, layers=1, most_tokens=8)


@given(st.integers(0, 10_000))
def test_a_translated_answer_has_the_same_truth(seed):
    rng = random.Random(seed)
    item = draw(rng)
    text = demonstrate(item, "outlined", 0.3, rng)
    own, other = (segment(tokenizer(), encode(tokenizer(), "Q", one)).sentences for one in (text, translate(text)))
    assert len(own) == len(other) == 3
    assert not set(own) & set(other)
    assert measure(item, own) == measure(item, [translate(sentence) for sentence in other])


def test_a_share_of_demonstrations_is_in_the_second_language(tmp_path, monkeypatch):
    seen = {}

    def learnt(_model, examples, *_, **__):
        seen[len(seen)] = examples

    monkeypatch.setattr("storm_training.laboratory.fine_tune", learnt)
    settings = RunSettings(world=TINY.model_copy(update={"questions": 400}), fine_tuning=Steps(steps=1))
    monkeypatch.setattr(languages, "score", lambda *_: evaluation.Scores(0, 0, 0, 0, 0))
    kept = {}
    monkeypatch.setattr(
        "storm_training.laboratory.encode", lambda _, prompt, text: kept.setdefault(len(kept), (prompt, text))
    )
    bilingual(settings, tmp_path, "3:1", 0)
    second = [prompt for prompt, text in seen[0] if prompt.startswith("Noitseuq:") and text.startswith("Erutcurts:")]
    first = [prompt for prompt, text in seen[0] if prompt.startswith("Question:") and text.startswith("Structure:")]
    assert len(first) + len(second) == 400
    assert 0.68 < len(second) / 400 < 0.82


def test_answers_stand_in_the_order_of_their_prompts_however_many_are_sampled_at_once(monkeypatch):
    from training_helpers import writer

    monkeypatch.setattr(evaluation, "_AT_ONCE", 2)
    prompts = [f"Question: {word}" for word in "a b c d e".split()]
    found = answers_of(writer(), tokenizer(), prompts, most=3, seed=0)
    assert [tokenizer().decode(list(one.example.prompt)) for one in found] == prompts
