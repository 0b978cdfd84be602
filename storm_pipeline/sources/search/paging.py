"""Selection of the pages and passages that a search returns."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, zip_longest

from storm_pipeline.text.identity import canonical_url
from storm_pipeline.text.lexical import LexicalIndex
from storm_pipeline.types import Snippet

PASSAGES = 3  # maximum passages per page from engines of collections
_SHARED = 12  # first characters of a passage that show whether it overlaps the previous one


def collect_pages(
    fetch_page: Callable[[int], Iterable[Snippet]], k: int, *, size: int, max_pages: int = 1
) -> tuple[Snippet, ...]:
    """Return the snippets of up to ``k`` web pages, best first, grouped by page.

    ``fetch_page``: number of a result page, from 0 → its snippets; called only as needed. ``k``: web pages, >= 1.
    ``size``: maximum number of web pages on a result page, >= 1. ``max_pages``: maximum number of result pages.
    """
    pages: dict[str, dict[Snippet, None]] = {}
    for number in range(min(-(-k // size), max_pages)):
        known = len(pages)
        for snippet in islice(fetch_page(number), 1000):  # each takes far more memory than in the answer
            pages.setdefault(canonical_url(snippet.url), {})[snippet] = None
        if len(pages) >= k or len(pages) == known:
            break
    return tuple(snippet for snippets in list(pages.values())[:k] for snippet in snippets)


def best_passages(ranked: Iterable[Snippet], k: int, passages: int = 1) -> tuple[Snippet, ...]:
    """Return the first passages of the first ``k`` documents or web pages, in rank order.

    ``ranked``: best first; may be lazy, and is consumed only as far as needed.
    """
    taken: dict[str, int] = {}
    chosen: list[Snippet] = []
    for snippet in ranked:
        page = canonical_url(snippet.url)
        count = taken.get(page, 0)
        if count < passages and (count or len(taken) < k):
            taken[page] = count + 1
            chosen.append(snippet)
            if len(chosen) >= k * passages:
                break
    return tuple(chosen)


def _neighbours(position: int, snippets: Sequence[Snippet]) -> list[int]:
    """Return the positions of the passages after and before one that overlap it."""

    def overlaps_next(first: int, second: int) -> bool:
        before, after = snippets[first], snippets[second]
        return before.url == after.url and after.text[:_SHARED] in before.text

    after = [position + 1] if position + 1 < len(snippets) and overlaps_next(position, position + 1) else []
    return after + ([position - 1] if position and overlaps_next(position - 1, position) else [])


def best_windows(
    ranked: Iterable[int],
    snippets: Sequence[Snippet],
    k: int,
    passages: int,
    page_of: Callable[[int], object] | None = None,
) -> tuple[Snippet, ...]:
    """Return passages of the first documents: the best one of each and its neighbours.

    ``ranked``: positions, best first; may be lazy, and is consumed only as far as needed. ``snippets``: all passages,
    in the order of each document, made by ``overlapping`` of ``text/chunks.py``. ``passages``: maximum number per
    document; places left by the neighbours are filled in rank order. ``page_of``: position → what only passages of one
    document share; by default their address.
    """
    pages: dict[object, list[int]] = {}
    for position in ranked:
        page = page_of(position) if page_of else snippets[position].url
        of_page = pages.setdefault(page, []) if len(pages) < k else pages.get(page)
        if of_page is None or len(of_page) >= passages:
            continue
        if position not in of_page:
            of_page.append(position)
        if len(of_page) == 1:
            of_page += _neighbours(position, snippets)[: passages - 1]
        if len(pages) == k and all(len(positions) >= passages for positions in pages.values()):
            break
    return tuple(snippets[at] for rank in zip_longest(*pages.values()) for at in rank if at is not None)


def best_of_each(articles: Sequence[Sequence[tuple[str, Snippet]]], query: str, limit: int) -> Iterator[Snippet]:
    """Yield up to ``limit`` passages of each article in turn, the best match and its neighbours first.

    ``articles``: headings and passages of each. Without a match, the first passage is yielded.
    """
    places = [(number, passage) for number, passages in enumerate(articles) for passage in passages]
    # No floor: the articles were selected by these words, which are therefore common in the passages.
    index = LexicalIndex((((heading, 1), (snippet.text, 1)) for _, (heading, snippet) in places), floor=0.0)
    ranked = [match.position for match in index.search(query)]
    snippets = [snippet for _, (_, snippet) in places]
    for number, passages in enumerate(articles):
        best = best_windows((at for at in ranked if places[at][0] == number), snippets, 1, limit)
        yield from best or [snippet for _, snippet in passages[:1]]
