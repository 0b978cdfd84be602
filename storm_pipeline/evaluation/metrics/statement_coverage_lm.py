"""Statement coverage by a language model, which also tells the statements that an article contradicts."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from storm_pipeline.evaluation.judges.model import JudgeModel, fingerprint
from storm_pipeline.evaluation.judges.opening import Judging
from storm_pipeline.evaluation.metrics.base import Measure, Score
from storm_pipeline.evaluation.statements import LOOKED_AT, WORDS, Sought, share, sought_in_article, sought_on_pages
from storm_pipeline.evaluation.types import Case, Topic
from storm_pipeline.models.programs import Program
from storm_pipeline.signatures.judging import FindStatement, Stated

_COVERAGE, _CONFLICT, _CEILING = (f"statement_{name}_lm" for name in ("coverage", "conflict", "ceiling"))
_REMEMBERED = 256
"""Topics of which the ceiling is kept."""


class StatementCoverageLm:
    """Shares of the statements of people's article that an article states and contradicts, and that the pages state.

    The model sees a statement and the five passages (up to 120 words) that share most with it, of the article or, for
    the ceiling, of the topic's documents without copies of people's article. A statement that shares no word with any
    passage is absent, unasked. A topic without statements has no measure, one without documents no ceiling.

    Departures: the benchmark shows the whole article; passages keep the questions short, and let one judge read both an
    article and pages of any length.

    Args:
        model: judges.
    """

    name = "statement_coverage_lm"
    measures = (Measure(_COVERAGE), Measure(_CONFLICT, better="lower"), Measure(_CEILING, better="neither"))
    rests_on = (("model", measures),)
    reference = "Wiki Live Challenge (arXiv 2602.01590), coverage of the human article's statements"

    def __init__(self, model: JudgeModel) -> None:
        self._model = model
        self._program = Program(FindStatement, token_limit=20, greedy=True)
        self._ceiling = lru_cache(_REMEMBERED)(self._of_pages)

    @property
    def parameters(self) -> Mapping[str, str | int | float]:
        """The model, its settings, a fingerprint of the prompt, and the passages that are shown."""
        own: dict[str, str | int | float] = {"prompt": fingerprint(self._program)}
        return {"model": self._model.name, **self._model.settings, **own, "words": WORDS, "passages": LOOKED_AT}

    def score(self, cases: Sequence[Case]) -> list[Score]:
        """One score a case, in order.

        Raises:
            MetricError: the model cannot be asked.
        """
        return [self._score(case) for case in cases]

    def _score(self, case: Case) -> Score:
        said = self._verdicts(sought_in_article(case.article, case.topic.human.statements))
        told, conflict = (share([verdict == name for verdict in said]) for name in ("stated", "contradicted"))
        ceiling = self._ceiling(case.topic) if case.topic.documents else None
        return {_COVERAGE: told, _CONFLICT: conflict, _CEILING: ceiling}

    def _of_pages(self, topic: Topic) -> float | None:
        return share([verdict == "stated" for verdict in self._verdicts(sought_on_pages(topic))])

    def _verdicts(self, sought: Sequence[Sought]) -> list[Stated]:
        asked = [one for one in sought if one.passages]
        replies = iter(self._model.ask(self._program, [_question(one) for one in asked]))
        return [next(replies).verdict if one.passages else "absent" for one in sought]


def make(resources: Judging) -> StatementCoverageLm:
    """The metric with the model of an evaluation."""
    return StatementCoverageLm(resources.judge_model)


def _question(one: Sought) -> dict[str, str]:
    numbered = "\n".join(f"[{i}] {' '.join(passage.split())}" for i, passage in enumerate(one.passages, 1))
    return {"passages": numbered, "statement": one.statement}
