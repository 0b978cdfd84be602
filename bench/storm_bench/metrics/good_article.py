"""Writing quality against the human article by 39 criteria, judged pairwise in both orders by a language model.

Wikipedia asks of a Good Article that it is well written, verifiable, broad, neutral, stable and illustrated
(https://en.wikipedia.org/wiki/Wikipedia:Good_article_criteria). The criteria (``good_article.toml``) divide the first
four, in our own words. Left out are criteria that two texts do not show: edit wars, images, reference lists and
citations, which the human articles of the data sets lack.
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from storm_bench.articles.data_set import human_article
from storm_bench.errors import MetricError
from storm_bench.judges.model_judge import JudgeModel
from storm_bench.metrics.base import BatchMetric, Measure, Score
from storm_bench.signatures.judging import CRITERIA_PER_CALL, LONGEST_COMPARED, Better, CompareArticles
from storm_bench.trimming import SectionText, as_text, parts_of, trimmed
from storm_bench.types import Case
from storm_pipeline.api import Program, fingerprint, most_tokens

_SHORTEST = 200  # words of each article for which a judge's window must have room, unless the articles are shorter
_REPLY = 1 / 8  # share of a window kept free for the reply
_LABELS = 100  # tokens of the labels of a prompt and of the topic, at most
_TEXTS = tomllib.loads(files("storm_bench.metrics").joinpath("good_article.toml").read_text(encoding="utf-8"))
GROUPS = tuple(_TEXTS)
"""The groups of criteria, in order."""
CRITERIA = tuple((name, group, text) for group, own in _TEXTS.items() for name, text in own.items())
"""Name, group and text of each criterion, in the order in which a judge is asked about them."""
_BATCHES = tuple(CRITERIA[start : start + CRITERIA_PER_CALL] for start in range(0, len(CRITERIA), CRITERIA_PER_CALL))
_ASKED = tuple("\n".join(f"{number}. {text}" for number, (*_, text) in enumerate(batch, 1)) for batch in _BATCHES)
MEASURES = (
    Measure("good_article_lm"),
    Measure("good_article_wins_lm"),
    Measure("good_article_ties_lm", better="neither"),
    Measure("good_article_losses_lm", better="lower"),
    Measure("good_article_bias_lm", better="neither"),
    Measure("good_article_shown_lm", better="neither"),
    *(Measure(f"good_article_{group}_lm") for group in GROUPS),
)


@dataclass(frozen=True)
class Shown:
    """The texts of a generated and a human article as shown to the judge, and the share of their words, in (0, 1]."""

    generated: str
    human: str
    share: float


def good_article(model: JudgeModel, *, longest: int = LONGEST_COMPARED) -> BatchMetric:
    """Return the share of the criteria by which an article is at least as good as the human one; ties count half.

    The value is (wins + ties / 2) / criteria: 0.5 means as good as the human article. The judge compares the two texts
    twice, each being A once. A criterion is a win or a loss only if both orders agree, else a tie;
    ``good_article_bias_lm`` is the share of criteria on which the orders disagree, that is, the judge's position bias.
    Further measures are the shares of wins, ties and losses, the share of the articles' words that was shown, and the
    value for each group of criteria. All are None if one of the articles has no text.

    Both articles are Markdown with headings, without title and citation marks. One that is longer than the limit, or
    than the judge's window allows where it is known, is trimmed as in :mod:`storm_bench.trimming`, with a note; both
    get the same limit.

    Departures: the benchmark's list of 39 criteria is not reproduced. These are ours, after Wikipedia's own, and
    exclude citations; values are comparable with each other only, not with the paper's.

    ``longest``: maximum words shown of each article, >= 1. Scoring raises MetricError: the model cannot be called, has
    no room for two articles, or omits a criterion.
    """
    program = Program(CompareArticles, token_limit=900, greedy=True)

    def score(cases: Sequence[Case]) -> list[Score]:
        shown = [shown_texts(case, model, program, longest) for case in cases]
        questions = [
            {"topic": case.topic.title, "article_a": a, "article_b": b, "criteria": criteria}
            for case, texts in zip(cases, shown, strict=True)
            if texts
            for a, b in ((texts.generated, texts.human), (texts.human, texts.generated))
            for criteria in _ASKED
        ]
        replies = iter(model.ask(program, questions))

        def verdicts() -> list[Better]:
            return [verdict.better for _ in _BATCHES for verdict in next(replies).verdicts]

        return [_score(texts.share, verdicts(), verdicts()) if texts else _UNDEFINED for texts in shown]

    own: dict[str, str | int | float] = {
        "criteria": fingerprint([(name, text) for name, _, text in CRITERIA])[:12],
        "longest": longest,
    }
    return BatchMetric(
        "good_article_lm",
        MEASURES,
        "Wiki Live Challenge (arXiv 2602.01590), writing; Wikipedia's Good Article criteria 1 to 4",
        score,
        {"model": model.name, **model.parameters(program), **own, "window": model.window or 0},
        (("model", MEASURES),),
    )


_UNDEFINED: Score = {measure.name: None for measure in MEASURES}


def shown_texts(case: Case, model: JudgeModel, program: Program, longest: int) -> Shown | None:
    """Return the texts that the judge is shown; None if one of the articles has no text.

    Raises MetricError: the model has no room for two articles.
    """
    whole = parts_of(case.article), parts_of(human_article(case.topic))
    if not all(map(_words, whole)):
        return None
    budget = _budget(whole, model, program, longest)
    generated, human = (trimmed(parts, budget) for parts in whole)
    share = (_words(generated) + _words(human)) / sum(map(_words, whole))
    return Shown(as_text(generated), as_text(human), share)


def _budget(whole: Sequence[Sequence[SectionText]], model: JudgeModel, program: Program, longest: int) -> int:
    """Return the maximum words shown of each article."""
    if model.window is None:
        return longest
    room = model.window - int(model.window * _REPLY) - program.overhead - max(map(most_tokens, _ASKED)) - _LABELS

    def tokens(words: int) -> int:
        return sum(most_tokens(as_text(trimmed(parts, words))) for parts in whole)

    budget = most = min(longest, max(map(_words, whole)))
    while (needed := tokens(budget)) > room:
        budget = min(budget * room // needed, budget - 1)
        if budget < min(_SHORTEST, most):
            raise MetricError(
                f"the context window of {model.name} ({model.window:,} tokens) has no room for two articles and "
                f"{CRITERIA_PER_CALL} criteria: choose another judge_lm"
            )
    return budget


def _score(share: float, as_a: Sequence[Better], as_b: Sequence[Better]) -> Score:
    """Fold the verdicts on all criteria in both orders, the generated article being A in the first."""
    first, second = {"A": 1.0, "B": 0.0, "tie": 0.5}, {"A": 0.0, "B": 1.0, "tie": 0.5}
    points = [(first[a], second[b]) for a, b in zip(as_a, as_b, strict=True)]
    results = [a if a == b else 0.5 for a, b in points]
    shares = [results.count(kind) / len(results) for kind in (1.0, 0.5, 0.0)]
    disagree = sum(a != b for a, b in points) / len(points)
    groups = [[r for r, (_, other, _) in zip(results, CRITERIA, strict=True) if other == group] for group in GROUPS]
    values = (sum(results) / len(results), *shares, disagree, share, *(sum(group) / len(group) for group in groups))
    return dict(zip((measure.name for measure in MEASURES), values, strict=True))


def _words(parts: Sequence[SectionText]) -> int:
    return sum(part.length for part in parts)
