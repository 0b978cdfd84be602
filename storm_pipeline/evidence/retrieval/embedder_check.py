"""Trying an embedder before anything is bought, so that an unusable one ends a run at its start."""

import numpy as np

from storm_pipeline.errors import SettingsError, StormError
from storm_pipeline.evidence.retrieval.embedder import PINNED, Embedder

_SAMPLE = "storm"


def require_working(embedder: Embedder) -> None:
    """Embed one word, unless the embedder is the pinned one, whose download is checked and which loads later.

    Raises SettingsError: it cannot be loaded, fails, or gives something other than one vector of its dimension.
    """
    if embedder.name.partition("+")[0] == PINNED:
        return
    try:
        vectors, dimension = np.asarray(embedder.embed([_SAMPLE])), embedder.dimension
    except StormError:
        raise
    except Exception as error:  # it may be the user's own, or of any library
        raise SettingsError(
            f"the embedder {embedder.name!r} failed on its first text ({type(error).__name__}: {error}): "
            f"give another, such as {PINNED!r}"
        ) from error
    if vectors.shape != (1, dimension) or vectors.dtype.kind != "f" or not np.isfinite(vectors).all():
        raise SettingsError(
            f"the embedder {embedder.name!r} gave an array of shape {vectors.shape} and type {vectors.dtype} for one "
            f"text: float32 of shape (1, {dimension}) without NaN is needed"
        )
