"""Citation support as Wiki Live Challenge defines it: a statement against the whole page that it cites.

The other citation metrics judge a sentence by its cited passages. This one also judges what a data set publishes of
other systems: statements with the addresses of the pages that they cite.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from storm_bench.metrics.base import CaseMetric, Measure, Score
from storm_bench.metrics.statement_coverage import best_scores
from storm_bench.own_statements import own_statements
from storm_bench.statement_passages import PASSAGE_WORDS, TOP_PASSAGES, StatementPassages, find_in_text, share
from storm_bench.types import Case, CitedStatement, TopicDocument
from storm_pipeline.api import source_id
from storm_pipeline.judges.base import CachingJudge, Judge

_SUPPORT, _PAIR_SUPPORT, _PAIRS, _HELD = (
    f"citation_{name}_wiki_live" for name in ("support", "pair_support", "pairs", "pages_held")
)
MEASURES = (
    Measure(_SUPPORT),
    Measure(_PAIR_SUPPORT),
    Measure(_PAIRS, high=math.inf, better="neither"),
    Measure(_HELD, better="neither"),
)


def citation_wiki_live(judge: Judge) -> CaseMetric:
    """Share of cited statements that their pages support, and of (statement, page) pairs.

    The statements of a system's published article are those published with it. Those of any other article are its
    sentences with a citation. Pages are the topic's documents; a pair whose page is not among them cannot be judged.

    - ``citation_support_wiki_live``: of the statements with at least one page, the share that one of them supports;
    - ``citation_pair_support_wiki_live``: of the pairs with a page, the share in which it supports the statement;
    - ``citation_pairs_wiki_live``: number of pairs; several citations of one page by one statement are one pair;
    - ``citation_pages_held_wiki_live``: the share of the pairs that have a page. None without pairs.

    Both kinds of support are None where no pair has a page.

    Departures: the benchmark shows a language model the whole page, which also tells contradicted from unmentioned
    statements. Here a page supports a statement if one of its five best-matching passages (up to 120 words, under the
    page's title) does, and a sentence that cites is taken as it stands, not split into facts.
    """
    cached = CachingJudge.of(judge)

    def score(case: Case) -> Score:
        cited = own_statements(case)
        dropped = 0 if case.published else case.article.report.unavailable_citations
        pairs = dropped + sum(len(statement.urls) for statement in cited)
        verdicts = _verdicts(cached, cited, case.topic.documents)
        judged = [verdict for own in verdicts for verdict in own]
        by_statement = [any(own) for own in verdicts if own]
        held = len(judged) / pairs if pairs else None
        return {_SUPPORT: share(by_statement), _PAIR_SUPPORT: share(judged), _PAIRS: pairs, _HELD: held}

    return CaseMetric(
        "citation_wiki_live",
        MEASURES,
        "Wiki Live Challenge (arXiv 2602.01590), Wiki Fact: citations",
        score,
        {"judge": judge.name, **judge.parameters, "passage_words": PASSAGE_WORDS, "passages": TOP_PASSAGES},
        (("judge", MEASURES[:2]),),
    )


def _verdicts(judge: Judge, cited: Sequence[CitedStatement], documents: Sequence[TopicDocument]) -> list[list[bool]]:
    """For each statement, whether each of its held pages supports it."""
    pages = {source_id(page.url): page for page in documents if page.url and page.text.strip()}
    citing: dict[str, list[int]] = {}
    for place, statement in enumerate(cited):
        for page in filter(pages.__contains__, map(source_id, statement.urls)):
            citing.setdefault(page, []).append(place)
    places = [place for own in citing.values() for place in own]
    found = [
        one for page, own in citing.items() for one in _passages(pages[page], [cited[place].text for place in own])
    ]
    verdicts: list[list[bool]] = [[] for _ in cited]
    for place, score in zip(places, best_scores(judge, found), strict=True):
        verdicts[place].append(score >= judge.threshold)
    return verdicts


def _passages(page: TopicDocument, statements: Sequence[str]) -> list[StatementPassages]:
    """Each statement with its passages of a page, under the page's title if that is known."""
    return [
        replace(one, passages=tuple("\n".join(filter(None, [page.title, passage])) for passage in one.passages))
        for one in find_in_text(page.text, statements)
    ]
