"""Citation recall, precision and rate as WikiGenBench defines them: each citation is judged alone.

Not to be confused with ALCE's measures of the same names (:mod:`.citation_alce`), which judge a sentence's citations
jointly and leave each one out.
"""

from collections.abc import Sequence

from storm_bench.cited_sentences import UNIT, cited_sentences
from storm_bench.judges.base import Pair, supported_by
from storm_bench.metrics.base import BatchMetric, Measure, Score
from storm_bench.types import Case
from storm_pipeline.api import words
from storm_pipeline.judges.base import CachingJudge, Judge

_RECALL, _PRECISION, _RATE = (f"citation_{name}_wikigenbench" for name in ("recall", "precision", "rate"))
MEASURES = (Measure(_RECALL), Measure(_PRECISION), Measure(_RATE))


def citation_wikigenbench(judge: Judge) -> BatchMetric:
    """Citation recall, precision and rate (WikiGenBench).

    Recall is the share of sentences with at least one citation that supports them alone. Precision is the mean over all
    sentences of the share of supporting citations, 0 for a sentence without citations (so it never exceeds recall, as
    in the papers' tables). Rate is recall weighted by words. All are None for an article without sentences or without
    sources.
    """
    cached = CachingJudge.of(judge)

    def score(cases: Sequence[Case]) -> list[Score]:
        articles = [cited_sentences(case.article) for case in cases]
        pairs = [Pair(passage, s.text) for own in articles for s in own for passage in s.passages]
        verdicts = iter(supported_by(cached, pairs))
        return [_score([(s.text, [next(verdicts) for _ in s.passages]) for s in own]) for own in articles]

    return BatchMetric(
        "citation_wikigenbench",
        MEASURES,
        "WikiGenBench v1, section 3.3; v2, section 3, equations 4 to 6",
        score,
        {"judge": judge.name, **judge.parameters, "citation": UNIT, "lead": 1},
        (("judge", MEASURES),),
    )


def _score(judged: Sequence[tuple[str, list[bool]]]) -> Score:
    """The measures, given each sentence's text and the verdicts on its citations."""
    if not judged:
        return {_RECALL: None, _PRECISION: None, _RATE: None}
    lengths = [len(words(text)) for text, _ in judged]
    return {
        _RECALL: sum(any(verdicts) for _, verdicts in judged) / len(judged),
        _PRECISION: sum(sum(v) / len(v) for _, v in judged if v) / len(judged),
        _RATE: sum(n for n, (_, verdicts) in zip(lengths, judged, strict=True) if any(verdicts)) / sum(lengths),
    }
