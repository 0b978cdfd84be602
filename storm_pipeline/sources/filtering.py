"""Filtering search results by source policy."""

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence

from storm_pipeline.identity import source_id
from storm_pipeline.search.base import Search, WrappingSearch
from storm_pipeline.search.result import SearchResult, SeenPage
from storm_pipeline.sources.ground_truth import GroundTruth
from storm_pipeline.sources.policies import SourcePolicy
from storm_pipeline.types import Exclusion, Snippet

_SPARE = 3


def one_per_page(exclusions: Iterable[Exclusion]) -> tuple[Exclusion, ...]:
    """Deduplicate by canonical URL, sorted by URL; keeps the exclusion whose query is alphabetically first.

    Keeping the first in order of arrival would depend on thread timing.
    """
    pages: dict[str, Exclusion] = {}
    for one in sorted(exclusions, key=lambda one: (one.query, dataclasses.astuple(one))):
        pages.setdefault(source_id(one.url), one)
    return tuple(sorted(pages.values(), key=lambda one: one.url))


class ReliableSearch(WrappingSearch):
    """A search without pages that the policy excludes or that are to be kept out. Thread-safe.

    It requests more pages to make up for those excluded: twice as many if the policy may exclude any, three more if
    only certain pages are to be kept out.

    A result depends only on what was found for its query, since the order of concurrent searches is random. Copies
    of kept-out pages that only other searches reveal are recognised afterwards, from what all of them
    returned (:func:`storm_pipeline.sources.duplicates.duplicates`).

    Args:
        engine: where to search.
        policy: decides which sources may be used.
        kept_out: pages never used, such as the reference article of an evaluation.
        trusted: names of engines whose pages are not judged, since their collections are curated.
        spare: whether to request more pages than ``k``.
    """

    def __init__(
        self,
        engine: Search,
        policy: SourcePolicy,
        kept_out: GroundTruth | None = None,
        *,
        trusted: Collection[str] = (),
        spare: bool = True,
    ) -> None:
        super().__init__(engine)
        self._policy = policy
        self._kept_out = kept_out
        self._trusted = trusted
        self._spare = spare

    def search(self, query: str, k: int) -> SearchResult:
        """As the engine's ``search``, up to ``k`` pages, without excluded pages, which are listed in the result.

        Raises:
            SearchError: as the engine's.
        """
        if k < 1:
            return SearchResult()
        found = self._engine.search(query, k + self._more(k))
        pages: dict[str, list[Snippet]] = {}
        for snippet in found.snippets:
            pages.setdefault(snippet.source_id, []).append(snippet)
        seen = self._seen(pages, query)
        truth = self._truth_with(seen)
        reasons = {page: self._reason(snippets, truth) for page, snippets in pages.items()}
        kept = [page for page, reason in reasons.items() if reason is None][:k]
        left_out = (
            Exclusion(pages[page][0].url, pages[page][0].title, reason, query)
            for page, reason in reasons.items()
            if reason is not None
        )
        return dataclasses.replace(
            found,
            snippets=tuple(snippet for snippet in found.snippets if snippet.source_id in kept),
            excluded=(*found.excluded, *left_out),
            seen=(*found.seen, *seen),
        )

    def _more(self, k: int) -> int:
        if not self._spare:
            return 0
        if not self._policy.excludes_nothing:
            return k
        return _SPARE if self._kept_out else 0

    def _seen(self, pages: Mapping[str, Sequence[Snippet]], query: str) -> tuple[SeenPage, ...]:
        """The pages as this search returned them; empty if none is to be kept out."""
        if self._kept_out is None:
            return ()
        return tuple(SeenPage(found[0].url, found[0].title, _joined_text(found), query) for found in pages.values())

    def _truth_with(self, seen: Sequence[SeenPage]) -> GroundTruth | None:
        """What is kept out, extended by the text that this search returned of it."""
        truth = self._kept_out
        return (
            truth.with_texts(one.text for one in seen if truth.recognise_by_name(one.url, one.title)) if truth else None
        )

    def _reason(self, snippets: Sequence[Snippet], truth: GroundTruth | None) -> str | None:
        """Why a page may not be used, judged by all its passages found; None if it may be."""
        first = snippets[0]
        if truth and (reason := truth.recognise(first.url, first.title, _joined_text(snippets))):
            return reason
        if self._policy.excludes_nothing or first.engine in self._trusted:
            return None
        verdict = self._policy.judge(first.url)
        return None if verdict.allowed else f"{verdict.status}: {verdict.reason}"


def _joined_text(snippets: Iterable[Snippet]) -> str:
    return "\n".join(snippet.text for snippet in snippets)
