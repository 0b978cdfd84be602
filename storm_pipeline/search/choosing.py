"""Which engine searches where the user names none."""

import logging
from collections.abc import Callable

from storm_pipeline.net.http import user_agent
from storm_pipeline.search.registry import engines

_KEYLESS = (("wikipedia", "https://en.wikipedia.org/w/api.php"),)
"""Engines that need no key, and an address that answers where they can be reached."""
_OFFLINE = "wiki-leads"
_SECONDS = 3.0
_log = logging.getLogger(__name__)


def choose(reachable: Callable[[str], bool] | None = None) -> tuple[str, str]:
    """The first engine whose key is set, else one without a key that can be reached, else the embedded corpus.

    Args:
        reachable: tells whether an address answers; by default by asking.

    Returns:
        The specification of the engine, and why it was chosen, as the end of a sentence.
    """
    for info in engines():
        if info.variables and info.key_set and info.of_the_web:
            return info.spoken, f"since there is a value in {' and '.join(info.variables)}"
    for name, address in _KEYLESS:
        if (reachable or answers)(address):
            return name, "since no engine's key is set and it needs none"
    return _OFFLINE, "since no engine's key is set and the network cannot be reached"


def answers(address: str) -> bool:
    """Whether a web address answers, whatever it says, within three seconds."""
    import requests

    try:
        requests.head(address, timeout=_SECONDS, headers={"User-Agent": user_agent()})
    except (requests.RequestException, OSError) as error:
        _log.info("%s cannot be reached: %s", address, error)
        return False
    return True
