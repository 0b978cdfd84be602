"""A judge without a language model: how similar passages are to a claim, and whether they have its quantities.

It detects citations of other subjects, but only weakly whether *all* of a claim is supported: print its calibration.
"""

from collections.abc import Sequence

from storm_bench.judges.base import Parameters
from storm_pipeline.api import detect, stem_set, windows, words
from storm_pipeline.evidence.judges.base import Question, Verdict, label_of
from storm_pipeline.evidence.judges.spans import lacking
from storm_pipeline.evidence.retrieval.embedder import Embedder

_WINDOW, _STEP = 45, 30  # words of an embedded window, and between the starts of two


class SimilarityJudge:
    """A judge that scores a question by similarity (:class:`~storm_pipeline.evidence.judges.base.Judge`).

    The probability is the mean of two numbers: the highest cosine of the claim and a window of a passage, and the share
    of the claim's stems in the passages; halved if a quantity of the claim is in no passage.
    """

    def __init__(self, embedder: Embedder, *, threshold: float = 0.5) -> None:
        self.threshold = threshold
        self._embedder = embedder

    @property
    def name(self) -> str:
        """The name of the embedder after ``screen:``."""
        return f"screen:{self._embedder.name}"

    @property
    def parameters(self) -> Parameters:
        """The threshold, and the words of a window and of a step to the next."""
        return {"threshold": self.threshold, "window": _WINDOW, "step": _STEP}

    def judge(self, questions: Sequence[Question]) -> list[Verdict]:
        """Judge the questions, without spans and reasons; equal texts are embedded once."""
        asked = [question for question in questions if question.has_words]
        shown = dict.fromkeys(text for question in asked for text in question.passages if words(text))
        parts = {text: windows(text, _WINDOW, _STEP) for text in shown}
        texts = list(dict.fromkeys([*(q.claim for q in asked), *(part for cut in parts.values() for part in cut)]))
        vectors = dict(zip(texts, self._embedder.embed(texts), strict=True))

        def cosine(question: Question) -> float:
            texts = (part for text in question.passages for part in parts.get(text, ()))
            return max(0.0, *(float(vectors[part] @ vectors[question.claim]) for part in texts))

        return [self._verdict(q, cosine(q)) if q.has_words else Verdict("not", 0.0) for q in questions]

    def _verdict(self, question: Question, cosine: float) -> Verdict:
        language = detect(question.claim) or "en"
        wanted = stem_set(question.claim, language)
        had = frozenset[str]().union(*(stem_set(text, language) for text in question.passages))
        similarity = min(1.0, (len(wanted & had) / max(1, len(wanted)) + cosine) / 2)
        probability = similarity / 2 if lacking(question) else similarity
        return Verdict(label_of(probability, self.threshold), probability)
