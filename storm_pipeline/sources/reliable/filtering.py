"""Filtering search results by source policy, and dating pages by their addresses."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import date

from storm_pipeline.sources.reliable.ground_truth import GroundTruth
from storm_pipeline.sources.reliable.policies import SourcePolicy
from storm_pipeline.sources.search.base import Asked
from storm_pipeline.sources.search.result import SearchResult, SeenPage
from storm_pipeline.text.plain import found_year
from storm_pipeline.text.quantities import month_names
from storm_pipeline.types import Exclusion, Snippet

_SPARE = 3
_UPLOADS = frozenset("upload uploads wp-content files media assets image images".split())
"""Folders whose dates say when a file was stored."""


@dataclass(frozen=True)
class SourceFilter:
    """Filter of the pages that the policy excludes or that are to be kept out.

    A result depends only on what was found for its query, since the order of concurrent searches is random. Copies
    of kept-out pages that only other searches reveal are recognised afterwards, by :meth:`copies`.
    """

    policy: SourcePolicy  # decides which sources may be used
    kept_out: GroundTruth | None = None  # pages never used, such as the reference article of an evaluation
    # name of an engine → whether its pages are not judged, since its collection is curated
    trusts: Callable[[str], bool] = lambda _: False

    def spare(self, k: int) -> int:
        """Return how many pages to request beyond ``k``, to make up for those left out.

        As many again if the policy may exclude any, three if only certain pages are to be kept out.
        """
        if not self.policy.excludes_nothing:
            return k
        return _SPARE if self.kept_out else 0

    def usable(self, found: SearchResult, asked: Asked) -> SearchResult:
        """Return the result without excluded pages, which it lists, and with up to ``asked.k`` pages."""
        groups: dict[str, list[Snippet]] = {}
        for snippet in found.snippets:
            groups.setdefault(snippet.source_id, []).append(snippet)
        whole = {page.about.source_id: page.text for page in found.pages}
        texts = {source: whole.get(source) or "\n".join(s.text for s in own) for source, own in groups.items()}
        pages = {
            source: SeenPage(own[0].url, own[0].title, texts[source], asked.query) for source, own in groups.items()
        }
        seen = tuple(pages.values()) if self.kept_out else ()
        truth = self.kept_out and self.kept_out.knowing(seen)
        reasons = {source: self._reason(page, groups[source][0].engine, truth) for source, page in pages.items()}
        kept = [source for source, reason in reasons.items() if reason is None][: asked.k]
        left_out = (
            Exclusion(page.url, page.title, reason, asked.query)
            for source, page in pages.items()
            if (reason := reasons[source]) is not None
        )
        return replace(
            found,
            snippets=tuple(snippet for snippet in found.snippets if snippet.source_id in kept),
            excluded=(*found.excluded, *left_out),
            seen=(*found.seen, *seen),
            pages=tuple(page for page in found.pages if page.about.source_id in kept),
        )

    def copies(self, seen: Collection[SeenPage]) -> tuple[Exclusion, ...]:
        """Return the pages in ``seen`` (of all searches) that are to be kept out, judged by all text seen of them."""
        if self.kept_out is None:
            return ()
        known = self.kept_out.knowing(seen)
        texts = dict.fromkeys((page.url, page.title, page.text) for page in seen)  # a page is seen by many queries
        reasons = {text: known.recognise(*text) for text in texts}
        judged = ((page, reasons[page.url, page.title, page.text]) for page in seen)
        return tuple(Exclusion(page.url, page.title, reason, page.query) for page, reason in judged if reason)

    def _reason(self, page: SeenPage, engine: str, truth: GroundTruth | None) -> str | None:
        """Return why a page may not be used, judged by all its passages found; None if it may be."""
        if truth and (reason := truth.recognise(page.url, page.title, page.text)):
            return reason
        if self.policy.excludes_nothing or self.trusts(engine):
            return None
        verdict = self.policy.judge(page.url)
        return None if verdict.allowed else f"{verdict.status}: {verdict.reason}"


def date_in_address(url: str) -> str | None:
    """Return the publication date in an address such as ``https://example.org/2008/may/30/a-church/``.

    Returns:
        ISO date, or year and month where no day is stated. None if there is no date or more than one, if it is not
        valid, or if it belongs to a folder of uploaded files.
    """
    parts = url.partition("://")[2].partition("?")[0].partition("#")[0].lower().split("/")
    after_years = [
        parts[i + 1 :] for i, part in enumerate(parts) if i and len(part) == 4 and found_year(part) >= "1900"
    ]
    dates = [(parts[-len(rest) - 1], *rest[:2]) for rest in after_years if rest and _month(rest[0])]
    if len(dates) != 1 or not _UPLOADS.isdisjoint(parts[1:-1]):
        return None
    year, month, *day = dates[0]
    number = _month(month)
    try:
        is_day = day and day[0].isdecimal() and len(day[0]) <= 2 and 1 <= int(day[0]) <= 31
        return date(int(year), number, int(day[0])).isoformat() if is_day else f"{year}-{number:02d}"
    except ValueError:
        return None


def _month(part: str) -> int:
    """Return the number of a month in digits or by its English name; 0 for anything else."""
    is_number = part.isdecimal() and len(part) <= 2 and int(part) <= 12
    return int(part) if is_number else month_names("en").get(part.title(), 0)
