"""A disk cache of service responses during a data set build, so that a restarted build repeats no request."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from storm_bench.datasets.dataset import BUILD
from storm_pipeline.api import SqliteCache


class AnswerCache:
    """Responses keyed by request. Failures are not cached, so the next build retries them.

    Args:
        folder: the data set's folder.
    """

    def __init__(self, folder: Path) -> None:
        self._cache = SqliteCache(Path(folder) / BUILD / "answers.sqlite")

    def get(self, question: Sequence[object], ask: Callable[[], Any]) -> Any:
        """The cached response, or the result of ``ask``, which is then cached.

        Args:
            question: JSON values that identify the request: service, address, parameters.
            ask: makes the request; returns a JSON value other than None.
        """
        key = json.dumps(question)
        known = self._cache.get(key)
        if known is None:
            known = ask()
            self._cache.put(key, known)
        return known
