"""Error classes of sentences not supported by their citations (STORM, appendix C.3, Table 9, Figure 6)."""

from collections import Counter
from collections.abc import Sequence
from typing import get_args

from storm_bench.cited_sentences import UNIT, CitedSentence, cited_sentences
from storm_bench.judges.model_judge import JudgeModel
from storm_bench.judges.probability import prompt_fingerprint
from storm_bench.metrics.base import BatchMetric, Measure, Score
from storm_bench.signatures.judging import ClassifyUnsupported, ErrorClass
from storm_bench.types import Case
from storm_pipeline.api import Program, is_complete, opening_of
from storm_pipeline.judges.base import CachingJudge, Judge, Question
from storm_pipeline.judges.citation_quality import judge_alce

CLASSES = ("uncited", *get_args(ErrorClass))
"""No citation; improper inferential linking; inaccurate paraphrasing; irrelevant source; wrongly split sentence; and
supported (an error of the support judge)."""

LONGEST_SOURCES = 600
"""Maximum words of a sentence's passages shown to the model."""
MEASURES = (
    Measure("unsupported", better="lower"),
    *(Measure(f"error_{kind}", better="neither") for kind in CLASSES),
)


def support_errors(judge: Judge, model: JudgeModel) -> BatchMetric:
    """Share of unsupported sentences (by ALCE's recall), and of each error class among them.

    The paper classified by hand; here a language model does, so the shares include its errors. Two classes need no
    call: an incomplete sentence is wrongly split, a complete one without citations is uncited. The shares sum to 1;
    they are None if no sentence is unsupported.
    """
    cached = CachingJudge.of(judge)
    program = Program(ClassifyUnsupported, token_limit=20, greedy=True)

    def score(cases: Sequence[Case]) -> list[Score]:
        """Judge all sentences of all cases, then classify the unsupported ones in one batch."""
        articles = [cited_sentences(case.article) for case in cases]
        verdicts = iter(judge_alce(cached, [Question(s.text, s.passages) for own in articles for s in own]))
        failed = [[s for s in own if not next(verdicts).supported] for own in articles]
        sentences = [(case.topic.title, s) for case, own in zip(cases, failed, strict=True) for s in own]
        kinds = iter(_classified(model, program, sentences))
        counts = [Counter(next(kinds) for _ in own) for own in failed]
        return [_score(len(own), count) for own, count in zip(articles, counts, strict=True)]

    errors = {"model": model.name, **model.settings, "prompt": prompt_fingerprint(program)}
    own = {"citation": UNIT, "lead": 1, **{f"errors_{name}": value for name, value in errors.items()}}
    return BatchMetric(
        "support_errors",
        MEASURES,
        "Shao et al. 2024 (STORM), appendix C.3, Table 9 and Figure 6",
        score,
        {"judge": judge.name, **judge.parameters, **own},
        (("judge", MEASURES[:1]), ("errors_model", MEASURES[1:])),
    )


def _classified(model: JudgeModel, program: Program, sentences: Sequence[tuple[str, CitedSentence]]) -> list[str]:
    """The error class of each unsupported (topic, sentence)."""
    found = {i: _trivial_class(sentence) for i, (_, sentence) in enumerate(sentences)}
    asked = [i for i, kind in found.items() if not kind]
    replies = model.ask(program, [_question(*sentences[i]) for i in asked])
    found |= {i: reply.error for i, reply in zip(asked, replies, strict=True)}
    return [found[i] for i in range(len(sentences))]


def _trivial_class(sentence: CitedSentence) -> str:
    """The error class of a sentence if it needs no model, else empty."""
    if not is_complete(sentence.text):
        return "split"
    return "" if sentence.passages else "uncited"


def _question(topic: str, sentence: CitedSentence) -> dict[str, str]:
    share = LONGEST_SOURCES // len(sentence.passages)
    sources = [opening_of(text, share) for text in sentence.passages]
    numbered = "\n".join(f"[{i}] {' '.join(text.split())}" for i, text in enumerate(sources, 1))
    return {"topic": topic, "sources": numbered, "sentence": sentence.text}


def _score(sentences: int, counts: Counter[str]) -> Score:
    total = counts.total()
    shares = {f"error_{kind}": counts[kind] / total if total else None for kind in CLASSES}
    return {"unsupported": total / sentences if sentences else None, **shares}
