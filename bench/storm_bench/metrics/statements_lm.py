"""Statements looked up by a language model, which also detects contradicted ones: the human article's, and its own."""

from collections.abc import Callable, Sequence
from functools import lru_cache

from storm_bench.judges.model_judge import JudgeModel
from storm_bench.judges.probability import prompt_fingerprint
from storm_bench.metrics.base import CaseMetric, Measure, Parameters, Score
from storm_bench.metrics.statement_coverage import CACHED_TOPICS
from storm_bench.own_statements import own_statements
from storm_bench.signatures.judging import FindStatement, Stated
from storm_bench.statement_passages import (
    PASSAGE_WORDS,
    TOP_PASSAGES,
    StatementPassages,
    find_in_article,
    find_in_documents,
    find_in_text,
    share,
)
from storm_bench.types import Case, Topic
from storm_pipeline.api import Program

_COVERAGE, _CONFLICT, _CEILING = (f"statement_{name}_lm" for name in ("coverage", "conflict", "ceiling"))
_OWN_SUPPORT, _OWN_CONFLICT = (f"own_statement_{name}_lm" for name in ("support", "conflict"))
MEASURES = (Measure(_COVERAGE), Measure(_CONFLICT, better="lower"), Measure(_CEILING, better="neither"))
OWN_MEASURES = (Measure(_OWN_SUPPORT), Measure(_OWN_CONFLICT, better="lower"))


def statement_coverage_lm(model: JudgeModel) -> CaseMetric:
    """Shares of the human statements that an article states, that it contradicts, and that the documents state.

    The model sees a statement and its five best-matching passages (up to 120 words) of the article or, for the ceiling,
    of the topic's documents without copies of the human article. A statement that shares no word with any passage is
    absent without a call. All are None without statements, the ceiling also without documents.

    Departures: the benchmark shows the whole article; passages keep prompts short and allow documents of any length.
    """
    read, parameters = _reader(model)

    @lru_cache(CACHED_TOPICS)
    def ceiling(topic: Topic) -> float | None:
        return share([verdict == "stated" for verdict in read(find_in_documents(topic))])

    def score(case: Case) -> Score:
        verdicts = read(find_in_article(case.article, case.topic.human.statements))
        stated, conflict = (share([verdict == name for verdict in verdicts]) for name in ("stated", "contradicted"))
        most = ceiling(case.topic) if case.topic.documents else None
        return {_COVERAGE: stated, _CONFLICT: conflict, _CEILING: most}

    reference = "Wiki Live Challenge (arXiv 2602.01590), coverage of the human article's statements"
    return CaseMetric("statement_coverage_lm", MEASURES, reference, score, parameters, (("model", MEASURES),))


def own_statements_lm(model: JudgeModel) -> CaseMetric:
    """Shares of an article's statements that the human article states, and that it contradicts.

    The counterpart of :func:`statement_coverage_lm`, which looks up the human article's statements. The statements of a
    system's published article are those published with it; of any other article its sentences, which hold more than one
    fact and point back, so that fewer are supported. A statement that the human article does not mention is no error.
    Both are None for an article without statements, and without a human text.

    Departures: the benchmark shows the ten nearest statements of the human article; here its five best-matching
    passages (up to 120 words).
    """
    read, parameters = _reader(model)

    def score(case: Case) -> Score:
        human = case.topic.human.text()
        verdicts = read(find_in_text(human, [one.text for one in own_statements(case)] if human else []))
        support, conflict = (share([verdict == name for verdict in verdicts]) for name in ("stated", "contradicted"))
        return {_OWN_SUPPORT: support, _OWN_CONFLICT: conflict}

    reference = "Wiki Live Challenge (arXiv 2602.01590), Wiki Fact: support and conflict of the article's statements"
    return CaseMetric("own_statements_lm", OWN_MEASURES, reference, score, parameters, (("model", OWN_MEASURES),))


def _reader(model: JudgeModel) -> tuple[Callable[[Sequence[StatementPassages]], list[Stated]], Parameters]:
    """What gives one verdict per statement, absent without a call where it has no passage; and its parameters."""
    program = Program(FindStatement, token_limit=20, greedy=True)

    def read(statements: Sequence[StatementPassages]) -> list[Stated]:
        replies = iter(model.ask(program, [_question(one) for one in statements if one.passages]))
        return [next(replies).verdict if one.passages else "absent" for one in statements]

    prompt = prompt_fingerprint(program)
    own: Parameters = {"prompt": prompt, "words": PASSAGE_WORDS, "passages": TOP_PASSAGES}
    return read, {"model": model.name, **model.settings, **own}


def _question(one: StatementPassages) -> dict[str, str]:
    numbered = "\n".join(f"[{i}] {' '.join(passage.split())}" for i, passage in enumerate(one.passages, 1))
    return {"passages": numbered, "statement": one.statement}
