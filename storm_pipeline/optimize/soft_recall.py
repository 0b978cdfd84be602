"""Soft recall of headings: how much of one set of headings another one covers."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from storm_pipeline.evidence.retrieval.vectors import Embed


def soft_recall(truth: Sequence[str], produced: Sequence[str], embed: Embed, *, clip: bool = False) -> float | None:
    """Soft recall of a set of headings (Shao et al. 2024, appendix C.1, equations 1 to 4).

    A heading counts 1 / (the sum of its cosines with all headings of its set, itself included), so that synonymous
    headings together count as one; a set's cardinality is the sum of its counts; the recall is (card(G) + card(P) -
    card(G ∪ P)) / card(G). Duplicates and order do not matter. The recall is unbounded: it can be greater than 1
    where human headings are similar to several produced ones, and negative cosines can make it negative.

    Args:
        truth: G, the human headings, without marks.
        produced: P, the outline's headings.
        clip: set negative cosines to 0, like the similarities of Fränti and Mariescu-Istodor; the recall is then at
            least 0. The paper does not.

    Returns:
        The recall; 0.0 if nothing was produced; None if there is no truth, or if the cosines of a heading sum to 0 or
        less, so that its count is undefined.
    """
    wanted, made = _distinct(truth), _distinct(produced)
    if not wanted or not made:
        return 0.0 if wanted else None
    together = list(dict.fromkeys([*wanted, *made]))
    vectors = np.asarray(embed(together), dtype=np.float64)
    similar = (vectors @ vectors.T).clip(0.0 if clip else -math.inf)
    place = {heading: i for i, heading in enumerate(together)}
    sizes = [_cardinality(similar, [place[h] for h in part]) for part in (wanted, made, together)]
    return None if any(map(math.isnan, sizes)) else float((sizes[0] + sizes[1] - sizes[2]) / sizes[0])


def _distinct(headings: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(tidy for heading in headings if (tidy := " ".join(heading.split()))))


def _cardinality(similar: npt.NDArray[np.float64], members: Sequence[int]) -> float:
    """Return the sum of the soft counts of some headings (equation 2); NaN if a count is undefined."""
    sums = similar[np.ix_(members, members)].sum(axis=1)
    return float((1.0 / sums).sum()) if (sums > 0.0).all() else math.nan
