"""Pairs that TunedRR learns from (WikiGenBench, second version): a topic's five best chunks, and a teacher's article.

Departures from the paper: the prompt is that of the recipe ``rr``, whose row the tuned writer is to be; any model of
the package is the teacher, and its article is kept as it replied; BM25 ranks the chunks.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import dspy
from dspy.utils.callback import BaseCallback

from storm_bench.datasets.closed_corpus import ClosedCorpus, topic_chunks
from storm_bench.types import Topic
from storm_pipeline import BudgetSpentError, Settings, Storm, StormError
from storm_pipeline.api import write_atomically
from storm_training.costs import expected
from storm_training.errors import TrainingError
from storm_training.files import text_of, undamaged

_CHUNKS = 5
_OF_A_DOCUMENT = 50  # so that the best chunks count, not the best documents
_WHOLE: dict[str, Any] = {
    "writing": "whole",
    "uncited": "unchecked",
    "editing": "off",
    "top_k": _CHUNKS,
    "related_topics": 0,
}
"""The article in one call, which nobody checks or edits, as in the paper."""


class _Recorder(BaseCallback):
    """A model's requests and replies, in order."""

    def __init__(self) -> None:
        self.calls: dict[str, tuple[list[dict[str, str]], str]] = {}

    def on_lm_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:  # noqa: ARG002 - DSPy's
        self.calls[call_id] = (inputs["messages"], "")

    def on_lm_end(self, call_id: str, outputs: Any, exception: Exception | None = None) -> None:  # noqa: ARG002
        if outputs and call_id in self.calls:
            text = outputs[0]["text"] if isinstance(outputs[0], dict) else outputs[0]
            self.calls[call_id] = (self.calls[call_id][0], str(text))


def build_articles(
    topics: Sequence[Topic],
    settings: dict[str, Any],
    path: Path,
    say: Callable[[str], object] = lambda _: None,
    *,
    max_cost: float | None = None,
) -> int:
    """Write a pair a topic, a JSON line with ``prompt``, a list of messages, and ``response``; how many there are.

    Args:
        topics: with their documents. Those that the file has are not asked for again.
        settings: of :class:`~storm_pipeline.Storm`: ``lm`` is the teacher, ``length`` and ``evidence`` are words.
        path: of the file; runs are kept in a folder beside it.
        say: receives messages on the expected cost and on each topic.
        max_cost: dollars at which no further article is begun, and which none exceeds; None: no cap.

    Raises:
        TrainingError: no article could be written.
    """
    with undamaged(path):
        lines = text_of(path).splitlines() if path.exists() else []
        known = {json.loads(line)["topic"] for line in lines}
    missing = [topic for topic in topics if topic.id not in known]
    if missing:
        say(expected(Settings.build({**_WHOLE, **settings}), "rr", missing[0].title, len(missing)))
    left = max_cost
    for topic in missing:
        if left == 0:
            say(f"${max_cost:g} are spent: a second call goes on")
            break
        recorder = _Recorder()
        try:
            engine = ClosedCorpus(topic_chunks(topic), passages=_OF_A_DOCUMENT)
            with dspy.context(callbacks=[recorder]):
                runs = path.with_suffix(".runs")
                given = {**_WHOLE, **settings, "max_cost": left}
                article = Storm(search=engine, out=runs, progress=False, **given).write(topic.title, "rr")
        except BudgetSpentError as error:
            say(f"{topic.title}: {error}: a second call goes on")
            break
        except StormError as error:
            say(f"{topic.title}: {error}")
            continue
        left = None if left is None else max(0.0, left - (article.usage.cost or 0.0))
        asked, reply = next(call for call in recorder.calls.values() if call[1])
        row = {"topic": topic.id, "prompt": asked, "response": reply}
        lines.append(json.dumps(row, ensure_ascii=False))
        write_atomically(path, "\n".join(lines) + "\n")
        say(topic.title)
    if not lines:
        raise TrainingError(f"of {len(topics)} topics no article was written")
    return len(lines)
