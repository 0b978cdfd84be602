"""What a search went without: told by whoever lost it, gathered by whoever asked, with nothing passed in between."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_gathered: ContextVar[list[str] | None] = ContextVar("storm_losses", default=None)
_log = logging.getLogger(__name__)


def tell(detail: str) -> None:
    """Tell in a sentence of an engine or a page that a search goes on without; a warning where nobody gathers."""
    gathered = _gathered.get()
    if gathered is None:
        _log.warning("%s", detail)
    else:
        gathered.append(detail)


@contextmanager
def gathering() -> Iterator[list[str]]:
    """Gather what is told within the block, by this thread and those that work in a copy of its context."""
    gathered: list[str] = []
    token = _gathered.set(gathered)
    try:
        yield gathered
    finally:
        _gathered.reset(token)
