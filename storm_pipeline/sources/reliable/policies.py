"""Source policies: verdicts on whether a page may be used."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

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

Policy = Literal["strict", "standard", "any"]
POLICIES: tuple[Policy, ...] = get_args(Policy)

_GOOD = frozenset({Rating.RELIABLE, Rating.SCHOLARLY, Rating.OFFICIAL, Rating.EDUCATION})
_ALLOWED = {
    "strict": _GOOD,
    "standard": _GOOD | {Rating.PREPRINT, Rating.MIXED, Rating.NO_CONSENSUS, Rating.UNKNOWN},
    "any": frozenset(Rating),
}


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

    Raises:
        SettingsError: unknown policy, or a malformed entry of a list.
    """

    def __init__(
        self,
        policy: Policy = "standard",
        *,
        allow: Iterable[str] = (),
        deny: Iterable[str] = (),
        catalogue: Catalogue | None = None,
    ) -> None:
        self.policy = policy_named(policy)
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


def policy_named(name: str) -> Policy:
    """Validate the name of a policy. Raises SettingsError: unknown policy."""
    if name in POLICIES:
        return name
    raise SettingsError(f"there is no source policy {name!r}; choose one of: {', '.join(POLICIES)}")


def _list_entry(text: str, name: str) -> SitePattern:
    if (place := pattern_of(text)) is None:
        raise SettingsError(
            f"{text!r} in the {name} list is not a valid place; write a domain or a domain with a path, "
            "such as example.org or example.org/blog"
        )
    return place
