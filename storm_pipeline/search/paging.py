"""From pages of results to the snippets that were asked for."""

from collections.abc import Callable, Iterable

from storm_pipeline.identity import canonical_url
from storm_pipeline.types import Snippet


def paged(results: Callable[[int], Iterable[Snippet]], k: int, *, size: int, most: int = 1) -> tuple[Snippet, ...]:
    """The snippets of up to ``k`` web pages, best first, each page's together.

    Args:
        results: the snippets on a page of results, counted from 0; called only as often as it takes.
        k: web pages wanted, >= 1.
        size: web pages that a page of results holds at most, >= 1.
        most: pages of results at most, >= 1.
    """
    found: dict[str, dict[Snippet, None]] = {}
    for number in range(min(-(-k // size), most)):
        known = len(found)
        for snippet in results(number):
            found.setdefault(canonical_url(snippet.url), {})[snippet] = None
        if len(found) >= k or len(found) == known:
            break
    return tuple(snippet for snippets in list(found.values())[:k] for snippet in snippets)
