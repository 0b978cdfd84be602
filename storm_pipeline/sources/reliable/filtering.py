"""Source policies, the filter of search results by them, and the dates in addresses of pages."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Literal, get_args

from storm_pipeline.errors import SettingsError
from storm_pipeline.sources.reliable.catalogue import (
    CAUTION,
    Catalogue,
    Entry,
    Rating,
    SitePattern,
    SitePatterns,
    load_catalogue,
    pattern_of,
)
from storm_pipeline.sources.search.result import SearchResult, SeenPage
from storm_pipeline.text.plain import find_year
from storm_pipeline.text.quantities import month_names
from storm_pipeline.types import Exclusion, Snippet

if TYPE_CHECKING:
    from storm_pipeline.sources.reliable.ground_truth import GroundTruth

Policy = Literal["strict", "standard", "any"]
POLICIES: tuple[Policy, ...] = get_args(Policy)

_GOOD = frozenset({Rating.RELIABLE, Rating.SCHOLARLY, Rating.OFFICIAL, Rating.EDUCATION})
_ALLOWED = {
    "strict": _GOOD,
    "standard": _GOOD | {Rating.PREPRINT, Rating.MIXED, Rating.NO_CONSENSUS, Rating.UNKNOWN},
    "any": frozenset(Rating),
}
_SPARE = 3
_UPLOADS = frozenset("upload uploads wp-content files media assets image images".split())
"""Names of folders whose dates are upload dates."""


@dataclass(frozen=True)
class SourceVerdict:
    """Verdict on whether a page may be used."""

    url: str  # URL of the page
    allowed: bool
    status: Rating
    reason: str  # the reason, in one sentence
    rule: str = ""  # the deciding place, e.g. ``forbes.com/advisor``; may be empty


class SourcePolicy:
    """Policy that decides which pages may be used. Thread-safe.

    ``strict`` keeps generally reliable sources of Wikipedia's list of perennial sources, and scholarly, official and
    educational hosts, known or not. ``standard`` also keeps preprints, unknown and disputed sources; it excludes
    generally unreliable, deprecated, blacklisted, user-generated and self-published sources, social media, open wikis,
    copies of Wikipedia, content farms and predatory publishers. ``any`` keeps all. If the list has several rows for one
    place (its rating depends on the topic), ``strict`` applies the most cautious one and ``standard`` the most lenient
    one.

    The most specific place decides: longest host, then longest path. The user's lists take precedence under every
    policy; a place on both is denied. Local files are always allowed.

    Args:
        policy: ``strict``, ``standard`` or ``any``.
        allow: domains, or domains with a path, that are always allowed.
        catalogue: known ratings of sources; default: the package's.

    Raises SettingsError: unknown policy, or a malformed entry of a list.
    """

    def __init__(
        self,
        policy: Policy = "standard",
        *,
        allow: Iterable[str] = (),
        deny: Iterable[str] = (),
        catalogue: Catalogue | None = None,
    ) -> None:
        self.policy = require_policy(policy)
        allowed = [(_list_entry(text, "allow"), True) for text in allow]
        denied = [(_list_entry(text, "deny"), False) for text in deny]
        self._user_lists = SitePatterns([*allowed, *denied])
        self._catalogue = catalogue or load_catalogue()
        self.excludes_nothing = policy == "any" and not denied

    def judge(self, url: str) -> SourceVerdict:
        """Return the verdict on a page; never raises."""
        if (where := pattern_of(url)) is None:
            return SourceVerdict(url, allowed=True, status=Rating.OWN, reason="it is not a web page")
        if listed := self._user_lists.find(where):
            place, decisions = listed
            status = Rating.ALLOWED if all(decisions) else Rating.DENIED
            return SourceVerdict(url, all(decisions), status, f"{place} is {status}", str(place))
        if match := self._catalogue.find(where):
            return self._by_catalogue(url, *match)
        allowed = Rating.UNKNOWN in _ALLOWED[self.policy]
        reason = "unknown source" + ("" if allowed else "; strict keeps only known good ones")
        return SourceVerdict(url, allowed, Rating.UNKNOWN, reason)

    def _by_catalogue(self, url: str, place: SitePattern, entries: tuple[Entry, ...]) -> SourceVerdict:
        statuses = {entry.status for entry in entries}
        allowed = self._decisive(statuses) in _ALLOWED[self.policy]
        reason = "; ".join(dict.fromkeys(entry.reason for entry in entries))
        if entries[0].listed:
            reason += ", by Wikipedia's list of perennial sources"
        if len(statuses) == 1:
            return SourceVerdict(url, allowed, entries[0].status, reason, str(place))
        which = "the most cautious" if self.policy == "strict" else "the most lenient"
        return SourceVerdict(url, allowed, Rating.MIXED, f"{reason}; {self.policy} applies {which}", str(place))

    def _decisive(self, statuses: set[Rating]) -> Rating:
        """Return the decisive rating among several rows of one place; see the class."""
        ranked = [status for status in CAUTION if status in statuses] or sorted(statuses)
        return ranked[-1 if self.policy == "strict" else 0]


def require_policy(name: str) -> Policy:
    """Validate the name of a policy. Raises SettingsError: unknown policy."""
    if name in POLICIES:
        return name
    raise SettingsError(f"there is no source policy {name!r}; choose one of: {', '.join(POLICIES)}")


def _list_entry(text: str, name: str) -> SitePattern:
    if (place := pattern_of(text)) is None:
        raise SettingsError(
            f"{text[:100]!r} in the {name} list is not a valid place; write a domain or a domain with a path, "
            "such as example.org or example.org/blog"
        )
    return place


@dataclass(frozen=True)
class SourceFilter:
    """Filter of pages by the source policy and a list of blocked pages.

    A result depends only on the results of its query, since the order of concurrent searches is random. Copies of
    blocked pages that only other searches reveal are found later by :meth:`copies`.
    """

    policy: SourcePolicy  # decides which sources may be used
    kept_out: "GroundTruth | None" = None  # pages never used, such as the reference article of an evaluation
    # name of an engine → whether its curated collection is exempt from the policy
    trusts: Callable[[str], bool] = lambda _: False

    def spare(self, k: int) -> int:
        """Return how many pages to request beyond ``k``, to replace excluded ones.

        ``k`` if the policy may exclude pages, three if only certain pages are blocked.
        """
        if not self.policy.excludes_nothing:
            return k
        return _SPARE if self.kept_out else 0

    def usable(self, result: SearchResult, query: str, k: int) -> SearchResult:
        """Return a query's result with up to ``k`` usable pages and a list of the excluded ones."""
        groups: dict[str, list[Snippet]] = {}
        for snippet in result.snippets:
            groups.setdefault(snippet.source_id, []).append(snippet)
        whole = {page.about.source_id: page.text for page in result.pages}
        texts = {source: whole.get(source) or "\n".join(s.text for s in group) for source, group in groups.items()}
        pages = {source: SeenPage(g[0].url, g[0].title, texts[source], query) for source, g in groups.items()}
        seen = tuple(pages.values()) if self.kept_out else ()
        truth = self.kept_out and self.kept_out.with_seen(seen)
        reasons = {source: self._reason(page, groups[source][0].engine, truth) for source, page in pages.items()}
        kept = [source for source, reason in reasons.items() if reason is None][:k]
        left_out = (Exclusion(p.url, p.title, why, query) for source, p in pages.items() if (why := reasons[source]))
        return replace(
            result,
            snippets=tuple(snippet for snippet in result.snippets if snippet.source_id in kept),
            excluded=(*result.excluded, *left_out),
            seen=(*result.seen, *seen),
            pages=tuple(page for page in result.pages if page.about.source_id in kept),
        )

    def copies(self, seen: Collection[SeenPage]) -> tuple[Exclusion, ...]:
        """Return the blocked pages in ``seen`` (of all searches), judged by their whole text."""
        if self.kept_out is None:
            return ()
        known = self.kept_out.with_seen(seen)
        texts = dict.fromkeys((page.url, page.title, page.text) for page in seen)  # many queries may return a page
        reasons = {text: known.recognise(*text) for text in texts}
        judged = ((page, reasons[page.url, page.title, page.text]) for page in seen)
        return tuple(Exclusion(page.url, page.title, reason, page.query) for page, reason in judged if reason)

    def _reason(self, page: SeenPage, engine: str, truth: "GroundTruth | None") -> str | None:
        """Return why a page is unusable, judged by all its passages; None if it is usable."""
        if truth and (reason := truth.recognise(page.url, page.title, page.text)):
            return reason
        if self.policy.excludes_nothing or self.trusts(engine):
            return None
        verdict = self.policy.judge(page.url)
        return None if verdict.allowed else f"{verdict.status}: {verdict.reason}"


def date_in_address(url: str) -> str | None:
    """Return the publication date in an address such as ``https://example.org/2008/may/30/a-church/``.

    Returns:
        ISO date, or year and month without a day. None for no date, several, an invalid one, or one of an upload
            folder.
    """
    parts = url.partition("://")[2].partition("?")[0].partition("#")[0].lower().split("/")
    after_years = [parts[i + 1 :] for i, part in enumerate(parts) if i and len(part) == 4 and find_year(part) >= "1900"]
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
