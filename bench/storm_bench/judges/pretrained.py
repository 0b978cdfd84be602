"""Models from transformers, refused where weights were never trained."""

from pathlib import Path
from typing import Any

from storm_bench.errors import MetricError


def model_name(model: str | Path) -> str:
    """Name of a model on the hub, or of its folder."""
    return Path(model).name if Path(model).is_dir() else str(model)


def load_trained(kind: Any, source: str, called: str, trained: str, **options: Any) -> Any:
    """A model, ready for inference; refused where the files lack weights, which transformers would draw at random.

    Args:
        kind: class of transformers that loads it.
        source: a folder, or a name on the model hub.
        called: what the model is called in messages, such as ``ranker``.
        trained: how it should have been trained, in messages, such as ``to rank passages``.
        options: further arguments of ``from_pretrained``.

    Raises:
        MetricError: there are such weights.
        OSError, ValueError: it cannot be loaded.
    """
    model, found = kind.from_pretrained(source, output_loading_info=True, weights_only=True, **options)
    if found["missing_keys"]:
        raise MetricError(
            f"the {called} {source!r} has no weights for {', '.join(sorted(found['missing_keys']))}, so its scores "
            f"would be random: give a model that was trained {trained}"
        )
    return model.eval()
