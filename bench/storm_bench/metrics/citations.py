"""Citations of an article: ALCE's and WikiGenBench's recall and precision, and classes of unsupported sentences."""

from collections import Counter
from collections.abc import Sequence
from typing import get_args

from storm_bench.cited_sentences import UNIT, CitedSentence, cited_sentences
from storm_bench.judges.base import CachingJudge, Pair, ScoringJudge, supported_by
from storm_bench.judges.model_judge import JudgeModel
from storm_bench.metrics.base import BatchMetric, Measure, Parameters, Score
from storm_bench.signatures.judging import LONGEST_SOURCES, ClassifyUnsupported, ErrorClass
from storm_bench.types import Case
from storm_pipeline.api import Program, is_complete, opening_of, words
from storm_pipeline.evidence.judges.base import Question
from storm_pipeline.evidence.judges.support import AlceVerdict, judge_alce

ALCE_MEASURES = (Measure("citation_recall_alce"), Measure("citation_precision_alce"))
_RECALL, _PRECISION, _RATE = (f"citation_{name}_wikigenbench" for name in ("recall", "precision", "rate"))
WIKIGENBENCH_MEASURES = (Measure(_RECALL), Measure(_PRECISION), Measure(_RATE))
CLASSES = ("uncited", *get_args(ErrorClass))
"""No citation; improper inferential linking; inaccurate paraphrasing; irrelevant source; wrongly split sentence; and
supported (an error of the support judge)."""
ERROR_MEASURES = (
    Measure("unsupported", better="lower"),
    *(Measure(f"error_{kind}", better="neither") for kind in CLASSES),
)


def citation_alce(judge: ScoringJudge) -> BatchMetric:
    """Return citation recall and precision (ALCE): the citation quality in STORM's Table 4.

    Recall is the share of all sentences supported by their citations, concatenated in order; a sentence without
    citations is unsupported. Precision is the share of all citations that are precise: the sentence is supported, and
    the citation supports it alone or the others do not without it. Both are None for an article without sentences or
    without sources; precision is also None without citations (0 in ALCE's code).

    Departures: sentences are split by our own rules instead of NLTK; the first condition of precision asks the same
    question as recall, where the official STORM code asks whether the source *partially* supports the claim.
    """
    cached = CachingJudge.of(judge)

    def score(cases: Sequence[Case]) -> list[Score]:
        articles = [cited_sentences(case.article) for case in cases]
        asked = [Question(sentence.text, sentence.passages) for article in articles for sentence in article]
        verdicts = iter(judge_alce(cached, asked))
        return [_alce_score([next(verdicts) for _ in article]) for article in articles]

    reference = "Gao et al. 2023 (ALCE), section 3.2; used in Shao et al. 2024 (STORM), section 4.2 and Table 4"
    own: Parameters = {"citation": UNIT, "lead": 1, "most_citations": "all"}
    parameters: Parameters = {"judge": judge.name, **judge.parameters, **own}
    return BatchMetric("citation_alce", ALCE_MEASURES, reference, score, parameters, (("judge", ALCE_MEASURES),))


def _alce_score(verdicts: Sequence[AlceVerdict]) -> Score:
    citations = sum(verdict.cited for verdict in verdicts)
    return {
        "citation_recall_alce": sum(v.supported for v in verdicts) / len(verdicts) if verdicts else None,
        "citation_precision_alce": sum(v.precise for v in verdicts) / citations if citations else None,
    }


def citation_wikigenbench(judge: ScoringJudge) -> BatchMetric:
    """Return citation recall, precision and rate (WikiGenBench).

    Recall is the share of sentences with at least one citation that supports them alone. Precision is the mean over all
    sentences of the share of supporting citations, 0 for a sentence without citations (so it never exceeds recall, as
    in the papers' tables). Rate is recall weighted by words. All are None for an article without sentences or without
    sources.
    """
    cached = CachingJudge.of(judge)

    def score(cases: Sequence[Case]) -> list[Score]:
        articles = [cited_sentences(case.article) for case in cases]
        pairs = [Pair(passage, s.text) for article in articles for s in article for passage in s.passages]
        verdicts = iter(supported_by(cached, pairs))
        return [_wikigenbench_score([(s.text, [next(verdicts) for _ in s.passages]) for s in a]) for a in articles]

    return BatchMetric(
        "citation_wikigenbench",
        WIKIGENBENCH_MEASURES,
        "WikiGenBench v1, section 3.3; v2, section 3, equations 4 to 6",
        score,
        {"judge": judge.name, **judge.parameters, "citation": UNIT, "lead": 1},
        (("judge", WIKIGENBENCH_MEASURES),),
    )


def _wikigenbench_score(judged: Sequence[tuple[str, list[bool]]]) -> Score:
    """Return the measures, given each sentence's text and the verdicts on its citations."""
    if not judged:
        return {_RECALL: None, _PRECISION: None, _RATE: None}
    lengths = [len(words(text)) for text, _ in judged]
    return {
        _RECALL: sum(any(verdicts) for _, verdicts in judged) / len(judged),
        _PRECISION: sum(sum(v) / len(v) for _, v in judged if v) / len(judged),
        _RATE: sum(n for n, (_, verdicts) in zip(lengths, judged, strict=True) if any(verdicts)) / sum(lengths),
    }


def support_errors(judge: ScoringJudge, model: JudgeModel) -> BatchMetric:
    """Return the share of unsupported sentences (by ALCE's recall), and of each error class among them.

    The paper classified by hand; here a language model does, so the shares include its errors. Two classes need no
    call: an incomplete sentence is wrongly split, a complete one without citations is uncited. The shares sum to 1;
    they are None if no sentence is unsupported.
    """
    cached = CachingJudge.of(judge)
    program = Program(ClassifyUnsupported, token_limit=20, greedy=True)

    def score(cases: Sequence[Case]) -> list[Score]:
        """ScoringJudge all sentences of all cases, then classify the unsupported ones in one batch."""
        articles = [cited_sentences(case.article) for case in cases]
        verdicts = iter(judge_alce(cached, [Question(s.text, s.passages) for article in articles for s in article]))
        failed = [[s for s in article if not next(verdicts).supported] for article in articles]
        sentences = [(case.topic.title, s) for case, own in zip(cases, failed, strict=True) for s in own]
        kinds = iter(_classified(model, program, sentences))
        counts = [Counter(next(kinds) for _ in own) for own in failed]
        return [_error_score(len(article), count) for article, count in zip(articles, counts, strict=True)]

    errors = {"model": model.name, **model.parameters(program)}
    own = {"citation": UNIT, "lead": 1, **{f"errors_{name}": value for name, value in errors.items()}}
    return BatchMetric(
        "support_errors",
        ERROR_MEASURES,
        "Shao et al. 2024 (STORM), appendix C.3, Table 9 and Figure 6",
        score,
        {"judge": judge.name, **judge.parameters, **own},
        (("judge", ERROR_MEASURES[:1]), ("errors_model", ERROR_MEASURES[1:])),
    )


def _classified(model: JudgeModel, program: Program, sentences: Sequence[tuple[str, CitedSentence]]) -> list[str]:
    """Return the error class of each unsupported (topic, sentence)."""
    found = {i: _trivial_class(sentence) for i, (_, sentence) in enumerate(sentences)}
    asked = [i for i, kind in found.items() if not kind]
    replies = model.ask(program, [_question(*sentences[i]) for i in asked])
    found |= {i: reply.error for i, reply in zip(asked, replies, strict=True)}
    return [found[i] for i in range(len(sentences))]


def _trivial_class(sentence: CitedSentence) -> str:
    """Return the error class of a sentence if it needs no model, else empty."""
    if not is_complete(sentence.text):
        return "split"
    return "" if sentence.passages else "uncited"


def _question(topic: str, sentence: CitedSentence) -> dict[str, str]:
    share = LONGEST_SOURCES // len(sentence.passages)
    sources = [opening_of(text, share) for text in sentence.passages]
    numbered = "\n".join(f"[{i}] {' '.join(text.split())}" for i, text in enumerate(sources, 1))
    return {"topic": topic, "sources": numbered, "sentence": sentence.text}


def _error_score(sentences: int, counts: Counter[str]) -> Score:
    total = counts.total()
    shares = {f"error_{kind}": counts[kind] / total if total else None for kind in CLASSES}
    return {"unsupported": total / sentences if sentences else None, **shares}
