"""Export of a tuned writer: merged safetensors, and GGUF for llama.cpp, which the embedded server runs.

Departures from llama.cpp's own converter: two architectures (Llama, Qwen2) with byte-level BPE tokenizers, F16 and
Q8_0. Norms and biases stay in F32.
"""

import json
from pathlib import Path
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from storm_training.errors import TrainingError

Numbers = Literal["F16", "Q8_0"]
_SPLITTING = {"LlamaForCausalLM": ("llama", "gpt-2"), "Qwen2ForCausalLM": ("qwen2", "qwen2")}
"""Class of the model → its name and its tokenizer's splitting in GGUF."""
_PLAIN_CHAT = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
"""Chat template of a model without one: the messages alone, as it was tuned on prompts."""


def numbers_of(name: str) -> Numbers:
    """Return the kind of numbers of a name. Raises TrainingError: there is none."""
    for kind in get_args(Numbers):
        if name == kind:
            return cast("Numbers", kind)
    raise TrainingError(f"numbers {name!r} are not written: choose one of {', '.join(get_args(Numbers))}")


def merged(model: Any) -> Any:
    """Return a model whose LoRA weights are added to those that they adapt; a model without LoRA is itself."""
    return model.merge_and_unload() if hasattr(model, "merge_and_unload") else model


def export(trained: Any, tokenizer: Any, folder: Path, numbers: Numbers) -> Path:
    """Write a tuned model as safetensors to ``model`` and as ``writer.gguf`` into a folder; the path of the latter."""
    tuned = merged(trained)
    export_safetensors(tuned, tokenizer, folder / "model")
    return export_gguf(tuned, tokenizer, folder / "writer.gguf", numbers)


def export_safetensors(model: Any, tokenizer: Any, folder: Path) -> Path:
    """Write model and tokenizer as transformers reads them (``AutoModelForCausalLM.from_pretrained(folder)``)."""
    merged(model).save_pretrained(folder, safe_serialization=True)
    tokenizer.save_pretrained(folder)
    return folder


def export_gguf(model: Any, tokenizer: Any, path: Path, numbers: Numbers = "F16") -> Path:
    """Write a GGUF file.

    Args:
        model: a Llama or Qwen2 of transformers, with or without LoRA.
        tokenizer: a fast tokenizer of byte-level BPE.
        path: of the file; its folder is made.
        numbers: of matrices.

    Raises:
        TrainingError: another architecture or tokenizer.
    """
    import gguf

    whole = merged(model)
    architecture, splitting = _known(whole)
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_file_type(gguf.LlamaFileType[f"MOSTLY_{numbers}"])
    _add_shape(writer, whole.config)
    _add_tokenizer(writer, tokenizer, splitting, whole.config.vocab_size)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH[architecture.upper()], whole.config.num_hidden_layers)
    for name, tensor in whole.state_dict().items():
        if name == "lm_head.weight" and whole.config.tie_word_embeddings:
            continue
        values = tensor.detach().float().cpu().numpy()
        if architecture == "llama" and name.endswith(("q_proj.weight", "k_proj.weight")):
            values = _interleaved(values, _heads(whole.config, name))
        _add_tensor(writer, names.get_name(name, (".weight", ".bias")), values, numbers)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _known(model: Any) -> tuple[str, str]:
    kind = type(model).__name__
    if kind not in _SPLITTING:
        raise TrainingError(f"{kind} cannot be written as GGUF: {' and '.join(sorted(_SPLITTING))} can")
    return _SPLITTING[kind]


def _heads(config: Any, name: str) -> int:
    return int(config.num_attention_heads if "q_proj" in name else config.num_key_value_heads)


def _interleaved(values: NDArray[np.float32], heads: int) -> NDArray[np.float32]:
    """Return the rows in llama.cpp's order: it rotates neighbours, transformers the halves of a head."""
    return values.reshape(heads, 2, -1, values.shape[1]).swapaxes(1, 2).reshape(values.shape)


def _add_shape(writer: Any, config: Any) -> None:
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(
        config.rope_theta if hasattr(config, "rope_theta") else config.rope_parameters["rope_theta"]
    )
    writer.add_rope_dimension_count(config.hidden_size // config.num_attention_heads)
    writer.add_vocab_size(config.vocab_size)


def _add_tokenizer(writer: Any, tokenizer: Any, splitting: str, count: int) -> None:
    from gguf import TokenType

    model = json.loads(tokenizer.backend_tokenizer.to_str())["model"]
    if model["type"] != "BPE":
        raise TrainingError(f"a tokenizer of kind {model['type']} cannot be written as GGUF: BPE can")
    added = {token for token, at in tokenizer.get_added_vocab().items()}
    names = {at: token for token, at in tokenizer.get_vocab().items()}
    tokens = [names.get(at, f"[PAD{at}]") for at in range(count)]
    kinds = [
        TokenType.UNUSED if at not in names else TokenType.CONTROL if names[at] in added else TokenType.NORMAL
        for at in range(count)
    ]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(splitting)
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    writer.add_token_merges([pair if isinstance(pair, str) else " ".join(pair) for pair in model["merges"]])
    writer.add_eos_token_id(tokenizer.eos_token_id)
    writer.add_pad_token_id(tokenizer.pad_token_id)
    writer.add_add_bos_token(value=False)
    writer.add_chat_template(tokenizer.chat_template or _PLAIN_CHAT)


def _add_tensor(writer: Any, name: str, values: NDArray[np.float32], numbers: Numbers) -> None:
    from gguf import GGMLQuantizationType, quants

    if values.ndim == 1:
        writer.add_tensor(name, values)
    elif numbers == "F16":
        writer.add_tensor(name, values.astype(np.float16))
    else:
        kind = GGMLQuantizationType.Q8_0
        writer.add_tensor(name, quants.quantize(values, kind), raw_dtype=kind)
