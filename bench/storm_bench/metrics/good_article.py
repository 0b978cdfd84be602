"""Writing quality against the human article by 39 criteria, judged pairwise in both orders by a language model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from storm_bench.articles.data_set import human_article
from storm_bench.errors import MetricError
from storm_bench.judges.model_judge import JudgeModel
from storm_bench.judges.probability import prompt_fingerprint
from storm_bench.metrics.base import Measure, Score
from storm_bench.metrics.good_article_criteria import CRITERIA, GROUPS, Criterion, criteria_fingerprint
from storm_bench.signatures.judging import CRITERIA_PER_CALL, Better, CompareArticles
from storm_bench.trimming import SectionText, as_text, parts_of, trimmed
from storm_bench.types import Case
from storm_pipeline.api import Program, most_tokens

LONGEST = 8000
"""Maximum words shown of each article."""
_SHORTEST = 200  # words of each article for which a judge's window must have room, unless the articles are shorter
_REPLY = 1 / 8  # share of a window kept free for the reply
_LABELS = 100  # tokens of the labels of a prompt and of the topic, at most

Result = Literal["win", "tie", "loss"]
_AS_A: Mapping[Better, Result] = {"A": "win", "B": "loss", "tie": "tie"}
_AS_B: Mapping[Better, Result] = {"A": "loss", "B": "win", "tie": "tie"}
_BATCHES = tuple(CRITERIA[start : start + CRITERIA_PER_CALL] for start in range(0, len(CRITERIA), CRITERIA_PER_CALL))


def _named(part: str = "") -> str:
    return f"good_article_{part}_lm" if part else "good_article_lm"


@dataclass(frozen=True)
class CriterionResult:
    """How an article compares with the human one by a criterion."""

    criterion: Criterion  # the criterion
    result: Result  # ``win`` or ``loss`` if the judge gave it in both orders, else ``tie``
    orders_agree: bool  # whether the judge gave the same result in both orders


@dataclass(frozen=True)
class Shown:
    """The texts of a generated and a human article as shown to the judge, and the share of their words that is shown.

    ``share`` is in (0, 1].
    """

    generated: str
    human: str
    share: float


class GoodArticle:
    """Share of the criteria by which an article is at least as good as the human one; ties count half.

    The value is (wins + ties / 2) / criteria: 0.5 means as good as the human article. The judge compares the two texts
    twice, each being A once. A criterion is a win or a loss only if both orders agree, else a tie;
    ``good_article_bias_lm`` is the share of criteria on which the orders disagree, that is, the judge's position bias.
    Further measures are the shares of wins, ties and losses, the share of the articles' words that was shown, and the
    value for each group of criteria. All are None if one of the articles has no text.

    Both articles are Markdown with headings, without title and citation marks. One that is longer than the limit, or
    than the judge's window allows where it is known, is trimmed as in :mod:`storm_bench.trimming`, with a
    note; both get the same limit.

    Departures: the benchmark's list of 39 criteria is not reproduced. These are ours, after Wikipedia's own, and
    exclude citations; values are comparable with each other only, not with the paper's.

    ``longest``: maximum words shown of each article, >= 1.
    """

    name = "good_article_lm"
    measures = (
        Measure(_named()),
        Measure(_named("wins")),
        Measure(_named("ties"), better="neither"),
        Measure(_named("losses"), better="lower"),
        Measure(_named("bias"), better="neither"),
        Measure(_named("shown"), better="neither"),
        *(Measure(_named(group)) for group in GROUPS),
    )
    rests_on = (("model", measures),)
    reference = "Wiki Live Challenge (arXiv 2602.01590), writing; Wikipedia's Good Article criteria 1 to 4"

    def __init__(self, model: JudgeModel, *, longest: int = LONGEST) -> None:
        self._model = model
        self._longest = longest
        self._program = Program(CompareArticles, token_limit=900, greedy=True)

    @property
    def parameters(self) -> Mapping[str, str | int | float]:
        """The model and its settings, fingerprints of prompt and criteria, the limit, and the window (0: unknown)."""
        own: dict[str, str | int | float] = {
            "prompt": prompt_fingerprint(self._program),
            "criteria": criteria_fingerprint(),
            "longest": self._longest,
            "window": self._model.window or 0,
        }
        return {"model": self._model.name, **self._model.settings, **own}

    def score(self, cases: Sequence[Case]) -> list[Score]:
        """Compare all cases in one batch.

        Raises MetricError: the model cannot be called, has no room for two articles, or omits a criterion.
        """
        return [_score(texts, results) for texts, results in self._compared(cases)]

    def compare(self, cases: Sequence[Case]) -> list[tuple[CriterionResult, ...]]:
        """The result of each criterion, in order, by case; empty if one of the articles has no text.

        Raises MetricError: as :meth:`score`.
        """
        return [results for _, results in self._compared(cases)]

    def shown(self, case: Case) -> Shown | None:
        """The texts that the judge is shown; None if one of the articles has no text.

        Raises MetricError: the model has no room for two articles.
        """
        whole = parts_of(case.article), parts_of(human_article(case.topic))
        if not all(map(_words, whole)):
            return None
        budget = self._budget(whole)
        generated, human = (trimmed(parts, budget) for parts in whole)
        share = (_words(generated) + _words(human)) / sum(map(_words, whole))
        return Shown(as_text(generated), as_text(human), share)

    def _compared(self, cases: Sequence[Case]) -> list[tuple[Shown | None, tuple[CriterionResult, ...]]]:
        shown = [self.shown(case) for case in cases]
        questions = [
            {"topic": case.topic.title, "article_a": a, "article_b": b, "criteria": _numbered(batch)}
            for case, texts in zip(cases, shown, strict=True)
            if texts
            for a, b in ((texts.generated, texts.human), (texts.human, texts.generated))
            for batch in _BATCHES
        ]
        replies = iter(self._model.ask(self._program, questions))

        def verdicts() -> list[Better]:
            return [one.better for _ in _BATCHES for one in next(replies).verdicts]

        return [(texts, results_of(verdicts(), verdicts()) if texts else ()) for texts in shown]

    def _budget(self, whole: Sequence[Sequence[SectionText]]) -> int:
        """Maximum words shown of each article."""
        window = self._model.window
        if window is None:
            return self._longest
        asked = max(most_tokens(_numbered(batch)) for batch in _BATCHES)
        room = window - int(window * _REPLY) - self._program.overhead - asked - _LABELS

        def tokens(words: int) -> int:
            return sum(most_tokens(as_text(trimmed(parts, words))) for parts in whole)

        budget = longest = min(self._longest, max(map(_words, whole)))
        while (needed := tokens(budget)) > room:
            budget = min(budget * room // needed, budget - 1)
            if budget < min(_SHORTEST, longest):
                raise MetricError(
                    f"the context window of {self._model.name} ({window:,} tokens) has no room for two articles and "
                    f"{CRITERIA_PER_CALL} criteria: choose another judge_lm"
                )
        return budget


def results_of(as_a: Sequence[Better], as_b: Sequence[Better]) -> tuple[CriterionResult, ...]:
    """Fold the verdicts on all criteria in both orders.

    Args:
        as_a: verdicts in the order of :data:`CRITERIA`, the generated article being A.
        as_b: the same with the generated article being B.
    """
    found = []
    for criterion, first, second in zip(CRITERIA, as_a, as_b, strict=True):
        results = _AS_A[first], _AS_B[second]
        agree = results[0] == results[1]
        found.append(CriterionResult(criterion, results[0] if agree else "tie", agree))
    return tuple(found)


def value_of(results: Sequence[CriterionResult]) -> float:
    """(wins + ties / 2) / criteria, in [0, 1]; the results must not be empty."""
    worth = {"win": 1.0, "tie": 0.5, "loss": 0.0}
    return sum(worth[one.result] for one in results) / len(results)


def _score(texts: Shown | None, results: Sequence[CriterionResult]) -> Score:
    if texts is None:
        return {measure.name: None for measure in GoodArticle.measures}
    shares = (sum(one.result == kind for one in results) / len(results) for kind in ("win", "tie", "loss"))
    disagree = sum(not one.orders_agree for one in results) / len(results)
    groups = (value_of([one for one in results if one.criterion.group == group]) for group in GROUPS)
    values = (value_of(results), *shares, disagree, texts.share, *groups)
    return dict(zip((measure.name for measure in GoodArticle.measures), values, strict=True))


def _numbered(criteria: Sequence[Criterion]) -> str:
    return "\n".join(f"{number}. {criterion.text}" for number, criterion in enumerate(criteria, 1))


def _words(parts: Sequence[SectionText]) -> int:
    return sum(part.length for part in parts)
