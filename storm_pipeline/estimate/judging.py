"""What judging an article asks of a language model: the calls of the metrics that cannot do without one.

There is no article yet that could be judged, so the calls are counted from a table. The bounds are those of the
metrics, which load far more than an estimate needs; a test holds them together.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import dspy

from signatures import judging as asked
from storm_pipeline.adapter import PromptAdapter
from storm_pipeline.estimate.tokens import HIGH, LIKELY, LOW, Counting, count_tokens
from storm_pipeline.estimate.values import Range
from storm_pipeline.prices import cost, full_name, own_prices, price_of
from storm_pipeline.settings import Settings

LONGEST_GRADED, LONGEST_READ, LONGEST_SOURCES, WINDOW = 2000, 4000, 600, 500
"""Words of an article that is graded by rubrics, and by the others; of a sentence's sources; of one passage."""
_RUBRICS, _ON_THE_WHOLE = 4, 3
_TASK, _CRITERION, _SCALE, _QUESTION, _VALUE, _TOPIC = 20, 12, 75, 18, 8, 3
"""Words of what stands in the prompts beside article and sources."""
_FEEDBACK, _GRADES, _ANSWER, _VERDICT = 90, 14, 10, 8
"""Tokens of the replies."""
_CHARACTERS_A_WORD = 6.2


@dataclass(frozen=True)
class _Course:
    """How an article may turn out.

    Attributes:
        counting: of tokens.
        sections: of the article.
        written: words for each one asked for.
        sentence: words of a sentence.
        passage: words of a passage.
        cited: passages that a sentence cites.
        unsupported: share of the sentences whose error is asked for.
        told: share of the infobox's fields of which the article tells.
    """

    counting: Counting
    sections: int
    written: float
    sentence: int
    passage: int
    cited: int
    unsupported: float
    told: float


_COURSES = (
    _Course(LOW, sections=1, written=0.3, sentence=35, passage=20, cited=1, unsupported=0.05, told=0.2),
    _Course(LIKELY, sections=6, written=0.9, sentence=22, passage=110, cited=1, unsupported=0.3, told=0.6),
    _Course(HIGH, sections=10, written=1.5, sentence=14, passage=256, cited=3, unsupported=1.0, told=1.0),
)


@dataclass(frozen=True)
class Judged:
    """An article as it may turn out, and how many fields the infobox beside it has."""

    words: int
    sections: int
    sentences: int
    course: _Course
    fields: int


@dataclass(frozen=True)
class Question:
    """The calls of one signature: how many, the words of each input, and the tokens of a reply."""

    signature: type[dspy.Signature]
    calls: float
    words: Mapping[str, int]
    reply: int

    @property
    def tokens_in(self) -> float:
        """Prompt tokens of all calls."""
        inputs = {name: "x" * round(words * _CHARACTERS_A_WORD) for name, words in self.words.items()}
        messages = PromptAdapter().format(self.signature, [], inputs)
        return self.calls * count_tokens([message["content"] for message in messages])


@dataclass(frozen=True)
class JudgingEstimate:
    """What judging an article takes; ``dollars`` is None where the model's price is unknown."""

    calls: Range
    tokens_in: Range
    tokens_out: Range
    dollars: Range | None


def rubric(article: Judged) -> Iterator[Question]:
    """Four criteria, each with the article."""
    yield _graded(asked.GradeOneToFive, _RUBRICS, min(article.words, LONGEST_GRADED))


def wikigen_quality(article: Judged) -> Iterator[Question]:
    """Writing in one call, outline, organisation and coverage one each, and focus section by section."""
    words = min(article.words, LONGEST_READ)
    yield Question(asked.GradeWriting, 1, {"topic": _TOPIC, "text": words}, _GRADES)
    yield _graded(asked.GradeZeroToFive, _ON_THE_WHOLE, words)
    yield _graded(asked.GradeZeroToFive, article.sections, words // article.sections)


def ib_score(article: Judged) -> Iterator[Question]:
    """Each field asked about, and what is told compared."""
    shown = {"article": min(article.words, LONGEST_READ), "question": _QUESTION}
    yield Question(asked.AnswerFromArticle, article.fields, shown, _ANSWER)
    compared = {"question": _QUESTION, "expected": _VALUE, "answer": _VALUE}
    yield Question(asked.CompareAnswers, article.fields * article.course.told, compared, _VERDICT)


def support_errors(article: Judged) -> Iterator[Question]:
    """The unsupported sentences, each with its sources."""
    course = article.course
    sources = min(course.cited * course.passage, LONGEST_SOURCES)
    shown = {"topic": _TOPIC, "sources": sources, "sentence": course.sentence}
    yield Question(asked.ClassifyUnsupported, article.sentences * course.unsupported, shown, _VERDICT)


def support(article: Judged) -> Iterator[Question]:
    """ALCE's questions about every sentence: all passages, each alone, and all but each; answers are remembered."""
    cited, passage = article.course.cited, article.course.passage
    whole = math.ceil(cited * passage / WINDOW)
    more = cited * (1 + math.ceil((cited - 1) * passage / WINDOW)) if cited > 1 else 0
    shown = {"passage": min(passage * cited, WINDOW), "claim": article.course.sentence}
    yield Question(asked.JudgeSupport, article.sentences * (whole + more), shown, _VERDICT)


ASKS_MODEL: Mapping[str, Callable[[Judged], Iterable[Question]]] = {
    "rubric": rubric,
    "wikigen_quality": wikigen_quality,
    "ib_score": ib_score,
    "support_errors": support_errors,
}
"""Name of a metric → what it asks of the model that grades."""
ASK_JUDGE = frozenset({"citation_alce", "citation_wikigenbench", "support_errors"})
"""Metrics that ask the judge of support; what one of them asked the others need not."""


def estimate_judging(
    settings: Settings, metrics: Iterable[str], model: str, *, judges_support: bool, fields: int = 0
) -> JudgingEstimate:
    """What judging one article takes of a model; nothing is asked.

    Args:
        settings: those that the article is written with, and that say what models cost.
        metrics: names of those that ask the model; others count for nothing.
        model: name of the model, as in the settings.
        judges_support: whether it is asked what citations support.
        fields: of the human article's infobox.
    """
    asking = [ASKS_MODEL[name] for name in metrics if name in ASKS_MODEL]
    asking += [support] if judges_support else []
    price = price_of(full_name(model, settings), own_prices(settings.prices))
    taken = []
    for course in _COURSES:
        article, factor = _judged(settings, course, fields), course.counting.english
        questions = [question for ask in asking for question in ask(article)]
        sent, replied = sum(q.tokens_in for q in questions), sum(q.calls * q.reply for q in questions)
        taken.append((sum(q.calls for q in questions), sent * factor, replied * factor))
    calls, tokens_in, tokens_out = (Range.around(*map(round, own)) for own in zip(*taken, strict=True))
    dollars = None
    if price is not None:
        dollars = Range.around(*(cost(price, sent, 0, replied) for _, sent, replied in taken))
    return JudgingEstimate(calls, tokens_in, tokens_out, dollars)


def _graded(signature: type[dspy.Signature], calls: int, words: int) -> Question:
    return Question(
        signature, calls, {"task": _TASK, "text": words, "criterion": _CRITERION, "scale": _SCALE}, _FEEDBACK
    )


def _judged(settings: Settings, course: _Course, fields: int) -> Judged:
    sections = min(settings.max_sections, course.sections)
    words = max(1, round(sections * settings.section_words * course.written))
    return Judged(words, sections, math.ceil(words / course.sentence), course, fields)
