"""Checkpoints: weights and the optimiser's state as safetensors, and the step. No pickle is written or read."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor

from storm_training.errors import TrainingError

_STATE = ("exp_avg", "exp_avg_sq", "step")


def save(folder: Path, step: int, model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Write a checkpoint in one step, so that a killed run leaves the last one whole.

    Args:
        folder: of the stage.
        step: steps that are done.
        model: its trainable parameters are saved.
        optimizer: an AdamW over exactly these, in their order.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tensors: dict[str, Tensor] = {}
    for name, parameter in _trained(model).items():
        tensors[f"weight.{name}"] = parameter.detach().contiguous()
        for key in _STATE if optimizer.state.get(parameter) else ():
            tensors[f"{key}.{name}"] = optimizer.state[parameter][key].reshape(-1).contiguous()
    part = folder / "checkpoint.part"
    save_file(tensors, part, metadata={"step": json.dumps(step)})
    part.replace(folder / "checkpoint.safetensors")


def restore(folder: Path, model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> int:
    """Put model and optimiser into the state of the checkpoint; the steps that were done, 0 if there is none.

    Raises:
        TrainingError: the checkpoint cannot be read, or is of another model.
    """
    path = folder / "checkpoint.safetensors"
    if not path.exists():
        return 0
    trained = _trained(model)
    try:
        with safe_open(path, "pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - it is not a dictionary
            step = int(json.loads(file.metadata()["step"]))
        for name, parameter in trained.items():
            parameter.data.copy_(tensors[f"weight.{name}"])
            if f"step.{name}" in tensors:
                optimizer.state[parameter] = _state(tensors, name, parameter)
    except Exception as error:
        raise TrainingError(f"{path} is no checkpoint of this run ({error}): remove it to start anew") from error
    return step


def _state(tensors: dict[str, Tensor], name: str, parameter: Tensor) -> dict[str, Any]:
    state = {key: tensors[f"{key}.{name}"].view_as(parameter).to(parameter.device, copy=True) for key in _STATE[:2]}
    return {**state, "step": tensors[f"step.{name}"].reshape(()).clone()}


def _trained(model: torch.nn.Module) -> dict[str, torch.nn.Parameter]:
    return {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}
