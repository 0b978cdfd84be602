"""A search engine that returns only pages that may be used, and remembers the others."""

import dataclasses
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from storm_pipeline.identity import source_id
from storm_pipeline.search.base import SearchEngine
from storm_pipeline.sources.copies import Sighting
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


class ReliableSearch:
    """A search engine without pages that a policy excludes or that are to be kept out. Thread-safe.

    It is asked for more pages, so that those left out cost fewer places: twice as many where the policy may exclude
    some, three more where only certain pages are to be kept out.

    What a search gives depends on nothing but what the engine found for it: of other searches chance decides which
    come first. Copies of what is kept out that only these give away are recognised afterwards, from the
    :attr:`sightings` (:func:`storm_pipeline.sources.copies.copies`).

    Args:
        engine: where to search.
        judge: tells which sources may be used.
        kept_out: pages never used, such as the article that a new one is measured against.
        trusted: names of engines whose pages are not judged, since somebody chose what they search.
        spare: whether to ask for more pages than wanted.
        on_exclusion: told of each page that is left out, once.
    """

    def __init__(
        self,
        engine: SearchEngine,
        judge: Judge,
        kept_out: GroundTruth | None = None,
        *,
        trusted: Collection[str] = (),
        spare: bool = True,
        on_exclusion: Callable[[Exclusion], None] | None = None,
    ) -> None:
        self._engine = engine
        self._judge = judge
        self._kept_out = kept_out
        self._trusted = trusted
        self._spare = spare
        self._on_exclusion = on_exclusion
        self._excluded: dict[str, Exclusion] = {}
        self._sightings: set[Sighting] = set()
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """Name of the engine that searches."""
        return self._engine.name

    @property
    def excluded(self) -> tuple[Exclusion, ...]:
        """The pages left out so far, each once, by address."""
        with self._lock:
            return each_page_once(self._excluded.values())

    @property
    def sightings(self) -> frozenset[Sighting]:
        """Every page that the engine showed so far, search by search; none where none is to be kept out."""
        with self._lock:
            return frozenset(self._sightings)

    def search(self, query: str, k: int) -> Sequence[Snippet]:
        """As the engine's, up to ``k`` pages, without the excluded ones.

        Raises:
            SearchError: as the engine's.
        """
        if k < 1:
            return ()
        found = self._engine.search(query, k + self._more(k))
        pages: dict[str, list[Snippet]] = {}
        for snippet in found:
            pages.setdefault(snippet.source_id, []).append(snippet)
        truth = self._beside(pages, query)
        kept = [page for page, snippets in pages.items() if not self._excludes(page, snippets, query, truth)][:k]
        return tuple(snippet for snippet in found if snippet.source_id in kept)

    def _more(self, k: int) -> int:
        if not self._spare:
            return 0
        if not self._judge.excludes_nothing:
            return k
        return _SPARE if self._kept_out else 0

    def _beside(self, pages: Mapping[str, Sequence[Snippet]], query: str) -> GroundTruth | None:
        """What is kept out, known also by what this search shows of it."""
        if self._kept_out is None:
            return None
        seen = [Sighting(found[0].url, found[0].title, _together(found), query) for found in pages.values()]
        with self._lock:
            self._sightings.update(seen)
        truth = self._kept_out
        return truth.knowing(one.text for one in seen if truth.named(one.url, one.title))

    def _excludes(self, page: str, snippets: Sequence[Snippet], query: str, truth: GroundTruth | None) -> bool:
        reason = self._reason(snippets, truth)
        if reason is None:
            return False
        with self._lock:
            known = self._excluded.get(page)
            found = Exclusion(snippets[0].url, snippets[0].title, reason, query)
            (self._excluded[page],) = each_page_once([known or found, found])
        if known is None and self._on_exclusion:
            self._on_exclusion(found)
        return True

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
