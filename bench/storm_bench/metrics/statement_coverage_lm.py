"""Statement coverage by a language model, which also detects contradicted statements."""

from collections.abc import Sequence
from functools import lru_cache

from storm_bench.judges.model_judge import JudgeModel
from storm_bench.judges.statement_reader import StatementReader
from storm_bench.metrics.base import Measure, Parameters, Score
from storm_bench.statement_passages import find_in_article, find_in_documents, share
from storm_bench.types import Case, Topic

_COVERAGE, _CONFLICT, _CEILING = (f"statement_{name}_lm" for name in ("coverage", "conflict", "ceiling"))
_CACHED_TOPICS = 256  # topics whose ceiling is cached


class StatementCoverageLm:
    """Shares of the human statements that an article states, that it contradicts, and that the documents state.

    The model sees a statement and its five best-matching passages (up to 120 words) of the article or, for the ceiling,
    of the topic's documents without copies of the human article. A statement that shares no word with any passage is
    absent without a call. All are None without statements, the ceiling also without documents.

    Departures: the benchmark shows the whole article; passages keep prompts short and allow documents of any length.
    """

    name = "statement_coverage_lm"
    measures = (Measure(_COVERAGE), Measure(_CONFLICT, better="lower"), Measure(_CEILING, better="neither"))
    rests_on = (("model", measures),)
    reference = "Wiki Live Challenge (arXiv 2602.01590), coverage of the human article's statements"

    def __init__(self, model: JudgeModel) -> None:
        self._reader = StatementReader(model)
        self._ceiling = lru_cache(_CACHED_TOPICS)(self._of_documents)

    @property
    def parameters(self) -> Parameters:
        """Those of the reader: the model, its settings, the prompt, and the passages."""
        return self._reader.parameters

    def score(self, cases: Sequence[Case]) -> list[Score]:
        """One score per case, in order. Raises MetricError: the model cannot be called."""
        return [self._score(case) for case in cases]

    def _score(self, case: Case) -> Score:
        verdicts = self._reader.verdicts(find_in_article(case.article, case.topic.human.statements))
        stated, conflict = (share([verdict == name for verdict in verdicts]) for name in ("stated", "contradicted"))
        ceiling = self._ceiling(case.topic) if case.topic.documents else None
        return {_COVERAGE: stated, _CONFLICT: conflict, _CEILING: ceiling}

    def _of_documents(self, topic: Topic) -> float | None:
        return share([verdict == "stated" for verdict in self._reader.verdicts(find_in_documents(topic))])
