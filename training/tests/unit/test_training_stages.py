"""SFT and its baselines: what is learnt, what is resumed, what is refused."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from training_helpers import assert_rows_match, examples, tokenizer, weights, writer

from storm_training.errors import TrainingError
from storm_training.fine_tuning import fine_tune, perplexity_loss, tune_filtered, tune_unlikely
from storm_training.loop import Steps, rate_at
from storm_training.sampling import sample

PADDING = 0
FEW = Steps(steps=8, batch=8, save_every=4, warmup=2)


def test_fine_tuning_lowers_the_loss_on_examples_it_has_not_seen():
    model = writer()
    before = perplexity_loss(model, examples()[48:], PADDING)
    rows = fine_tune(model, examples()[:48], Steps(steps=40, batch=16, rate=1e-2, warmup=4), padding=PADDING)
    assert perplexity_loss(model, examples()[48:], PADDING) < before - 2
    assert [row["step"] for row in rows] == list(range(40))


def test_a_killed_run_goes_on_to_the_same_weights(tmp_path, monkeypatch):
    whole, cut = writer(), writer()
    rows = fine_tune(whole, examples(), FEW, padding=PADDING, folder=tmp_path / "whole")

    def dies(step, *_):
        if step == 6:
            raise KeyboardInterrupt
        return rate_at(FEW, step)

    monkeypatch.setattr("storm_training.loop.rate_at", lambda settings, step: dies(step, settings))
    with pytest.raises(KeyboardInterrupt):
        fine_tune(cut, examples(), FEW, padding=PADDING, folder=tmp_path / "cut")
    monkeypatch.undo()
    again = writer(seed=9)  # a new process begins with other weights than those it has saved
    assert_rows_match(fine_tune(again, examples(), FEW, padding=PADDING, folder=tmp_path / "cut"), rows)
    for name, tensor in weights(whole).items():
        torch.testing.assert_close(weights(again)[name], tensor, atol=1e-6, rtol=0)


def test_a_damaged_checkpoint_is_named(tmp_path):
    (tmp_path / "checkpoint.safetensors").write_bytes(b"not a checkpoint")
    with pytest.raises(TrainingError, match="no checkpoint of this run"):
        fine_tune(writer(), examples(), FEW, padding=PADDING, folder=tmp_path)


@pytest.mark.parametrize(
    "text", ["step,loss,rate\n0,much,1\n", "loss\n1\n", "step,evil\n0,1\n", "step\n0,1,2\n", "\udcff"]
)
def test_a_damaged_curve_is_named(tmp_path, text):
    fine_tune(writer(), examples(), replace(FEW, steps=4), padding=PADDING, folder=tmp_path)
    (tmp_path / "curve.csv").write_text(text, errors="surrogateescape")
    with pytest.raises(TrainingError, match=r"curve\.csv (is damaged|cannot be read)"):
        fine_tune(writer(), examples(), FEW, padding=PADDING, folder=tmp_path)


def test_a_loss_that_is_no_number_ends_the_run():
    model = writer()
    model.get_input_embeddings().weight.data.fill_(float("nan"))
    with pytest.raises(TrainingError, match="the loss is nan"):
        fine_tune(model, examples(), FEW, padding=PADDING)


def test_no_examples_are_refused():
    with pytest.raises(TrainingError, match="nothing to fine-tune on"):
        fine_tune(writer(), [], FEW, padding=PADDING)
    with pytest.raises(TrainingError, match="nothing to fine-tune on"):
        tune_filtered(writer(), [(examples()[0], False)], FEW, padding=PADDING)


def test_filtering_learns_from_factual_answers_alone():
    answers = [(example, at % 2 == 0) for at, example in enumerate(examples())]
    filtered, plain = writer(), writer()
    tune_filtered(filtered, answers, FEW, padding=PADDING)
    fine_tune(plain, examples()[::2], FEW, padding=PADDING)
    assert all(torch.equal(tensor, weights(plain)[name]) for name, tensor in weights(filtered).items())


def test_unlikelihood_makes_other_answers_less_likely():
    steps = Steps(steps=40, batch=16, rate=1e-2, warmup=4)
    good, bad = examples()[:32], examples()[32:]
    answers = [(example, True) for example in good] + [(example, False) for example in bad]
    filtered, unlikely = writer(), writer()
    tune_filtered(filtered, answers, steps, padding=PADDING)
    tune_unlikely(unlikely, answers, steps, padding=PADDING, weight=2.0)
    assert perplexity_loss(unlikely, bad, PADDING) > perplexity_loss(filtered, bad, PADDING) + 0.2
    assert perplexity_loss(unlikely, good, PADDING) < perplexity_loss(unlikely, bad, PADDING)


@pytest.mark.parametrize("label", [True, False])
def test_unlikelihood_refuses_one_label(label):
    with pytest.raises(TrainingError, match="same label"):
        tune_unlikely(writer(), [(example, label) for example in examples()], FEW, padding=PADDING)


def test_samples_end_repeat_by_seed_and_have_at_most_so_many_tokens():
    prompts = [example.prompt for example in examples()[:4]]
    end = tokenizer().eos_token_id
    first, again, other = (sample(writer(), prompts, ending=end, most=12, seed=seed) for seed in (1, 1, 2))
    assert first == again != other
    assert [one.prompt for one in first] == prompts
    for one in first:
        assert len(one.response) <= 12
        assert end not in one.response[:-1]


def test_prompts_of_other_lengths_do_not_change_a_likeliest_answer():
    prompts = [examples()[0].prompt, examples()[0].prompt[5:]]
    end = tokenizer().eos_token_id
    model = writer()
    fine_tune(model, examples(), FEW, padding=PADDING)
    together = sample(model, prompts, ending=end, most=8, seed=0, temperature=0)
    alone = [sample(model, [prompt], ending=end, most=8, seed=0, temperature=0)[0] for prompt in prompts]
    assert together == alone


def test_the_rate_rises_and_falls_along_a_cosine():
    steps = Steps(steps=12, warmup=2, rate=1.0)
    assert [rate_at(steps, step) for step in (0, 1, 2, 7)] == pytest.approx([0.5, 1, 1, 0.5])
    assert 0 < rate_at(steps, 11) < 0.05


def test_no_file_of_the_current_folder_says_how_a_curve_looks(tmp_path):
    os.mkfifo(tmp_path / "matplotlibrc")  # would be waited for
    code = "from storm_training.curves import draw; draw([{'step': 0, 'loss': 1}], 'a.png', 'a')"
    subprocess.run([sys.executable, "-P", "-c", code], cwd=tmp_path, check=True, timeout=120)
    assert (tmp_path / "a.png").exists()
