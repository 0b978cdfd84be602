"""Selecting the passages that a search returns."""

from collections.abc import Iterable

from storm_pipeline.types import Snippet


def best_passages(ranked: Iterable[Snippet], k: int, passages: int) -> tuple[Snippet, ...]:
    """The first passages of the first documents, in rank order.

    Args:
        ranked: best first; may be lazy, and is consumed only as far as needed.
        k: maximum number of documents, i.e. distinct URLs.
        passages: maximum number of passages per document.
    """
    taken: dict[str, int] = {}
    chosen: list[Snippet] = []
    for snippet in ranked:
        count = taken.get(snippet.url, 0)
        if count < passages and (count or len(taken) < k):
            taken[snippet.url] = count + 1
            chosen.append(snippet)
            if len(chosen) >= k * passages:
                break
    return tuple(chosen)
