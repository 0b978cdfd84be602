"""The free licences of images, by the names that Wikimedia Commons gives them."""

import re
from dataclasses import dataclass

_COMMONS = "https://creativecommons.org"
_CREATIVE_COMMONS = re.compile(
    r"cc by(?P<alike> sa)? (?P<version>[1-4]\.[0-9])(?: [1-4]\.[0-9])*(?: (?P<country>[a-z]+))?"
)
_VERSIONS = frozenset({"1.0", "2.0", "2.1", "2.5", "3.0", "4.0"})
_COUNTRIES = frozenset(
    "ar at au be bg br ca ch cl cn co cr cz de dk ec ee eg es fi fr ge gr gt hk hr hu ie igo il in it jp kr lu mk mt "
    "mx my nl no nz pe ph pl pr pt ro rs scotland se sg si th tw ug uk us ve vn za".split()
)
"""Countries, and the intergovernmental organisations, that have versions of their own."""
_GNU = re.compile(r"gfdl(?: (?P<version>1\.[123]))?")
_GNU_TEXTS = {"1.1": "old-licenses/fdl-1.1.html", "1.2": "old-licenses/fdl-1.2.html", "1.3": "fdl-1.3.html"}
_PUBLIC_DOMAIN = frozenset({"public domain", "pd"})
_ZERO = frozenset({"cc0", "cc0 1.0", "cc zero"})


@dataclass(frozen=True)
class Licence:
    """A free licence."""

    name: str  # its common name, e.g. ``CC BY-SA 3.0 de``
    url: str  # address of its text; empty for the public domain
    requires_author: bool = True  # whether the author must be named


def free_licence(name: str) -> Licence | None:
    """The free licence of this name: public domain, CC0, CC BY, CC BY-SA or GFDL; None for all others.

    Case does not matter, nor whether words are joined by spaces or hyphens. If it names several versions, the first
    one counts.
    """
    words = re.sub(r"[\s_-]+", " ", name).strip().lower()
    if words in _PUBLIC_DOMAIN:
        return Licence("Public domain", "", requires_author=False)
    if words in _ZERO:
        return Licence("CC0 1.0", f"{_COMMONS}/publicdomain/zero/1.0/", requires_author=False)
    if found := _GNU.fullmatch(words):
        text = _GNU_TEXTS[found["version"] or "1.3"]
        return Licence(f"GFDL {found['version'] or ''}".rstrip(), f"https://www.gnu.org/licenses/{text}")
    return _creative_commons(words)


def _creative_commons(words: str) -> Licence | None:
    found = _CREATIVE_COMMONS.fullmatch(words)
    if not found or found["version"] not in _VERSIONS or (found["country"] or "de") not in _COUNTRIES:
        return None
    kind, version, country = "by-sa" if found["alike"] else "by", found["version"], found["country"]
    name = f"CC {kind.upper()} {version} {country or ''}".rstrip()
    return Licence(name, f"{_COMMONS}/licenses/{kind}/{version}/" + (f"{country}/" if country else ""))
