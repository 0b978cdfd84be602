"""Site patterns (a host or a path, with everything below it), and look-up of the most specific match for a URL."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar
from urllib.parse import unquote, urlsplit

from storm_pipeline.text.identity import canonical_url

T = TypeVar("T")

_OF_HOSTS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-.")
_ARCHIVED = re.compile(r"https?://web\.archive\.org/web/\d+(?:[a-z]{2}_)?/(?:(?=https?:)|(?=[^/]+\.))", re.I)


@dataclass(frozen=True)
class SitePattern:
    """A host with its subdomains, or a path on it with everything below."""

    host: str  # lower case, without ``www.`` and the like; ``edu`` matches every host under that top-level domain
    # case-folded, with a leading and no trailing slash; empty for the whole host. A trailing ``*`` matches any suffix
    path: str = ""

    def __str__(self) -> str:
        return self.host + self.path

    def covers(self, path: str) -> bool:
        """Return whether the pattern matches a path on its host or a subdomain, segment by segment."""
        if self.path.endswith("*"):
            return path.startswith(self.path[:-1])
        return not self.path or path == self.path or path.startswith(self.path + "/")


def pattern_of(address: str) -> SitePattern | None:
    """Parse a URL, a domain, or a domain with a path; None if it is malformed.

    Case, scheme, ``www.``, ``m.`` and ``amp.``, query and a trailing slash are ignored. A Wayback Machine URL counts
    as the original.
    """
    address = address.strip()
    if archived := _ARCHIVED.match(address):
        address = address[archived.end() :]
    if not address.lower().startswith(("http://", "https://")):
        if ":" in address.partition("/")[0]:  # another scheme: urn:…, file:…
            return None
        address = f"https://{address}"
    try:
        parts = urlsplit(canonical_url(address))
        host = parts.hostname or ""
    except ValueError:
        return None
    if parts.scheme != "https" or not _OF_HOSTS.issuperset(host) or not all(host.split(".")):
        return None
    return SitePattern(host, unquote(parts.path).casefold().rstrip("/"))


class SitePatterns(Generic[T]):
    """A mapping from site patterns to values.

    Args:
        items: pattern and value; a pattern may have several values.
    """

    def __init__(self, items: Iterable[tuple[SitePattern, T]]) -> None:
        known: dict[str, dict[SitePattern, list[T]]] = {}
        for place, value in items:
            known.setdefault(place.host, {}).setdefault(place, []).append(value)
        self._known = {
            host: sorted(
                ((place, tuple(values)) for place, values in places.items()), key=lambda item: -len(item[0].path)
            )
            for host, places in known.items()
        }

    def find(self, where: SitePattern) -> tuple[SitePattern, tuple[T, ...]] | None:
        """Return the most specific pattern that covers this one, with its values: longest host, then longest path."""
        labels = where.host.split(".")
        for start in range(len(labels)):
            for place, values in self._known.get(".".join(labels[start:]), ()):
                if place.covers(where.path):
                    return place, values
        return None
