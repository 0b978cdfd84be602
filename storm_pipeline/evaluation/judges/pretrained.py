"""Sequence classifiers from transformers, which are refused where some of their weights were never trained."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from storm_pipeline.errors import MetricError


def load_classifier(
    source: str, called: str, trained: str, *, is_folder: bool, cache: Path | None = None
) -> tuple[Any, Any]:
    """A sequence classifier, ready for inference, and its tokenizer.

    Args:
        source: a folder, or a name on the model hub.
        called: what the model is called in messages, such as ``ranker``.
        trained: how it should have been trained, in messages, such as ``to rank passages``.
        is_folder: whether ``source`` is a folder, which is never looked for on the network.
        cache: where a model from the hub is kept; default: the library's own place.

    Raises:
        MetricError: it cannot be loaded, or has no trained head.
    """
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    options = {"cache_dir": cache, "local_files_only": is_folder}
    try:
        model, loading = AutoModelForSequenceClassification.from_pretrained(source, output_loading_info=True, **options)
        tokenizer = AutoTokenizer.from_pretrained(source, **options)
    except (OSError, ValueError) as error:
        raise MetricError(
            f"the {called} {source!r} cannot be loaded ({str(error).splitlines()[0]}): give a folder with a sequence "
            "classifier and its tokenizer, or the name of one on the hub"
        ) from error
    require_trained(source, called, trained, loading)
    return model.eval(), tokenizer


def require_trained(source: str, called: str, trained: str, loading: Mapping[str, Any]) -> None:
    """Refuse a model for some of whose weights the files hold no values, so that transformers drew them at random.

    Args:
        source: folder or hub name of the model.
        called: as for :func:`load_classifier`.
        trained: likewise.
        loading: what ``from_pretrained(…, output_loading_info=True)`` says of the loading.

    Raises:
        MetricError: there are such weights.
    """
    if loading["missing_keys"]:
        raise MetricError(
            f"the {called} {source!r} has no weights for {', '.join(sorted(loading['missing_keys']))}, so its scores "
            f"would be random: give a model that was trained {trained}"
        )
