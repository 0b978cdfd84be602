"""What judging an article asks of a language model: the calls of the metrics that cannot do without one.

The bounds below are those of the metrics, which load far more than an estimate needs; a test holds them together.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import dspy

from signatures.judging import (
    AnswerFromArticle,
    ClassifyUnsupported,
    CompareAnswers,
    FindStatement,
    GradeOneToFive,
    GradeWriting,
    GradeZeroToFive,
    JudgeSupport,
)
from storm_pipeline.estimate.courses import LONG, SHORT, USUAL, Course
from storm_pipeline.estimate.prompts import filler, measure
from storm_pipeline.estimate.values import Range
from storm_pipeline.prices import cost, full_name, own_prices, price_of
from storm_pipeline.programs import Program
from storm_pipeline.settings import Settings

LONGEST_GRADED, LONGEST_READ, LONGEST_SOURCES, WINDOW = 2000, 4000, 600, 500
"""Words of an article that is graded by rubrics, and by the others; of a sentence's sources; of one passage."""
_RUBRICS, _ON_THE_WHOLE = 4, 3
_UNSUPPORTED = {SHORT: 0.05, USUAL: 0.3, LONG: 1.0}
"""Share of the sentences whose error is asked for."""
_TOLD = {SHORT: 0.2, USUAL: 0.6, LONG: 1.0}
"""Share of the infobox's fields about which an article tells something."""
_IN_ARTICLE = {SHORT: 0.8, USUAL: 1.0, LONG: 1.0}
"""Share of the statements that a model is asked about: not those that share no word with the article."""
_ON_PAGES = {SHORT: 0.0, USUAL: 0.5, LONG: 1.0}
"""Share of the statements that are looked for on the pages too: once a topic, however many articles there are on it."""
_CITATIONS = {SHORT: 1, USUAL: 1, LONG: 3}
STATEMENT_PASSAGE, STATEMENT_PASSAGES = 120, 5
"""Words of a passage that a statement is looked for in, and how many passages are shown."""
_STATEMENT = 12
"""Words of a statement."""
_TASK, _CRITERION, _SCALE, _QUESTION, _VALUE, _TOPIC = 20, 12, 75, 18, 8, 3
"""Words of what stands in the prompts beside article and sources."""
_FEEDBACK, _GRADES, _ANSWER, _VERDICT = 90, 14, 10, 8
"""Tokens of the replies."""


@dataclass(frozen=True)
class Judged:
    """An article as one course of its run leaves it; of people's article the infobox's fields and the statements."""

    words: int
    sections: int
    sentences: int
    course: Course
    fields: int
    statements: int

    @property
    def sources(self) -> int:
        """Words of all passages that a sentence cites."""
        return _CITATIONS[self.course] * self.course.passage


@dataclass(frozen=True)
class Question:
    """The calls of one signature: how many, what is shown, and the tokens of a reply."""

    signature: type[dspy.Signature]
    calls: float
    inputs: Mapping[str, object]
    reply: int


@dataclass(frozen=True)
class JudgingEstimate:
    """What judging an article takes; ``dollars`` is None where the model's price is unknown."""

    calls: Range
    tokens_in: Range
    tokens_out: Range
    dollars: Range | None


def rubric(article: Judged) -> Iterator[Question]:
    """Four criteria, each with the article."""
    yield _graded(GradeOneToFive, _RUBRICS, min(article.words, LONGEST_GRADED))


def wikigen_quality(article: Judged) -> Iterator[Question]:
    """Writing in one call, outline, organisation and coverage one each, and focus section by section."""
    words = min(article.words, LONGEST_READ)
    inputs = {"topic": filler(_TOPIC, "t"), "text": filler(words, "a")}
    yield Question(GradeWriting, 1, inputs, _GRADES)
    yield _graded(GradeZeroToFive, _ON_THE_WHOLE, words)
    yield _graded(GradeZeroToFive, article.sections, words // article.sections)


def ib_score(article: Judged) -> Iterator[Question]:
    """Each field asked about, and what is told compared."""
    shown = {"article": filler(min(article.words, LONGEST_READ), "a"), "question": filler(_QUESTION, "q")}
    yield Question(AnswerFromArticle, article.fields, shown, _ANSWER)
    compared = {name: filler(_VALUE, "v") for name in ("expected", "answer")}
    told = article.fields * _TOLD[article.course]
    yield Question(CompareAnswers, told, {"question": filler(_QUESTION, "q"), **compared}, _VERDICT)


def support_errors(article: Judged) -> Iterator[Question]:
    """The unsupported sentences, each with its sources."""
    inputs = {
        "topic": filler(_TOPIC, "t"),
        "sources": filler(min(article.sources, LONGEST_SOURCES), "s"),
        "sentence": filler(article.course.sentence, "c"),
    }
    yield Question(ClassifyUnsupported, article.sentences * _UNSUPPORTED[article.course], inputs, _VERDICT)


def statement_coverage_lm(article: Judged) -> Iterator[Question]:
    """Each statement looked for in the article and, where no article of the topic was judged before, on its pages."""
    held = STATEMENT_PASSAGE * STATEMENT_PASSAGES
    for words, share in ((min(article.words, held), _IN_ARTICLE), (held, _ON_PAGES)):
        inputs = {"passages": filler(words, "p"), "statement": filler(_STATEMENT, "s")}
        yield Question(FindStatement, article.statements * share[article.course], inputs, _VERDICT)


def support(article: Judged) -> Iterator[Question]:
    """ALCE's questions about every sentence: all passages, each alone, and all but each; answers are remembered."""
    cited, passage = _CITATIONS[article.course], article.course.passage
    whole = math.ceil(cited * passage / WINDOW)
    more = cited * (1 + math.ceil((cited - 1) * passage / WINDOW)) if cited > 1 else 0
    inputs = {"passage": filler(min(passage * cited, WINDOW), "p"), "claim": filler(article.course.sentence, "c")}
    yield Question(JudgeSupport, article.sentences * (whole + more), inputs, _VERDICT)


ASKS_MODEL: Mapping[str, Callable[[Judged], Iterable[Question]]] = {
    "rubric": rubric,
    "wikigen_quality": wikigen_quality,
    "ib_score": ib_score,
    "support_errors": support_errors,
    "statement_coverage_lm": statement_coverage_lm,
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
    asked = [ASKS_MODEL[name] for name in metrics if name in ASKS_MODEL]
    asked += [support] if judges_support else []
    full = full_name(model, settings)
    price = price_of(full, own_prices(settings.prices))
    taken = []
    for course in (SHORT, USUAL, LONG):
        article = _judged(settings, course, fields, statements)
        questions = [question for ask in asked for question in ask(article)]
        taken.append(
            (
                sum(q.calls for q in questions),
                sum(q.calls * _tokens(q) * course.tokens for q in questions),
                sum(q.calls * q.reply * course.tokens for q in questions),
            )
        )
    calls, tokens_in, tokens_out = (Range.around(*map(round, own)) for own in zip(*taken, strict=True))
    dollars = None
    if price is not None:
        dollars = Range.around(*(cost(price, sent, 0, replied) for _, sent, replied in taken))
    return JudgingEstimate(calls, tokens_in, tokens_out, dollars)


def _graded(signature: type[dspy.Signature], calls: int, words: int) -> Question:
    sizes = {"task": _TASK, "text": words, "criterion": _CRITERION, "scale": _SCALE}
    return Question(signature, calls, {name: filler(size, "x") for name, size in sizes.items()}, _FEEDBACK)


def _judged(settings: Settings, course: Course, fields: int, statements: int) -> Judged:
    sections = min(settings.max_sections, course.sections)
    words = max(1, round(sections * settings.section_words * course.written))
    return Judged(words, sections, math.ceil(words / course.sentence), course, fields, statements)


def _tokens(question: Question) -> float:
    return measure(Program(question.signature, token_limit=1), question.inputs, question.inputs).tokens
