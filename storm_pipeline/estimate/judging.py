"""What judging an article asks of a language model: the calls of the metrics that cannot do without one.

There is no article yet that could be judged, so the calls come from a table. Its bounds are those of the metrics,
which load far more than an estimate needs; a test holds them together.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import dspy

from storm_pipeline.estimate.tokens import HIGH, LIKELY, LOW, count_tokens
from storm_pipeline.estimate.values import Range
from storm_pipeline.models.prices import cost, full_name, parse_prices, price_of
from storm_pipeline.models.prompt_adapter import PromptAdapter
from storm_pipeline.settings import Settings
from storm_pipeline.signatures import judging as asks

LONGEST_GRADED, LONGEST_READ, LONGEST_SOURCES, WINDOW = 2000, 4000, 600, 500
"""Words of an article that is graded by rubrics, and by the others; of a sentence's sources; of one passage."""
STATEMENT_PASSAGE, STATEMENT_PASSAGES = 120, 5
"""Words of a passage that a statement is looked for in, and how many passages are shown."""
_CHARACTERS_A_WORD = 6.2


class Question(NamedTuple):
    """The calls of one signature: how many, the words of each input, and the tokens of a reply."""

    signature: type[dspy.Signature]
    calls: float
    words: Mapping[str, int]
    reply: int


@dataclass(frozen=True)
class Judged:
    """An article as it may turn out.

    Attributes:
        words: of the article.
        sections: of it.
        fields: of the infobox beside the human article.
        statements: of the human article.
        told: share of the infobox's fields of which the article tells.
        in_article: share of the statements that a model is asked about: not those that share no word with the article.
        on_pages: share of the statements that are looked for on the pages too: once a topic, whatever its articles.
        sentence: words of a sentence.
        passage: words of a passage.
        cited: passages that a sentence cites.
        unsupported: share of the sentences whose error is asked for.
    """

    words: int
    sections: int
    fields: int
    statements: int
    told: float
    in_article: float
    on_pages: float
    sentence: int
    passage: int
    cited: int
    unsupported: float

    @property
    def sentences(self) -> int:
        """How many it has."""
        return math.ceil(self.words / self.sentence)


_SHORT = partial(Judged, told=0.2, in_article=0.8, on_pages=0.0, sentence=35, passage=20, cited=1, unsupported=0.05)
_USUAL = partial(Judged, told=0.6, in_article=1.0, on_pages=0.5, sentence=22, passage=110, cited=1, unsupported=0.3)
_LONG = partial(Judged, told=1.0, in_article=1.0, on_pages=1.0, sentence=14, passage=256, cited=3, unsupported=1.0)
_SCENARIOS = ((LOW, 1, 0.3, _SHORT), (LIKELY, 6, 0.9, _USUAL), (HIGH, 10, 1.5, _LONG))
"""How tokens are counted, sections, words for each one asked for, and the article that has them."""


@dataclass(frozen=True)
class JudgingEstimate:
    """What judging an article takes; ``dollars`` is None where the model's price is unknown."""

    calls: Range
    tokens_in: Range
    tokens_out: Range
    dollars: Range | None


def _graded(signature: type[dspy.Signature], calls: int, words: int) -> Question:
    return Question(signature, calls, {"task": 20, "text": words, "criterion": 12, "scale": 75}, 90)


def _wikigen_quality(article: Judged) -> Sequence[Question]:
    """Writing in one call, outline, organisation and coverage one each, and focus section by section."""
    words = min(article.words, LONGEST_READ)
    return (
        Question(asks.GradeWriting, 1, {"topic": 3, "text": words}, 14),
        _graded(asks.GradeZeroToFive, 3, words),
        _graded(asks.GradeZeroToFive, article.sections, words // article.sections),
    )


def _ib_score(article: Judged) -> Sequence[Question]:
    """Each field asked about, and what is told compared."""
    shown = {"article": min(article.words, LONGEST_READ), "question": 18}
    compared = {"question": 18, "expected": 8, "answer": 8}
    return (
        Question(asks.AnswerFromArticle, article.fields, shown, 10),
        Question(asks.CompareAnswers, article.fields * article.told, compared, 8),
    )


def _support_errors(article: Judged) -> Sequence[Question]:
    """The unsupported sentences, each with its sources."""
    sources = min(article.cited * article.passage, LONGEST_SOURCES)
    shown = {"topic": 3, "sources": sources, "sentence": article.sentence}
    return (Question(asks.ClassifyUnsupported, article.sentences * article.unsupported, shown, 8),)


def _statement_coverage(article: Judged) -> Sequence[Question]:
    """Each statement looked for in the article and, where no article of the topic was judged before, on its pages."""
    held = STATEMENT_PASSAGE * STATEMENT_PASSAGES
    return tuple(
        Question(asks.FindStatement, article.statements * share, {"passages": words, "statement": 12}, 8)
        for words, share in ((min(article.words, held), article.in_article), (held, article.on_pages))
    )


def _support(article: Judged) -> Sequence[Question]:
    """ALCE's questions about every sentence: all passages, each alone, and all but each; answers are remembered."""
    cited, passage = article.cited, article.passage
    whole = math.ceil(cited * passage / WINDOW)
    more = cited * (1 + math.ceil((cited - 1) * passage / WINDOW)) if cited > 1 else 0
    shown = {"passage": min(passage * cited, WINDOW), "claim": article.sentence}
    return (Question(asks.JudgeSupport, article.sentences * (whole + more), shown, 8),)


ASKS_MODEL: Mapping[str, Callable[[Judged], Sequence[Question]]] = {
    "rubric": lambda article: (_graded(asks.GradeOneToFive, 4, min(article.words, LONGEST_GRADED)),),
    "wikigen_quality": _wikigen_quality,
    "ib_score": _ib_score,
    "support_errors": _support_errors,
    "statement_coverage_lm": _statement_coverage,
}
"""Name of a metric → what it asks of the model that grades."""
ASK_JUDGE = frozenset({"citation_alce", "citation_wikigenbench", "support_errors"})
"""Metrics that ask the judge of support; what one of them asked the others need not."""


def estimate_judging(
    settings: Settings,
    metrics: Iterable[str],
    model: str,
    *,
    judges_support: bool,
    fields: int = 0,
    statements: int = 0,
) -> JudgingEstimate:
    """What judging one article takes of a model; nothing is asked.

    Args:
        settings: those that the article is written with, and that say what models cost.
        metrics: names of those that ask the model; others count for nothing.
        model: name of the model, as in the settings.
        judges_support: whether it is asked what citations support.
        fields: of the human article's infobox.
        statements: of the human article.
    """
    asking = [ASKS_MODEL[name] for name in metrics if name in ASKS_MODEL]
    asking += [_support] if judges_support else []
    price = price_of(full_name(model, settings), parse_prices(settings.prices))
    taken = []
    for counting, most, written, judged in _SCENARIOS:
        sections = min(settings.max_sections, most)
        words = max(1, round(sections * settings.section_words * written))
        article = judged(words=words, sections=sections, fields=fields, statements=statements)
        questions = [question for ask in asking for question in ask(article)]
        sent, replied = sum(map(_tokens, questions)), sum(own.calls * own.reply for own in questions)
        taken.append((sum(own.calls for own in questions), sent * counting.english, replied * counting.english))
    calls, tokens_in, tokens_out = (Range.around(*map(round, own)) for own in zip(*taken, strict=True))
    dollars = None
    if price is not None:
        dollars = Range.around(*(cost(price, sent, 0, replied) for _, sent, replied in taken))
    return JudgingEstimate(calls, tokens_in, tokens_out, dollars)


def _tokens(question: Question) -> float:
    """Prompt tokens of all calls."""
    inputs = {name: "x" * round(words * _CHARACTERS_A_WORD) for name, words in question.words.items()}
    messages = PromptAdapter().format(question.signature, [], inputs)
    return question.calls * count_tokens([message["content"] for message in messages])
