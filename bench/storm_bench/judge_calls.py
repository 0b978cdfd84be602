"""Estimating the language model calls of the metrics that judge an article.

No article exists yet, so the calls come from a table.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import dspy

from storm_bench.signatures import judging as asks
from storm_pipeline import Settings
from storm_pipeline.api import PromptAdapter, likely_tokens
from storm_pipeline.models.prices import known_price
from storm_pipeline.types import Range

_CHARACTERS_PER_WORD = 6.2
_ENDS = (0.85, 1.0, 1.25)  # tokens of a model per token counted here, low, likely and high


class Question(NamedTuple):
    """The calls of one signature: their number, words of each input, and tokens of a reply."""

    signature: type[dspy.Signature]
    calls: float
    words: Mapping[str, int]
    reply: int


@dataclass(frozen=True)
class ExpectedArticle:
    """The expected size of an article and its sources."""

    words: int  # words of the article
    sections: int  # sections of the article
    fields: int  # infobox fields of the human article
    statements: int  # statements of the human article
    covered: float  # share of the infobox fields that the article covers
    in_article: float  # share of the statements looked up in the article; those without a common word need no call
    on_pages: float  # share of the statements also looked up on the pages, once per topic
    sentence: int  # words per sentence
    passage: int  # words per passage
    cited: int  # passages cited per sentence
    page_passages: int  # passages of a cited page that are compared with a sentence
    unsupported: float  # share of the sentences whose error is classified

    @property
    def sentences(self) -> int:
        """Number of sentences."""
        return math.ceil(self.words / self.sentence)


_SECTION_WORDS = 320  # of an article, where nobody has written it yet
_SCENARIOS: tuple[tuple[int, float, tuple[Any, ...]], ...] = (
    (1, 0.3, (0.2, 0.8, 0.0, 35, 20, 1, 1, 0.05)),
    (6, 0.9, (0.6, 1.0, 0.5, 22, 110, 1, 5, 0.3)),
    (10, 1.5, (1.0, 1.0, 1.0, 14, 256, 3, 5, 1.0)),
)
"""Maximum sections, words written per word of the target length, and ``covered`` with all that follows."""


@dataclass(frozen=True)
class JudgingEstimate:
    """Estimated usage of judging an article; ``dollars`` is None if the model's price is unknown."""

    calls: Range
    tokens_in: Range
    tokens_out: Range
    dollars: Range | None


Calls = Callable[[ExpectedArticle], Sequence[Question]]
_SHOWN = asks.PASSAGE_WORDS * asks.TOP_PASSAGES


def _graded(signature: type[dspy.Signature], calls: int, words: int) -> Question:
    return Question(signature, calls, {"task": 20, "text": words, "criterion": 12, "scale": 75}, 90)


def _found(calls: float, passages: int, statement: int) -> Question:
    return Question(asks.FindStatement, calls, {"passages": min(passages, _SHOWN), "statement": statement}, 8)


def _wikigen_quality(article: ExpectedArticle) -> Sequence[Question]:
    """One call each for writing, outline, organisation and coverage, and one per section for focus."""
    words = min(article.words, asks.LONGEST_READ)
    return (
        Question(asks.GradeWriting, 1, {"topic": 3, "text": words}, 14),
        _graded(asks.GradeZeroToFive, 3, words),
        _graded(asks.GradeZeroToFive, article.sections, words // article.sections),
    )


def _ib_score(article: ExpectedArticle) -> Sequence[Question]:
    """One call per field to answer it, and one per answered field to compare the answers."""
    shown = {"article": min(article.words, asks.LONGEST_READ), "question": 18}
    compared = {"question": 18, "expected": 8, "answer": 8}
    return (
        Question(asks.AnswerFromArticle, article.fields, shown, 10),
        Question(asks.CompareAnswers, article.fields * article.covered, compared, 8),
    )


def _support_errors(article: ExpectedArticle) -> Sequence[Question]:
    """One call per unsupported sentence, with its sources."""
    sources = min(article.cited * article.passage, asks.LONGEST_SOURCES)
    shown = {"topic": 3, "sources": sources, "sentence": article.sentence}
    return (Question(asks.ClassifyUnsupported, article.sentences * article.unsupported, shown, 8),)


def _support(article: ExpectedArticle) -> Sequence[Question]:
    """ALCE's calls per sentence: with all passages, each alone, and all but each; answers are cached."""
    cited, passage = article.cited, article.passage
    together = math.ceil(cited * passage / asks.WINDOW)
    separate = cited * (1 + math.ceil((cited - 1) * passage / asks.WINDOW)) if cited > 1 else 0
    shown = {"passage": min(passage * cited, asks.WINDOW), "claim": article.sentence}
    return (Question(asks.JudgeSupport, article.sentences * (together + separate), shown, 8),)


def _page_support(article: ExpectedArticle) -> Sequence[Question]:
    """One call per sentence, cited page and passage of the page."""
    shown = {"passage": asks.PASSAGE_WORDS, "claim": article.sentence}
    return (Question(asks.JudgeSupport, article.sentences * article.cited * article.page_passages, shown, 8),)


ASKS_MODEL: Mapping[str, Calls] = {
    "rubric": lambda article: (_graded(asks.GradeOneToFive, 4, min(article.words, asks.LONGEST_GRADED)),),
    "wikigen_quality": _wikigen_quality,
    "ib_score": _ib_score,
    "support_errors": _support_errors,
    "statement_coverage_lm": lambda article: (
        _found(article.statements * article.in_article, article.words, 12),
        _found(article.statements * article.on_pages, _SHOWN, 12),  # for the first article of a topic
    ),
}
"""Metric → its calls to the model that grades."""
ASK_JUDGE: Mapping[str, Calls] = {
    "citation_alce": _support,
    "citation_wikigenbench": _support,
    "citation_wiki_live": _page_support,
    "support_errors": _support,
}
"""Metric → its calls to the judge of support; metrics with equal calls share the answers."""


def estimate_judging(
    settings: Settings,
    metrics: Iterable[str],
    model: str,
    *,
    judged_support: Iterable[str] = (),
    fields: int = 0,
    statements: int = 0,
) -> JudgingEstimate:
    """Estimate the usage of judging one article; no service is called.

    ``metrics``: names of metrics; those that use no model are ignored; ``judged_support``: names of those for which the
    model also judges the support of citations; those that judge none are ignored.
    """
    asking = [ASKS_MODEL[name] for name in metrics if name in ASKS_MODEL]
    asking += dict.fromkeys(ASK_JUDGE[name] for name in judged_support if name in ASK_JUDGE)
    usages = []
    for rate, (max_sections, written, assumed) in zip(_ENDS, _SCENARIOS, strict=True):
        sections = min(settings.max_sections, max_sections)
        words = max(1, round(sections * _SECTION_WORDS * written))
        article = ExpectedArticle(words, sections, fields, statements, *assumed)
        questions = [question for ask in asking for question in ask(article)]
        sent, replied = sum(map(_tokens, questions)), sum(question.calls * question.reply for question in questions)
        usages.append((sum(question.calls for question in questions), sent * rate, replied * rate))
    calls, tokens_in, tokens_out = (_around(*map(round, numbers)) for numbers in zip(*usages, strict=True))
    price = known_price(model, settings)
    dollars = _around(*(price.cost(sent, 0, replied) for _, sent, replied in usages)) if price else None
    return JudgingEstimate(calls, tokens_in, tokens_out, dollars)


def _tokens(question: Question) -> float:
    inputs = {name: "x" * round(words * _CHARACTERS_PER_WORD) for name, words in question.words.items()}
    messages = PromptAdapter().format(question.signature, [], inputs)
    return question.calls * sum(likely_tokens(message["content"]) for message in messages)


def _around(short: float, usual: float, long: float) -> Range:
    """Return the range that spans all three values, with ``usual`` as the likely one."""
    return Range(min(short, usual, long), usual, max(short, usual, long))
