"""The command that tunes any writer: what it reads, what it writes, what it refuses."""

import json

import pytest
import torch
from training_helpers import pairs, tokenizer, writer
from typer.testing import CliRunner

from storm_pipeline.errors import StormError
from storm_training.__main__ import app
from storm_training.errors import TrainingError
from storm_training.export import export_gguf, export_safetensors
from storm_training.writers import load, read_pairs


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "pairs.jsonl"
    rows = [json.dumps({"prompt": item.prompt, "response": text}) for item, text in pairs()[:8]]
    path.write_text("\n".join(rows))
    return path


@pytest.mark.parametrize("lora", [0, 4])
def test_a_writer_is_tuned_and_exported(tmp_path, data, lora):
    base = export_safetensors(writer(), tokenizer(), tmp_path / "base")
    options = ["--to", str(tmp_path / "out"), "--epochs", "3", "--rate", "0.01", "--lora", str(lora)]
    found = CliRunner().invoke(app, ["tune", str(base), str(data), *options])
    assert found.exit_code == 0, found.output
    assert "8 pairs, 6 steps" in found.output
    lines = (tmp_path / "out" / "curve.csv").read_text().splitlines()
    first, last = (float(line.split(",")[1]) for line in (lines[1], lines[-1]))
    assert last < first
    again, _ = load(str(tmp_path / "out" / "model"))
    assert not torch.equal(again.get_input_embeddings().weight, writer().get_input_embeddings().weight) or lora
    assert (tmp_path / "out" / "writer.gguf").read_bytes().startswith(b"GGUF")


def test_a_gguf_file_is_unpacked(tmp_path):
    from transformers import Qwen2Config, Qwen2ForCausalLM

    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = Qwen2Config(vocab_size=len(tokenizer()), num_key_value_heads=1, tie_word_embeddings=True, **sizes)
    packed = Qwen2ForCausalLM(config)
    model, read = load(str(export_gguf(packed, tokenizer(), tmp_path / "tiny.gguf", "F16")))
    for name, tensor in packed.state_dict().items():
        torch.testing.assert_close(model.state_dict()[name], tensor, atol=2e-3, rtol=1e-2)
    prompt = pairs()[0][0].prompt
    assert read.decode(read(prompt)["input_ids"]) == prompt


def test_a_model_that_asks_for_code_is_refused(tmp_path):
    folder = export_safetensors(writer(), tokenizer(), tmp_path / "base")
    config = folder / "config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"attn_implementation": "evil/kernel"}))
    with pytest.raises(StormError, match="asks to run code"):
        load(str(folder))


def test_prompts_get_the_models_chat_template(data):
    plain = read_pairs(data, tokenizer(), 1000)[0].prompt
    chatty = type(tokenizer())(tokenizer_object=tokenizer().backend_tokenizer, eos_token="<|end|>")
    chatty.chat_template = "user: {{ messages[0]['content'] }}{% if add_generation_prompt %} writer:{% endif %}"
    text = chatty.decode(read_pairs(data, chatty, 1000)[0].prompt)
    assert text == "user: " + tokenizer().decode(plain) + " writer:"


def test_bad_data_and_absent_models_are_named(tmp_path, data):
    with pytest.raises(TrainingError, match="at most 5 tokens"):
        read_pairs(data, tokenizer(), 5)
    for row in ("{}", '{"prompt": [{"role": "user"}], "response": "a"}', '{"prompt": 1, "response": "a"}'):
        data.write_text(row)
        with pytest.raises(TrainingError, match="JSON lines with prompt and response"):
            read_pairs(data, tokenizer(), 1000)
    with pytest.raises(TrainingError, match="cannot be loaded"):
        load(str(tmp_path / "absent"))


@pytest.mark.parametrize("link", ["checkpoint.part", "curve.csv", "model/config.json"])
def test_nothing_is_written_through_a_link_in_the_folder(tmp_path, data, link):
    (tmp_path / "mine").write_text("kept")
    (tmp_path / "out" / link).parent.mkdir(parents=True)
    (tmp_path / "out" / link).symlink_to(tmp_path / "mine")
    tuning = ["tune", "none", str(data), "--to", str(tmp_path / "out")]
    with pytest.raises(StormError, match="is a link"):
        app(tuning, standalone_mode=False)
    assert (tmp_path / "mine").read_text() == "kept"
