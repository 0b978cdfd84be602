"""Citation recall and precision as ALCE defines them, with leave-one-out (Gao et al. 2023, section 3.2).

Not to be mixed up with WikiGenBench's measures of the same names (:mod:`.citation_wikigenbench`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from storm_pipeline.evaluation.judges.base import Pair, Remembering, SupportJudge
from storm_pipeline.evaluation.judges.opening import Judging
from storm_pipeline.evaluation.metrics.base import Measure, Score
from storm_pipeline.evaluation.passages import CitedSentence, cited_sentences
from storm_pipeline.evaluation.types import Case


@dataclass(frozen=True)
class AlceVerdict:
    """A sentence judged: whether its citations together support it, how many it has, and how many of them count."""

    supported: bool
    cited: int
    counting: int


class CitationAlce:
    """Citation recall and precision (ALCE), the verifiability of the STORM paper's Table 4.

    Recall is the share of all sentences whose citations, joined in order, support them; a sentence without citation is
    not supported. Precision is the share of all citations that count: those of a supported sentence which alone
    support it, or without which the others no longer do. An article without sentence or without any source has
    neither, one without citation no precision (ALCE's code gives it 0).

    Departures: sentences are the article's own, cut by pysbd's rules instead of NLTK's; condition A of precision asks
    the same question as recall, where the official STORM code asks whether the source supports the claim *in part*.

    Args:
        judge: says whether a passage supports a claim.
        lead: whether the lead's sentences count.
        most_citations: citations of a sentence that count, from its first on; None: all (ALCE's tables use 3).
    """

    name = "citation_alce"
    measures = (Measure("citation_recall_alce"), Measure("citation_precision_alce"))
    rests_on = (("judge", measures),)
    reference = "Gao et al. 2023 (ALCE), section 3.2; used in Shao et al. 2024 (STORM), section 4.2 and Table 4"

    def __init__(self, judge: SupportJudge, *, lead: bool = True, most_citations: int | None = None) -> None:
        self._judge = Remembering.of(judge)
        self._lead = lead
        self._most = most_citations

    @property
    def parameters(self) -> Mapping[str, str | int | float]:
        """The judge and its parameters, and this metric's own."""
        own = {"lead": int(self._lead), "most_citations": self._most or "all"}
        return {"judge": self._judge.name, **self._judge.parameters, **own}

    def score(self, cases: Sequence[Case]) -> list[Score]:
        """Judge all sentences of all cases in at most three batches."""
        articles = [
            [CitedSentence(s.text, s.passages[: self._most]) for s in cited_sentences(case.article, lead=self._lead)]
            for case in cases
        ]
        verdicts = iter(judge_alce(self._judge, [sentence for own in articles for sentence in own]))
        return [_score([next(verdicts) for _ in own]) for own in articles]


def make(resources: Judging) -> CitationAlce:
    """The metric with the support judge of an evaluation."""
    return CitationAlce(resources.support_judge)


def judge_alce(judge: SupportJudge, sentences: Sequence[CitedSentence]) -> list[AlceVerdict]:
    """Judge sentences by ALCE's two questions; in order."""
    judge = Remembering.of(judge)
    _ask(judge, (pair for s in sentences if s.passages for pair in [_joint(s, s.passages)]))
    several = [s for s in sentences if len(s.passages) > 1 and _supported(judge, s, s.passages)]
    _ask(judge, (Pair(passage, s.text) for s in several for passage in s.passages))
    _ask(
        judge,
        (
            _joint(s, _without(s.passages, i))
            for s in several
            for i, passage in enumerate(s.passages)
            if not _supported(judge, s, (passage,))
        ),
    )
    return [_verdict(judge, s) for s in sentences]


def _verdict(judge: Remembering, sentence: CitedSentence) -> AlceVerdict:
    passages = sentence.passages
    if not passages or not _supported(judge, sentence, passages):
        return AlceVerdict(supported=False, cited=len(passages), counting=0)
    if len(passages) == 1:
        return AlceVerdict(supported=True, cited=1, counting=1)
    counting = sum(
        _supported(judge, sentence, (passage,)) or not _supported(judge, sentence, _without(passages, i))
        for i, passage in enumerate(passages)
    )
    return AlceVerdict(supported=True, cited=len(passages), counting=counting)


def _score(verdicts: Sequence[AlceVerdict]) -> Score:
    citations = sum(verdict.cited for verdict in verdicts)
    return {
        "citation_recall_alce": sum(v.supported for v in verdicts) / len(verdicts) if verdicts else None,
        "citation_precision_alce": sum(v.counting for v in verdicts) / citations if citations else None,
    }


def _ask(judge: Remembering, pairs: Iterator[Pair]) -> None:
    """Have pairs judged in one batch, so that later questions about them cost nothing."""
    judge.scores(list(pairs))


def _supported(judge: Remembering, sentence: CitedSentence, passages: Sequence[str]) -> bool:
    return judge.supported([_joint(sentence, passages)])[0]


def _joint(sentence: CitedSentence, passages: Sequence[str]) -> Pair:
    return Pair("\n".join(passages), sentence.text)


def _without(passages: Sequence[str], place: int) -> list[str]:
    return [*passages[:place], *passages[place + 1 :]]
