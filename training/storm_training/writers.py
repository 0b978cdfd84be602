"""Tuning of any causal language model on prompts and responses, full or by LoRA (FoRAG 4.1; TunedRR of WikiGenBench).

Departures from the papers: LoRA is the default, on all projections; epochs are turned into steps; prompts are put into
the model's own chat template, so that the served model reads them as it was tuned on them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from storm_pipeline.api import loading, local_folder, options_without_code
from storm_training.batches import Example, encode
from storm_training.errors import TrainingError
from storm_training.files import isolated, rows_of
from storm_training.fine_tuning import fine_tune
from storm_training.loop import Steps

_PROJECTIONS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def load(name: str) -> tuple[Any, Any]:
    """Return model and tokenizer of a folder, of a name on the model hub, or of an unpacked ``.gguf`` file.

    Raises:
        TrainingError: there is no such model, or it cannot be read.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    path = Path(name).expanduser()
    packed = {"gguf_file": path.name} if path.suffix == ".gguf" else {}
    source = str(path.parent if packed else local_folder(name) or name)
    with loading(f"the writer {name!r} cannot be loaded", "give a folder, a name, or a .gguf file", TrainingError):
        options = options_without_code(source) | packed
        tokenizer = AutoTokenizer.from_pretrained(source, **options)
        model = AutoModelForCausalLM.from_pretrained(source, dtype=torch.float32, weights_only=True, **options)
    return model, tokenizer


def on(model: Any, device: str) -> Any:
    """Return the model on a device, on which tensors are made from now on; on an accelerator products are TF32's.

    Raises:
        TrainingError: there is no such device.
    """
    import torch

    if device == "cpu":
        return model
    try:
        moved = model.to(device)
    except (RuntimeError, AssertionError) as error:
        raise TrainingError(f"there is no device {device!r} to train on: {str(error).splitlines()[0]}") from error
    torch.set_default_device(device)
    torch.set_float32_matmul_precision("high")
    return moved


def with_lora(model: Any, rank: int, seed: int) -> Any:
    """Return the model with LoRA of a rank on all its projections, the only weights that are trained."""
    import torch
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(seed)
    settings = LoraConfig(r=rank, lora_alpha=2 * rank, lora_dropout=0.0, target_modules=_PROJECTIONS)
    return get_peft_model(model, settings)


def read_pairs(path: Path, tokenizer: Any, most: int) -> list[Example]:
    """Return JSON lines with ``prompt``, a text or a list of messages, and ``response`` as examples.

    Args:
        path: of the file.
        tokenizer: its chat template, if it has one, is put around prompts.
        most: tokens of prompt and response together; longer pairs are left out.

    Raises:
        TrainingError: a line is not such an object, or has an empty part; or all are longer.
    """
    pairs = isolated(path, _pairs, "JSON lines with prompt and response")
    examples = [encode(tokenizer, rendered(prompt, tokenizer), response) for prompt, response in pairs]
    kept = [example for example in examples if len(example.prompt) + len(example.response) <= most]
    if not kept:
        raise TrainingError(f"none of the {len(examples)} pairs of {path} has at most {most} tokens")
    return kept


def _pairs(path: str) -> Iterator[tuple[str | list[dict[str, str]], str]]:
    for row in rows_of(path):
        asked = row["prompt"]
        if not isinstance(asked, str):
            asked = [{"role": message["role"], "content": message["content"]} for message in asked]
        yield asked, row["response"]


def rendered(prompt: str | list[dict[str, str]], tokenizer: Any) -> str:
    """Return a prompt, or a list of messages, within the model's chat template, if it has one."""
    messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
    if not tokenizer.chat_template:
        return "".join(message["content"] for message in messages)
    return str(tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))


def tune(model: Any, tokenizer: Any, examples: Sequence[Example], *, epochs: int, settings: Steps, folder: Path) -> int:
    """Fine-tune for so many passes over the examples, and keep checkpoint and curve; the steps that this takes."""
    size = min(settings.batch, len(examples))
    steps = replace(settings, steps=epochs * (len(examples) // size))
    fine_tune(model, examples, steps, padding=tokenizer.eos_token_id, folder=folder)
    return steps.steps
