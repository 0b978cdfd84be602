"""Models from transformers, which are refused where some of their weights were never trained."""

from pathlib import Path
from typing import Any

from storm_bench.errors import MetricError
from storm_pipeline.api import LOAD_ERRORS, first_line, options_without_code


def load_classifier(source: str, called: str, trained: str, *, cache: Path | None = None) -> tuple[Any, Any]:
    """A sequence classifier, ready for inference, and its tokenizer.

    Args:
        source: a folder, which is never looked for on the network, or a name on the model hub.
        called: what the model is called in messages, such as ``ranker``.
        trained: how it should have been trained, in messages, such as ``to rank passages``.
        cache: where a model from the hub is kept; default: the library's own place.

    Raises:
        MetricError: it cannot be loaded, or has no trained head.
    """
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    try:
        options = options_without_code(source, cache)
        model = load_trained(AutoModelForSequenceClassification, source, called, trained, **options)
        tokenizer = AutoTokenizer.from_pretrained(source, **options)
    except LOAD_ERRORS as error:
        raise MetricError(
            f"the {called} {source!r} cannot be loaded ({first_line(error)}): give a folder with a sequence "
            "classifier and its tokenizer, or the name of one on the hub"
        ) from error
    return model, tokenizer


def load_trained(kind: Any, source: str, called: str, trained: str, **options: Any) -> Any:
    """A model, ready for inference; refused where the files lack weights, which transformers would draw at random.

    Args:
        kind: class of transformers that loads it.
        source: as for :func:`load_classifier`.
        called: likewise.
        trained: likewise.
        options: further arguments of ``from_pretrained``.

    Raises:
        MetricError: there are such weights.
        OSError, ValueError: it cannot be loaded.
    """
    model, loading = kind.from_pretrained(source, output_loading_info=True, weights_only=True, **options)
    if loading["missing_keys"]:
        raise MetricError(
            f"the {called} {source!r} has no weights for {', '.join(sorted(loading['missing_keys']))}, so its scores "
            f"would be random: give a model that was trained {trained}"
        )
    return model.eval()
