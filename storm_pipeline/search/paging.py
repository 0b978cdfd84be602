"""How many pages, and how many passages of each, a search returns."""

from collections.abc import Callable, Iterable

from storm_pipeline.identity import canonical_url
from storm_pipeline.types import Snippet


def paged(
    fetch_page: Callable[[int], Iterable[Snippet]], k: int, *, size: int, max_pages: int = 1
) -> tuple[Snippet, ...]:
    """The snippets of up to ``k`` web pages, best first, grouped by page.

    Args:
        fetch_page: number of a result page, from 0 → its snippets; called no more than needed.
        k: web pages wanted, >= 1.
        size: maximum number of web pages on a result page, >= 1.
        max_pages: maximum number of result pages, >= 1.
    """
    found: dict[str, dict[Snippet, None]] = {}
    for number in range(min(-(-k // size), max_pages)):
        known = len(found)
        for snippet in fetch_page(number):
            found.setdefault(canonical_url(snippet.url), {})[snippet] = None
        if len(found) >= k or len(found) == known:
            break
    return tuple(snippet for snippets in list(found.values())[:k] for snippet in snippets)


def one_per_page(found: Iterable[Snippet], k: int) -> tuple[Snippet, ...]:
    """The first snippet of each of up to ``k`` web pages, in order."""
    pages: dict[str, Snippet] = {}
    for snippet in found:
        pages.setdefault(canonical_url(snippet.url), snippet)
    return tuple(pages.values())[:k]


def best_passages(ranked: Iterable[Snippet], k: int, passages: int) -> tuple[Snippet, ...]:
    """The first passages of the first documents, in rank order.

    ``ranked``: best first; may be lazy, and is consumed only as far as needed.
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
