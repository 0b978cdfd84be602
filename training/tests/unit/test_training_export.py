"""A tuned writer exported: transformers reads it back, llama.cpp runs it and answers the same."""

import json
import urllib.request
from contextlib import closing

import pytest
import torch
from training_helpers import examples, pairs, tokenizer, writer

from storm_pipeline.models.llama_server import shared_server
from storm_training.errors import TrainingError
from storm_training.export import export_gguf
from storm_training.fine_tuning import fine_tune
from storm_training.loop import Steps
from storm_training.sampling import sample


@pytest.fixture(scope="module")
def tuned():
    """A writer that knows its examples by heart, so that rounding does not change its likeliest answer."""
    model = writer()
    steps = Steps(steps=120, batch=4, rate=2e-2, warmup=5)
    fine_tune(model, examples()[:4], steps, padding=tokenizer().eos_token_id)
    return model


def answer(model, at):
    found = sample(model, [examples()[at].prompt], ending=tokenizer().eos_token_id, most=48, seed=0, temperature=0)
    return tokenizer().decode(found[0].response, skip_special_tokens=True)


def ask(server, prompt):
    request = urllib.request.Request(
        f"{server.url}/chat/completions",
        json.dumps({"messages": [{"role": "user", "content": prompt}], "temperature": 0, "max_tokens": 48}).encode(),
        {"Authorization": f"Bearer {server.key}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.load(reply)["choices"][0]["message"]["content"]


@pytest.mark.parametrize("numbers", ["F16", "Q8_0"])
def test_the_embedded_server_answers_as_the_tuned_model(tuned, tmp_path, numbers):
    path = export_gguf(tuned, tokenizer(), tmp_path / f"tiny-{numbers}.gguf", numbers)
    with closing(shared_server(path, slots=1, context=512, threads=1)) as server:
        for at in range(2):
            assert ask(server, pairs()[at][0].prompt).strip() == answer(tuned, at)


def test_another_architecture_is_refused(tmp_path):
    with pytest.raises(TrainingError, match="LlamaForCausalLM and Qwen2ForCausalLM can"):
        export_gguf(torch.nn.Linear(2, 2), tokenizer(), tmp_path / "x.gguf")
