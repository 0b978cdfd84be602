"""Which engine searches where the user names none."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from storm_pipeline.net.http import user_agent
from storm_pipeline.net.retrying import within
from storm_pipeline.search.registry import engines

_KEYLESS = (("wikipedia", "https://en.wikipedia.org/w/api.php"),)  # engines that need no key, with a URL to probe
_OFFLINE = "wiki-leads"
_TIMEOUT = 2.5
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Choice:
    """An engine that was chosen for the user."""

    spec: str  # its specification
    why: str  # why it was chosen, a clause that ends a sentence
    offline: bool = False  # whether the network was found to be down


def choose(reachable: Callable[[str], bool] | None = None) -> Choice:
    """The first engine whose key is set, else a keyless one that is reachable, else the embedded corpus.

    ``reachable``: whether a URL responds; by default :func:`answers`.
    """
    for info in engines():
        if info.variables and info.key_set and info.open_web:
            return Choice(info.base_name, f"since {' and '.join(info.variables)} is set")
    for name, address in _KEYLESS:
        if (reachable or answers)(address):
            return Choice(name, "since no engine's key is set and it needs none")
    return Choice(_OFFLINE, "since no engine's key is set and the network cannot be reached", offline=True)


def answers(address: str) -> bool:
    """Whether a URL responds within 2.5 seconds, with any status; looking up its host's name included."""
    import requests

    def ask() -> bool:
        requests.head(address, timeout=_TIMEOUT, headers={"User-Agent": user_agent()})
        return True

    try:
        return within(_TIMEOUT, ask) or False
    except (requests.RequestException, OSError) as error:
        _log.info("%s cannot be reached: %s", address, error)
        return False
