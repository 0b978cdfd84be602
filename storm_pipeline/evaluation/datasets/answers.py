"""What the services answered while a data set is built, on disk, so that a killed build asks nothing twice."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from storm_pipeline.evaluation.datasets.dataset import BUILD
from storm_pipeline.sqlite_cache import SqliteCache


class Answers:
    """Answers by question. Only answers are kept, never failures: those are asked again by the next build.

    Args:
        folder: of the data set.
    """

    def __init__(self, folder: Path) -> None:
        self._cache = SqliteCache(Path(folder) / BUILD / "answers.sqlite")

    def get(self, question: Sequence[object], ask: Callable[[], Any]) -> Any:
        """The kept answer to a question, else what ``ask`` returns, which is then kept.

        Args:
            question: JSON values that tell it from every other: service, address and parameters.
            ask: returns a JSON value other than None.
        """
        key = json.dumps(question)
        known = self._cache.get(key)
        if known is None:
            known = ask()
            self._cache.put(key, known)
        return known
