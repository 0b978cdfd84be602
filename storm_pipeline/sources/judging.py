"""May this page be used? A verdict, and the reason for it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from storm_pipeline.errors import SettingsError
from storm_pipeline.sources.catalogue import Catalogue, Entry, load_catalogue
from storm_pipeline.sources.ratings import CAUTION, Rating
from storm_pipeline.sources.site_patterns import SitePattern, SitePatterns, pattern_of

Policy = Literal["strict", "standard", "any"]
POLICIES: tuple[Policy, ...] = get_args(Policy)

_TRUSTED = frozenset({Rating.RELIABLE, Rating.SCHOLARLY, Rating.OFFICIAL, Rating.EDUCATION})
_ALLOWED = {
    "strict": _TRUSTED,
    "standard": _TRUSTED | {Rating.MIXED, Rating.NO_CONSENSUS, Rating.UNKNOWN},
    "any": frozenset(Rating),
}


@dataclass(frozen=True)
class Verdict:
    """Whether a page may be used.

    Attributes:
        url: the page, as given.
        allowed: whether it may.
        status: what the source is taken for.
        reason: why, in one sentence.
        rule: the place that decided, e.g. ``forbes.com/advisor``; empty where none did.
    """

    url: str
    allowed: bool
    status: Rating
    reason: str
    rule: str = ""


class Judge:
    """Judges pages by a policy. Thread-safe.

    ``strict`` keeps what is generally reliable by Wikipedia's list of perennial sources, and scholarly,
    official and educational hosts, known or not. ``standard`` keeps these and all of which nothing is known or
    opinions differ; it excludes what is generally unreliable, deprecated or blacklisted, user-generated,
    self-published, social media, open wikis, copies of Wikipedia, content farms and predatory publishers.
    ``any`` keeps all. Where the list has several rows for one place (its worth depends on the topic),
    ``strict`` goes by the most cautious one and ``standard`` by the most lenient one.

    The closest place decides: longest host, then longest path. Own lists go before everything, under every
    policy; where both name one place, it is denied. What is no web page (a file of one's own) is always allowed.

    Args:
        policy: ``strict``, ``standard`` or ``any``.
        allow: domains, or domains with a path, that are always allowed.
        deny: those that never are.
        catalogue: what is known of sources; default: the package's.

    Raises:
        SettingsError: there is no such policy, or an own entry names no place.
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
        own = [(_own(text, "allow"), True) for text in allow], [(_own(text, "deny"), False) for text in deny]
        self._own: SitePatterns[bool] = SitePatterns([*own[0], *own[1]])
        self._catalogue = catalogue or load_catalogue()
        self.excludes_nothing = policy == "any" and not own[1]

    def judge(self, url: str) -> Verdict:
        """The verdict on a page; never raises."""
        if (where := pattern_of(url)) is None:
            return Verdict(url, allowed=True, status=Rating.OWN, reason="it is no page of the web")
        if own := self._own.find(where):
            return self._by_own_list(url, *own)
        if found := self._catalogue.find(where):
            return self._by_catalogue(url, *found)
        allowed = Rating.UNKNOWN in _ALLOWED[self.policy]
        reason = "nothing is known of it" + ("" if allowed else ", and strict keeps only what is known to be good")
        return Verdict(url, allowed, Rating.UNKNOWN, reason)

    @staticmethod
    def _by_own_list(url: str, place: SitePattern, wishes: tuple[bool, ...]) -> Verdict:
        allowed = all(wishes)
        status = Rating.ALLOWED if allowed else Rating.DENIED
        return Verdict(url, allowed, status, f"{place} is {status}", str(place))

    def _by_catalogue(self, url: str, place: SitePattern, entries: tuple[Entry, ...]) -> Verdict:
        statuses = {entry.status for entry in entries}
        allowed = self._decisive(statuses) in _ALLOWED[self.policy]
        reason = "; ".join(dict.fromkeys(entry.reason for entry in entries))
        if entries[0].listed:
            reason += ", by Wikipedia's list of perennial sources"
        if len(statuses) == 1:
            return Verdict(url, allowed, entries[0].status, reason, str(place))
        which = "the most cautious" if self.policy == "strict" else "the most lenient"
        return Verdict(url, allowed, Rating.MIXED, f"{reason}; {self.policy} goes by {which}", str(place))

    def _decisive(self, statuses: set[Rating]) -> Rating:
        """Several rows of one place are resolved by policy; see the class."""
        ranked = [status for status in CAUTION if status in statuses] or sorted(statuses)
        return ranked[-1 if self.policy == "strict" else 0]


def judge(url: str, policy: Policy = "standard") -> Verdict:
    """The verdict on a page by a policy alone; :class:`Judge` knows own lists too.

    Raises:
        SettingsError: there is no such policy.
    """
    return Judge(policy).judge(url)


def policy_named(name: str) -> Policy:
    """The policy of this name.

    Raises:
        SettingsError: there is none.
    """
    for policy in POLICIES:
        if policy == name:
            return policy
    raise SettingsError(f"there is no source policy {name!r}; choose one of: {', '.join(POLICIES)}")


def _own(text: str, name: str) -> SitePattern:
    if (place := pattern_of(text)) is None:
        raise SettingsError(
            f"{text!r} in the {name} list names no place on the web; write a domain or a domain with a path, "
            "such as example.org or example.org/blog"
        )
    return place
