"""A search that finds only pages that may be used, and names the others."""

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence

from storm_pipeline.identity import source_id
from storm_pipeline.search.base import Search
from storm_pipeline.search.result import SearchResult, SeenPage
from storm_pipeline.sources.ground_truth import GroundTruth
from storm_pipeline.sources.judging import Judge
from storm_pipeline.types import Exclusion, Snippet

_SPARE = 3


def each_page_once(exclusions: Iterable[Exclusion]) -> tuple[Exclusion, ...]:
    """By address; of several exclusions of a page the one whose query is first by alphabet.

    Not the first that was met, which would depend on which thread was faster.
    """
    pages: dict[str, Exclusion] = {}
    for one in sorted(exclusions, key=lambda one: (one.query, dataclasses.astuple(one))):
        pages.setdefault(source_id(one.url), one)
    return tuple(sorted(pages.values(), key=lambda one: one.url))


class ReliableSearch(Search):
    """A search without pages that a policy excludes or that are to be kept out. Thread-safe.

    It asks for more pages, so that those left out cost fewer places: twice as many where the policy may exclude
    some, three more where only certain pages are to be kept out.

    What a search gives depends on nothing but what was found for it: of other searches chance decides which
    come first. Copies of what is kept out that only these give away are recognised afterwards, from what all of them
    have seen (:func:`storm_pipeline.sources.duplicates.duplicates`).

    Args:
        engine: where to search.
        judge: tells which sources may be used.
        kept_out: pages never used, such as the article that a new one is measured against.
        trusted: names of engines whose pages are not judged, since somebody chose what they search.
        spare: whether to ask for more pages than wanted.
    """

    def __init__(
        self,
        engine: Search,
        judge: Judge,
        kept_out: GroundTruth | None = None,
        *,
        trusted: Collection[str] = (),
        spare: bool = True,
    ) -> None:
        self._engine = engine
        self._judge = judge
        self._kept_out = kept_out
        self._trusted = trusted
        self._spare = spare

    @property
    def name(self) -> str:
        """Name of the engine that searches."""
        return self._engine.name

    def search(self, query: str, k: int) -> SearchResult:
        """As the engine's, up to ``k`` pages, without the excluded ones, which the result names.

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
        truth = self._knowing(seen)
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
        if not self._judge.excludes_nothing:
            return k
        return _SPARE if self._kept_out else 0

    def _seen(self, pages: Mapping[str, Sequence[Snippet]], query: str) -> tuple[SeenPage, ...]:
        """The pages as this search shows them; none where none is to be kept out."""
        if self._kept_out is None:
            return ()
        return tuple(SeenPage(found[0].url, found[0].title, _together(found), query) for found in pages.values())

    def _knowing(self, seen: Sequence[SeenPage]) -> GroundTruth | None:
        """What is kept out, known also by what this search shows of it."""
        truth = self._kept_out
        return truth.knowing(one.text for one in seen if truth.named(one.url, one.title)) if truth else None

    def _reason(self, snippets: Sequence[Snippet], truth: GroundTruth | None) -> str | None:
        """Why a page is not to be used, from all passages of it that were found together; None if it may be."""
        first = snippets[0]
        if truth and (reason := truth.recognise(first.url, first.title, _together(snippets))):
            return reason
        if self._judge.excludes_nothing or first.engine in self._trusted:
            return None
        verdict = self._judge.judge(first.url)
        return None if verdict.allowed else f"{verdict.status}: {verdict.reason}"


def _together(snippets: Iterable[Snippet]) -> str:
    return "\n".join(snippet.text for snippet in snippets)
