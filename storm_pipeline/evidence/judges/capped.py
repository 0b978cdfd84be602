"""The language model that judges articles of others: estimated first, capped, and paid for once."""

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from storm_pipeline.errors import BudgetSpentError, ModelError, RunError
from storm_pipeline.evidence.judges.base import JudgeWrapper, Question, Verdict
from storm_pipeline.evidence.judges.language_model import LanguageModelJudge, batches
from storm_pipeline.models.request import likely_tokens
from storm_pipeline.run.events import CallFinished, Event
from storm_pipeline.run.journal import Journal
from storm_pipeline.run.ledger import RunControl, Spending
from storm_pipeline.run.locking import read_state
from storm_pipeline.settings import Settings
from storm_pipeline.sources.sqlite_cache import SqliteCache
from storm_pipeline.text.files import write_atomically, write_errors_as
from storm_pipeline.text.formatting import dollars, with_noun
from storm_pipeline.types import Price, is_plausible

MAX_COST = 1.0
"""Default cap on the dollars of a check; a model of unknown price has none."""


class CappedJudge(JudgeWrapper):
    """A language model that judges in concurrent calls; what a cap or a failure leaves is "unjudged".

    ``announce``: called with the expected cost before the first call, without reasoning.
    """

    def __init__(
        self, judge: LanguageModelJudge, settings: Settings, price: Price | None, announce: Callable[[str], None] | None
    ) -> None:
        super().__init__(judge)
        self._model, self._settings, self._price, self._announce = judge, settings, price, announce

    def judge(self, questions: Sequence[Question]) -> list[Verdict]:
        """Judge the questions. Raises ModelError: no call succeeded, and not for a cap; others as for its model."""
        parts = list(batches(questions))
        if parts and self._announce:
            self._announce(self._forecast(parts))
        results = self._model.judge_batches(parts, workers=self._settings.calls_in_flight)
        errors = [result for result in results if isinstance(result, ModelError)]
        if errors and len(errors) == len(parts) and not isinstance(errors[0], BudgetSpentError):
            raise errors[0]
        verdicts: list[Verdict] = []
        for part, result in zip(parts, results, strict=True):
            left = Verdict("unjudged", 0.0, reason=str(result).partition("; resume")[0])
            verdicts += result if isinstance(result, list) else [left] * len(part)
        return verdicts

    def _forecast(self, parts: Sequence[Sequence[Question]]) -> str:
        program, sentences, cap = self._model.program, sum(map(len, parts)), self._settings.max_cost
        shown = [text for part in parts for text in {text for q in part for text in (q.claim, *q.passages)}]
        tokens_in = len(parts) * program.overhead + sum(map(likely_tokens, shown))
        cost = self._price.cost(tokens_in, 0, len(parts) * program.token_limit) if self._price else None
        price = "at an unknown price" if cost is None else f"for about {dollars(cost)} or less"
        most = "without a cap, which needs --price" if cap is None else f"capped at ${cap:g} (--max-cost)"
        read = f"{with_noun(sentences, 'sentence')} in {with_noun(len(parts), 'call')}"
        return f"{self.name} reads {read}, {price}, {most}"


class JudgingAccount:
    """One cap on several judges, over sessions; also a sink of their events. Thread-safe, for one process at a time.

    ``file``: keeps what was spent; None: nothing is kept. Raises RunError: it is damaged.
    """

    def __init__(self, settings: Settings, file: Path | None) -> None:
        self._file, self._lock = file, threading.Lock()
        form, remedy, spent = {"dollars": float, "tokens": int}, "; delete it to begin at 0", Spending()
        if file and file.exists():
            kept = read_state(file, 1, form, absent=f"{file} has gone", remedy=remedy)
            spent = Spending(kept["dollars"], kept["tokens"])
        if not is_plausible(spent):
            raise RunError(f"{file} is damaged: a number is absurd{remedy}")
        self.control = RunControl(settings, spent)

    def emit(self, event: Event) -> None:
        """Save what was spent, after :attr:`control` has counted it. Raises RunError: it cannot be written."""
        if isinstance(event, CallFinished) and self._file:
            with self._lock, write_errors_as(RunError, self._file, " and run again"):
                write_atomically(self._file, json.dumps({"format": 1, **asdict(self.control.spent)}))


class ReplyCache(Journal):
    """Replies of judges by request (model, sampling, prompt), in ``judges.sqlite`` of the cache. Thread-safe.

    ``judge``: model name and endpoint. A reply that does not parse is removed, so that a retry gets a new one.
    """

    def __init__(self, cache: Path, judge: str) -> None:
        super().__init__(None)
        self._judge, self._replies = judge, SqliteCache(cache / "judges.sqlite")

    def take(self, kind: str, key: str) -> Any | None:
        """Return the cached reply, or None; may be read repeatedly."""
        return self._replies.get(f"{self._judge} {kind} {key}")

    def add(self, kind: str, key: str, value: Any) -> None:
        """Store a reply, replacing an earlier one; a full disk is ignored."""
        self._replies.put(f"{self._judge} {kind} {key}", value)

    def unparsed(self, kind: str, key: str, value: Any = None) -> None:  # noqa: ARG002 - of `reject`
        """Remove the reply."""
        self.add(kind, key, None)

    reject = unparsed
