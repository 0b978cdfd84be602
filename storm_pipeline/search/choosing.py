"""Which engine searches where the user names none."""

import logging
from collections.abc import Callable

from storm_pipeline.net.http import user_agent
from storm_pipeline.search.registry import engines

_KEYLESS = (("wikipedia", "https://en.wikipedia.org/w/api.php"),)
"""Engines that need no key, with a URL to probe."""
_OFFLINE = "wiki-leads"
_TIMEOUT = 3.0
_log = logging.getLogger(__name__)


def choose(reachable: Callable[[str], bool] | None = None) -> tuple[str, str]:
    """The first engine whose key is set, else a keyless one that is reachable, else the embedded corpus.

    Args:
        reachable: whether a URL responds; by default :func:`answers`.

    Returns:
        The specification of the engine, and why it was chosen (a clause that ends a sentence).
    """
    for info in engines():
        if info.variables and info.key_set and info.open_web:
            return info.base_name, f"since {' and '.join(info.variables)} is set"
    for name, address in _KEYLESS:
        if (reachable or answers)(address):
            return name, "since no engine's key is set and it needs none"
    return _OFFLINE, "since no engine's key is set and the network cannot be reached"


def answers(address: str) -> bool:
    """Whether a URL responds within three seconds, with any status."""
    import requests

    try:
        requests.head(address, timeout=_TIMEOUT, headers={"User-Agent": user_agent()})
    except (requests.RequestException, OSError) as error:
        _log.info("%s cannot be reached: %s", address, error)
        return False
    return True
