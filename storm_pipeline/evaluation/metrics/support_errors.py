"""What is wrong with the sentences that their citations do not support (STORM, appendix C.3, Table 9, Figure 6)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import get_args

from storm_pipeline.evaluation.judges.base import Remembering, SupportJudge
from storm_pipeline.evaluation.judges.model import JudgeModel, fingerprint
from storm_pipeline.evaluation.judges.opening import Judging
from storm_pipeline.evaluation.metrics.base import Measure, Score
from storm_pipeline.evaluation.metrics.citation_alce import judge_alce
from storm_pipeline.evaluation.passages import CitedSentence, cited_sentences
from storm_pipeline.evaluation.types import Case
from storm_pipeline.models.programs import Program
from storm_pipeline.signatures.judging import ClassifyUnsupported, ErrorClass
from storm_pipeline.text.sentences import is_complete, opening_of

CLASSES = ("uncited", *get_args(ErrorClass))
"""The classes: no citation; improper inferential linking; inaccurate paraphrasing; irrelevant source; wrongly split
sentence; and supported, where the support judge was wrong."""

LONGEST_SOURCES = 600
"""Words of a sentence's passages that the model is shown."""


class SupportErrors:
    """Share of sentences that are unsupported (by ALCE's recall), and of each error class among them.

    The paper's author judged by hand; here a language model does, and its errors of judgement are in the shares. What
    needs no model is not asked: a sentence that breaks off is wrongly split, a whole one without citation uncited.
    The shares sum to 1; without an unsupported sentence there are none.

    Args:
        judge: says whether a passage supports a claim.
        model: names the error of a sentence.
        lead: whether the lead's sentences count.
    """

    name = "support_errors"
    measures = (
        Measure("unsupported", better="lower"),
        *(Measure(f"error_{kind}", better="neither") for kind in CLASSES),
    )
    rests_on = (("judge", measures[:1]), ("errors_model", measures[1:]))
    reference = "Shao et al. 2024 (STORM), appendix C.3, Table 9 and Figure 6"

    def __init__(self, judge: SupportJudge, model: JudgeModel, *, lead: bool = True) -> None:
        self._judge = Remembering.of(judge)
        self._model = model
        self._lead = lead
        self._program = Program(ClassifyUnsupported, token_limit=20, greedy=True)

    @property
    def parameters(self) -> Mapping[str, str | int | float]:
        """The judge and its parameters; behind ``errors_`` the model, its settings and a fingerprint of its prompt."""
        errors = {"model": self._model.name, **self._model.settings, "prompt": fingerprint(self._program)}
        own = {"lead": int(self._lead), **{f"errors_{name}": value for name, value in errors.items()}}
        return {"judge": self._judge.name, **self._judge.parameters, **own}

    def score(self, cases: Sequence[Case]) -> list[Score]:
        """Judge all sentences of all cases, then classify those that are unsupported in one batch.

        Raises:
            MetricError: the judge or the model cannot be asked.
        """
        articles = [cited_sentences(case.article, lead=self._lead) for case in cases]
        verdicts = iter(judge_alce(self._judge, [s for own in articles for s in own]))
        failed = [[s for s in own if not next(verdicts).supported] for own in articles]
        kinds = iter(self._kinds([(case.topic.title, s) for case, own in zip(cases, failed, strict=True) for s in own]))
        counts = [Counter(next(kinds) for _ in own) for own in failed]
        return [_score(len(own), count) for own, count in zip(articles, counts, strict=True)]

    def _kinds(self, sentences: Sequence[tuple[str, CitedSentence]]) -> list[str]:
        """The class of each unsupported sentence, given with its topic."""
        found = {i: _plain_kind(sentence) for i, (_, sentence) in enumerate(sentences)}
        asked = [i for i, kind in found.items() if not kind]
        replies = self._model.ask(self._program, [_question(*sentences[i]) for i in asked])
        found |= {i: reply.error for i, reply in zip(asked, replies, strict=True)}
        return [found[i] for i in range(len(sentences))]


def make(resources: Judging) -> SupportErrors:
    """The metric with the support judge and the model of an evaluation."""
    return SupportErrors(resources.support_judge, resources.judge_model)


def _plain_kind(sentence: CitedSentence) -> str:
    """The class of a sentence that no model need be asked about, else empty."""
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
