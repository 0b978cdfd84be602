"""The pipeline as a DSPy module: copied, saved, evaluated and optimised like any other."""

import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import dspy

from storm_pipeline.models.programs import SafeModule
from storm_pipeline.run.journal import fingerprint

if TYPE_CHECKING:
    from storm_pipeline.storm import Storm


class StormProgram(SafeModule):
    """Research and writing as one module, whose predictors are all programs of a run under their names.

    Copies share the ``Storm`` that it was made from, with its models, search engine and encoder, and have programs of
    their own; a saved state holds the programs alone. Each call is a run in a temporary folder, with a reference store
    of its own. A call for the same topic with the same programs while one is under way waits for that one:
    ``dspy.Evaluate`` submits calls of over two minutes twice.

    Args:
        storm: whose settings, models and search engine are used.
        makes: ``article``, or ``outline``, which needs no writing.
    """

    def __init__(self, storm: "Storm", makes: Literal["article", "outline"] = "article") -> None:
        super().__init__()
        self.programs = storm.programs.deepcopy()
        self.makes = makes
        self._runs = _Runs(storm)

    def forward(self, topic: str) -> dspy.Prediction:
        """Write about a topic.

        Returns:
            A prediction with ``outline``; and, if it makes articles, ``article`` and ``conversations``.

        Raises:
            StormError: as :meth:`storm_pipeline.storm.Storm.write`.
        """
        return self._runs.once(fingerprint(self.makes, topic, self.programs.fingerprints()), lambda: self._made(topic))

    async def aforward(self, topic: str) -> dspy.Prediction:
        """As :meth:`forward`, in a thread of its own."""
        return await dspy.asyncify(self.forward)(topic)

    def _made(self, topic: str) -> dspy.Prediction:
        with tempfile.TemporaryDirectory(prefix="storm-") as place:
            storm = self._runs.storm.with_programs(self.programs, Path(place))
            if self.makes == "outline":
                return dspy.Prediction(outline=storm.outline(topic))
            article = storm.write(topic)
        return dspy.Prediction(article=article, outline=article.outline, conversations=article.conversations)


class _Runs:
    """What copies of a module share: a Storm, and the calls under way."""

    def __init__(self, storm: "Storm") -> None:
        self.storm = storm
        self._lock = threading.Lock()
        self._under_way: dict[str, Future[dspy.Prediction]] = {}

    def __deepcopy__(self, _: dict[int, Any]) -> "_Runs":
        return self

    def once(self, key: str, make: Callable[[], dspy.Prediction]) -> dspy.Prediction:
        """What ``make`` returns; that of an earlier call with the same key if that is still under way."""
        with self._lock:
            future = self._under_way.get(key)
            is_first = future is None
            if future is None:
                future = self._under_way[key] = Future()
        if not is_first:
            return future.result()
        try:
            future.set_result(made := make())
        except BaseException as error:
            future.set_exception(error)
            raise
        finally:
            with self._lock:
                del self._under_way[key]
        return made
