"""Linear layers multiplied by oneDNN instead of MKL, which is half as fast on processors of AMD."""

from typing import Any


def pack_linear_layers(model: Any) -> bool:
    """Replace the linear layers of a BERT in float32 on x86; return whether they were replaced.

    A row of oneDNN's product does not depend on the other rows, bit for bit, unlike one of MKL's. The operators are
    those of PyTorch's own compiler and no public interface: a torch without them keeps its layers.
    """
    import torch

    config = getattr(getattr(model[0], "auto_model", None), "config", None)
    is_on_x86 = torch.backends.cpu.get_cpu_capability().startswith("AVX")
    has_onednn = torch.backends.mkldnn.is_available() and all(  # type: ignore[no-untyped-call]
        hasattr(torch.ops.mkldnn, name) for name in ("_reorder_linear_weight", "_linear_pointwise")
    )
    if getattr(config, "model_type", "") != "bert" or not (is_on_x86 and has_onednn):
        return False

    class Packed(torch.nn.Module):
        def __init__(self, layer: torch.nn.Linear) -> None:
            super().__init__()
            self.weight = torch.ops.mkldnn._reorder_linear_weight(layer.weight.detach(), None)
            self.bias = layer.bias

        def forward(self, rows: torch.Tensor) -> torch.Tensor:
            product: torch.Tensor = torch.ops.mkldnn._linear_pointwise(rows, self.weight, self.bias, "none", [], "")
            return product

    for parent in list(model.modules()):
        for name, layer in list(parent.named_children()):
            if type(layer) is torch.nn.Linear:
                setattr(parent, name, Packed(layer))
    return True
