"""SitePatterns on the web, a host or a path and all below it, and finding the closest one that covers an address."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar
from urllib.parse import unquote, urlsplit

from storm_pipeline.identity import canonical_url

T = TypeVar("T")

_HOST = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")
_WEB = re.compile(r"https?://", re.I)
_ARCHIVED = re.compile(r"https?://web\.archive\.org/web/\d+(?:[a-z]{2}_)?/(?:(?=https?:)|(?=[^/]+\.))", re.I)


@dataclass(frozen=True)
class SitePattern:
    """A host with all hosts below it, or a path on it with all below that.

    Attributes:
        host: lower case, without ``www.`` and the like; ``edu`` stands for every host that ends in it.
        path: case folded, starting with a slash and without one at its end; empty for the whole host. A last
            ``*`` stands for any ending.
    """

    host: str
    path: str = ""

    def __str__(self) -> str:
        return self.host + self.path

    def covers(self, path: str) -> bool:
        """Whether a path on this host, or on one below it, lies here; never cuts a path's segment in two."""
        if self.path.endswith("*"):
            return path.startswith(self.path[:-1])
        return not self.path or path == self.path or path.startswith(self.path + "/")


def pattern_of(address: str) -> SitePattern | None:
    """The place that an address, a domain, or a domain with a path names; None if it can be none.

    Case, scheme, ``www.``, ``m.`` and ``amp.``, query and a trailing slash make no difference. A copy in the
    Wayback Machine stands where the original stood.
    """
    address = address.strip()
    if archived := _ARCHIVED.match(address):
        address = address[archived.end() :]
    if not _WEB.match(address):
        if ":" in address.partition("/")[0]:  # another scheme: urn:…, file:…
            return None
        address = f"https://{address}"
    try:
        parts = urlsplit(canonical_url(address))
        host = parts.hostname or ""
    except ValueError:
        return None
    if parts.scheme != "https" or not _HOST.fullmatch(host):
        return None
    return SitePattern(host, unquote(parts.path).casefold().rstrip("/"))


class SitePatterns(Generic[T]):
    """Things that are known of places.

    Args:
        items: place and thing; one place may have several things.
    """

    def __init__(self, items: Iterable[tuple[SitePattern, T]]) -> None:
        known: dict[str, dict[SitePattern, list[T]]] = {}
        for place, thing in items:
            known.setdefault(place.host, {}).setdefault(place, []).append(thing)
        self._known = {
            host: sorted(((place, tuple(things)) for place, things in places.items()), key=_longest_first)
            for host, places in known.items()
        }

    def find(self, where: SitePattern) -> tuple[SitePattern, tuple[T, ...]] | None:
        """The closest place that covers this one, with all that is known of it: longest host, then longest path."""
        labels = where.host.split(".")
        for start in range(len(labels)):
            for place, things in self._known.get(".".join(labels[start:]), ()):
                if place.covers(where.path):
                    return place, things
        return None


def _longest_first(item: tuple[SitePattern, object]) -> int:
    return -len(item[0].path)
