"""Citation recall and precision as ALCE defines them, with leave-one-out (Gao et al. 2023, section 3.2).

Not to be confused with WikiGenBench's measures of the same names (:mod:`.citation_wikigenbench`).
"""

from collections.abc import Sequence

from storm_bench.cited_sentences import UNIT, cited_sentences
from storm_bench.metrics.base import BatchMetric, Measure, Parameters, Score
from storm_bench.types import Case
from storm_pipeline.judges.base import CachingJudge, Judge, Question
from storm_pipeline.judges.citation_quality import AlceVerdict, judge_alce

MEASURES = (Measure("citation_recall_alce"), Measure("citation_precision_alce"))


def citation_alce(judge: Judge, *, expand: bool = False) -> BatchMetric:
    """Citation recall and precision (ALCE): the citation quality in STORM's Table 4.

    Recall is the share of all sentences supported by their citations, concatenated in order; a sentence without
    citations is unsupported. Precision is the share of all citations that are precise: the sentence is supported, and
    the citation supports it alone or the others do not without it. Both are None for an article without sentences or
    without sources; precision is also None without citations (0 in ALCE's code).

    Departures: sentences are split by our own rules instead of NLTK; the first condition of precision asks the same
    question as recall, where the official STORM code asks whether the source *partially* supports the claim.

    ``expand``: let uncited sentences inherit a neighbour's citations, see :func:`.cited_sentences.cited_sentences`.
    """
    cached = CachingJudge.of(judge)

    def score(cases: Sequence[Case]) -> list[Score]:
        articles = [cited_sentences(case.article, expand=expand) for case in cases]
        asked = [Question(sentence.text, sentence.passages) for own in articles for sentence in own]
        verdicts = iter(judge_alce(cached, asked))
        return [_score([next(verdicts) for _ in own]) for own in articles]

    reference = "Gao et al. 2023 (ALCE), section 3.2; used in Shao et al. 2024 (STORM), section 4.2 and Table 4"
    own: Parameters = {"citation": UNIT, "lead": 1, "most_citations": "all"}
    expansion = {"expansion": "official -p"} if expand else {}
    parameters: Parameters = {"judge": judge.name, **judge.parameters, **own, **expansion}
    return BatchMetric("citation_alce", MEASURES, reference, score, parameters, (("judge", MEASURES),))


def _score(verdicts: Sequence[AlceVerdict]) -> Score:
    citations = sum(verdict.cited for verdict in verdicts)
    return {
        "citation_recall_alce": sum(v.supported for v in verdicts) / len(verdicts) if verdicts else None,
        "citation_precision_alce": sum(v.precise for v in verdicts) / citations if citations else None,
    }
