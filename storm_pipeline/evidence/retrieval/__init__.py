"""Retrieval: embedders, lexical index, rank fusion, vector databases."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]
"""Shape (texts, dimension); every row has length 1."""

Vector = npt.NDArray[np.float32]
"""Shape (dimension,), of length 1."""

Embed = Callable[[Sequence[str]], Vectors]
"""Texts to unit vectors, as :meth:`Embedder.embed`."""
