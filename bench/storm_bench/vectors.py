"""The types of sentence vectors, as :class:`storm_pipeline.retrieval.embedder.Embedder` gives them."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]
"""Shape (texts, dimension); every row has length 1."""
Embed = Callable[[Sequence[str]], Vectors]
"""Texts to their vectors."""
