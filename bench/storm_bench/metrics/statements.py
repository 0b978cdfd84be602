"""Statements looked up in their best-matching passages: the human article's, and an article's that cite a page.

As Wiki Live Challenge defines them. The screen (``statement_coverage``) finds stated statements; a language model also
contradicted ones.
"""

import math
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice

from storm_bench.datasets.closed_corpus import topic_chunks
from storm_bench.judges.base import CachingJudge, Pair, ScoringJudge, scores_of
from storm_bench.judges.model_judge import JudgeModel
from storm_bench.metrics.base import CaseMetric, Measure, Parameters, Score
from storm_bench.metrics.texts import generated_text
from storm_bench.signatures.judging import PASSAGE_WORDS, TOP_PASSAGES, FindStatement, Stated
from storm_bench.types import Case, CitedStatement, Topic, TopicDocument
from storm_pipeline.api import LexicalIndex, Program, chunks, source_id, words

_CACHED_TOPICS = 32  # topics whose passages are cached: chunking a topic's documents takes seconds
STATED = 0.65
"""Minimum score at which a passage states a statement. On articles of other systems it finds 74 % of what a reader
finds stated, and 9 % of the rest (160 labels). Higher than for citations, because all passages are on the topic."""
COVERAGE_MEASURES = (Measure("statement_coverage"), Measure("statement_ceiling", better="neither"))
_CACHED_CEILINGS = 256  # topics
LM_MEASURES = (
    Measure("statement_coverage_lm"),
    Measure("statement_conflict_lm", better="lower"),
    Measure("statement_ceiling_lm", better="neither"),
)
_SUPPORT, _PAIR_SUPPORT, _PAIRS, _HELD = (
    f"citation_{name}_wiki_live" for name in ("support", "pair_support", "pairs", "pages_held")
)
CITATION_MEASURES = (
    Measure(_SUPPORT),
    Measure(_PAIR_SUPPORT),
    Measure(_PAIRS, high=math.inf, better="neither"),
    Measure(_HELD, better="neither"),
)


@dataclass(frozen=True)
class StatementPassages:
    """A statement and its best-matching passages, best first; none if no passage shares a word with it."""

    statement: str
    passages: tuple[str, ...] = ()


Reader = Callable[[Sequence[StatementPassages]], list[Stated]]
"""One verdict per statement, in order."""


def find_in_text(text: str, statements: Iterable[str]) -> tuple[StatementPassages, ...]:
    """Return each statement with its passages of a plain text, in order."""
    return _best_passages(statements, chunks(text, PASSAGE_WORDS))


@lru_cache(_CACHED_TOPICS)
def find_in_documents(topic: Topic) -> tuple[StatementPassages, ...]:
    """Return each statement of a topic with its passages of the documents, copies of the article excluded; in order."""
    return _best_passages(topic.human.statements, [chunk.text for chunk in topic_chunks(topic, words=PASSAGE_WORDS)])


def share(found: Sequence[bool]) -> float | None:
    """Return the share of true values, in [0, 1]; None for an empty sequence."""
    return sum(found) / len(found) if found else None


def _best_passages(statements: Iterable[str], passages: Sequence[str]) -> tuple[StatementPassages, ...]:
    index = LexicalIndex(([(passage, 1)] for passage in passages), floor=0.0)
    return tuple(
        StatementPassages(
            statement, tuple(passages[match.position] for match in islice(index.search(statement), TOP_PASSAGES))
        )
        for statement in statements
    )


def own_statements(case: Case) -> tuple[CitedStatement, ...]:
    """Return the statements published with a system's article; of any other article the sentences that contain a word.

    In text order, each with one address per page that it cites.
    """
    if case.published:
        return tuple(CitedStatement(s.text, _one_per_page(s.urls)) for s in case.published.statements)
    urls = {source.id: source.url for source in case.article.sources}
    return tuple(
        CitedStatement(sentence.text, _one_per_page(urls[citation.source_id] for citation in sentence.citations))
        for sentence in case.article.sentences()
        if words(sentence.text)
    )


def _one_per_page(urls: Iterable[str]) -> tuple[str, ...]:
    return tuple({source_id(url): url for url in urls}.values())


def statement_coverage(judge: ScoringJudge) -> CaseMetric:
    """Return the share of the human statements that the article states, and that the topic's documents state.

    A statement is stated if one of its five best-matching passages (up to 120 words) reaches the screen's threshold.
    The second measure, over the topic's documents without copies of the human article, is the ceiling for articles
    written from these documents alone. The screen cannot distinguish contradicted from absent statements. Both are None
    without statements, the ceiling also without documents.

    Departures: the benchmark asks a language model about each statement; see :func:`statement_coverage_lm`.
    """

    def read(statements: Sequence[StatementPassages]) -> list[Stated]:
        scores = best_scores(judge, statements)
        return ["stated" if score >= judge.threshold else "absent" for score in scores]

    own: Parameters = {"passage_words": PASSAGE_WORDS, "passages": TOP_PASSAGES}
    parameters = {"screen": judge.name, **judge.parameters, **own}
    return _coverage("statement_coverage", COVERAGE_MEASURES, read, parameters, "screen")


def _coverage(name: str, measures: tuple[Measure, ...], read: Reader, parameters: Parameters, judge: str) -> CaseMetric:
    """Return coverage first, ceiling last, and between them, where there is room, the share that is contradicted."""
    lock = threading.Lock()

    @lru_cache(_CACHED_CEILINGS)
    def ceiling(topic: Topic) -> float | None:
        return share([verdict == "stated" for verdict in read(find_in_documents(topic))])

    def score(case: Case) -> Score:
        verdicts = read(find_in_text(generated_text(case.article), case.topic.human.statements))
        stated, conflict = (share([verdict == one for verdict in verdicts]) for one in ("stated", "contradicted"))
        with lock:  # a second thread waits for the cached ceiling
            most = ceiling(case.topic) if case.topic.documents else None
        values = (stated, conflict, most) if len(measures) > 2 else (stated, most)
        return dict(zip((measure.name for measure in measures), values, strict=True))

    reference = "Wiki Live Challenge (arXiv 2602.01590), coverage of the human article's statements"
    return CaseMetric(name, measures, reference, score, parameters, ((judge, measures),))


def best_scores(judge: ScoringJudge, statements: Sequence[StatementPassages]) -> list[float]:
    """Return each statement's best score over its passages, in [0, 1]; 0 without passages."""
    scores = iter(scores_of(judge, [Pair(passage, s.statement) for s in statements for passage in s.passages]))
    return [max((next(scores) for _ in statement.passages), default=0.0) for statement in statements]


def statement_coverage_lm(model: JudgeModel) -> CaseMetric:
    """Return shares of the human statements that an article states, that it contradicts, and that the documents state.

    The model sees a statement and its five best-matching passages (up to 120 words) of the article or, for the ceiling,
    of the topic's documents without copies of the human article. A statement that shares no word with any passage is
    absent without a call. All are None without statements, the ceiling also without documents.

    Departures: the benchmark shows the whole article; passages keep prompts short and allow documents of any length.
    """
    return _coverage("statement_coverage_lm", LM_MEASURES, *_reader(model), "model")


def _reader(model: JudgeModel) -> tuple[Reader, Parameters]:
    """Return a function from statements to verdicts (without a call if there is no passage), and its parameters."""
    program = Program(FindStatement, token_limit=20, greedy=True)

    def read(statements: Sequence[StatementPassages]) -> list[Stated]:
        replies = iter(model.ask(program, [_question(statement) for statement in statements if statement.passages]))
        return [next(replies).verdict if statement.passages else "absent" for statement in statements]

    own: Parameters = {"words": PASSAGE_WORDS, "passages": TOP_PASSAGES}
    return read, {"model": model.name, **model.parameters(program), **own}


def _question(one: StatementPassages) -> dict[str, str]:
    numbered = "\n".join(f"[{i}] {' '.join(passage.split())}" for i, passage in enumerate(one.passages, 1))
    return {"passages": numbered, "statement": one.statement}


def citation_wiki_live(judge: ScoringJudge) -> CaseMetric:
    """Return the share of cited statements that their pages support, and of (statement, page) pairs.

    The statements of a system's published article are those published with it. Those of any other article are its
    sentences with a citation. Pages are the topic's documents; a pair whose page is not among them cannot be judged.

    - ``citation_support_wiki_live``: of the statements with at least one page, the share that one of them supports;
    - ``citation_pair_support_wiki_live``: of the pairs with a page, the share in which it supports the statement;
    - ``citation_pairs_wiki_live``: number of pairs; several citations of one page by one statement are one pair;
    - ``citation_pages_held_wiki_live``: the share of the pairs that have a page. None without pairs.

    Both kinds of support are None where no pair has a page.

    Departures: the benchmark shows a language model the whole page, which also separates contradicted from unmentioned
    statements. Here a page supports a statement if one of its five best-matching passages (up to 120 words, under the
    page's title) does, and a citing sentence is not split into facts.
    """
    cached = CachingJudge.of(judge)

    def score(case: Case) -> Score:
        cited = own_statements(case)
        dropped = 0 if case.published else case.article.report.unavailable_citations
        pairs = dropped + sum(len(statement.urls) for statement in cited)
        verdicts = _verdicts(cached, cited, case.topic.documents)
        judged = [verdict for own in verdicts for verdict in own]
        by_statement = [any(verdict) for verdict in verdicts if verdict]
        held = len(judged) / pairs if pairs else None
        return {_SUPPORT: share(by_statement), _PAIR_SUPPORT: share(judged), _PAIRS: pairs, _HELD: held}

    return CaseMetric(
        "citation_wiki_live",
        CITATION_MEASURES,
        "Wiki Live Challenge (arXiv 2602.01590), Wiki Fact: citations",
        score,
        {"judge": judge.name, **judge.parameters, "passage_words": PASSAGE_WORDS, "passages": TOP_PASSAGES},
        (("judge", CITATION_MEASURES[:2]),),
    )


def _verdicts(
    judge: ScoringJudge, cited: Sequence[CitedStatement], documents: Sequence[TopicDocument]
) -> list[list[bool]]:
    """Return for each statement, whether each of its held pages supports it."""
    pages = {source_id(page.url): page for page in documents if page.url and page.text.strip()}
    citing: dict[str, list[int]] = {}
    for place, statement in enumerate(cited):
        for page in filter(pages.__contains__, map(source_id, statement.urls)):
            citing.setdefault(page, []).append(place)
    places = [place for own in citing.values() for place in own]
    found = [p for page, own in citing.items() for p in _passages(pages[page], [cited[place].text for place in own])]
    verdicts: list[list[bool]] = [[] for _ in cited]
    for place, score in zip(places, best_scores(judge, found), strict=True):
        verdicts[place].append(score >= judge.threshold)
    return verdicts


def _passages(page: TopicDocument, statements: Sequence[str]) -> list[StatementPassages]:
    """Return each statement with its passages of a page, under the page's title if that is known."""
    return [
        replace(one, passages=tuple("\n".join(filter(None, [page.title, passage])) for passage in one.passages))
        for one in find_in_text(page.text, statements)
    ]
