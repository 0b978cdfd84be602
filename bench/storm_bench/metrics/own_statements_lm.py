"""The article's own statements against the human article, by a language model: supported, contradicted, or neither."""

from collections.abc import Sequence

from storm_bench.judges.model_judge import JudgeModel
from storm_bench.judges.statement_reader import StatementReader
from storm_bench.metrics.base import Measure, Parameters, Score
from storm_bench.own_statements import own_statements
from storm_bench.statement_passages import find_in_text, share
from storm_bench.types import Case

_SUPPORT, _CONFLICT = (f"own_statement_{name}_lm" for name in ("support", "conflict"))


class OwnStatementsLm:
    """Shares of an article's statements that the human article states, and that it contradicts.

    The counterpart of :class:`.statement_coverage_lm.StatementCoverageLm`, which looks up the human article's
    statements. The statements of a system's published article are those published with it; of any other article its
    sentences, which hold more than one fact and point back, so that fewer are supported. A statement that the human
    article does not mention is no error. Both are None for an article without statements, and without a human text.

    Departures: the benchmark shows the ten nearest statements of the human article; here its five best-matching
    passages (up to 120 words).
    """

    name = "own_statements_lm"
    measures = (Measure(_SUPPORT), Measure(_CONFLICT, better="lower"))
    rests_on = (("model", measures),)
    reference = "Wiki Live Challenge (arXiv 2602.01590), Wiki Fact: support and conflict of the article's statements"

    def __init__(self, model: JudgeModel) -> None:
        self._reader = StatementReader(model)

    @property
    def parameters(self) -> Parameters:
        """Those of the reader: the model, its settings, the prompt, and the passages."""
        return self._reader.parameters

    def score(self, cases: Sequence[Case]) -> list[Score]:
        """One score per case, in order. Raises MetricError: the model cannot be called."""
        return [self._score(case) for case in cases]

    def _score(self, case: Case) -> Score:
        human = case.topic.human.text()
        statements = [one.text for one in own_statements(case)] if human else []
        verdicts = self._reader.verdicts(find_in_text(human, statements))
        return {
            _SUPPORT: share([verdict == "stated" for verdict in verdicts]),
            _CONFLICT: share([verdict == "contradicted" for verdict in verdicts]),
        }
