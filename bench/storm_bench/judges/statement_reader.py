"""A language model that says whether passages state or contradict a statement."""

from collections.abc import Sequence

from storm_bench.judges.model_judge import JudgeModel
from storm_bench.signatures.judging import FindStatement, Stated
from storm_bench.statement_passages import PASSAGE_WORDS, TOP_PASSAGES, StatementPassages
from storm_pipeline.api import Program
from storm_pipeline.judges.base import Parameters
from storm_pipeline.judges.probability import prompt_fingerprint


class StatementReader:
    """Shows the model a statement and its passages. A statement without passages is absent without a call.

    Args:
        model: the judge model.
    """

    def __init__(self, model: JudgeModel) -> None:
        self._model = model
        self._program = Program(FindStatement, token_limit=20, greedy=True)

    @property
    def parameters(self) -> Parameters:
        """The model, its settings, a fingerprint of the prompt, and length and number of passages."""
        own: dict[str, str | int | float] = {"prompt": prompt_fingerprint(self._program)}
        return {
            "model": self._model.name,
            **self._model.settings,
            **own,
            "words": PASSAGE_WORDS,
            "passages": TOP_PASSAGES,
        }

    def verdicts(self, statements: Sequence[StatementPassages]) -> list[Stated]:
        """One verdict per statement, in order: ``stated``, ``contradicted`` or ``absent``.

        Raises:
            MetricError: the model cannot be called.
        """
        asked = [one for one in statements if one.passages]
        replies = iter(self._model.ask(self._program, [_question(one) for one in asked]))
        return [next(replies).verdict if one.passages else "absent" for one in statements]


def _question(one: StatementPassages) -> dict[str, str]:
    numbered = "\n".join(f"[{i}] {' '.join(passage.split())}" for i, passage in enumerate(one.passages, 1))
    return {"passages": numbered, "statement": one.statement}
