"""Citation recall and precision as ALCE defines them, with leave-one-out (Gao et al. 2023, section 3.2).

Not to be confused with WikiGenBench's measures of the same names (:mod:`.citation_wikigenbench`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from storm_bench.cited_sentences import UNIT, CitedSentence, cited_sentences
from storm_bench.judges.base import CachingJudge, Pair, SupportJudge
from storm_bench.metrics.base import Measure, Score
from storm_bench.types import Case


@dataclass(frozen=True)
class AlceVerdict:
    """Verdict on a sentence: whether its citations jointly support it, how many it has, and how many are precise."""

    supported: bool
    cited: int
    precise: int


class CitationAlce:
    """Citation recall and precision (ALCE): the citation quality in STORM's Table 4.

    Recall is the share of all sentences supported by their citations, concatenated in order; a sentence without
    citations is unsupported. Precision is the share of all citations that are precise: the sentence is supported, and
    the citation supports it alone or the others do not without it. Both are None for an article without sentences or
    without sources; precision is also None without citations (0 in ALCE's code).

    Departures: sentences are split by pysbd instead of NLTK; the first condition of precision asks the same question as
    recall, where the official STORM code asks whether the source *partially* supports the claim.

    Args:
        most_citations: only the first this many citations of a sentence count; None: all (ALCE's tables use 3).
        expand: let uncited sentences inherit a neighbour's citations, see :func:`.cited_sentences.cited_sentences`.
    """

    name = "citation_alce"
    measures = (Measure("citation_recall_alce"), Measure("citation_precision_alce"))
    rests_on = (("judge", measures),)
    reference = "Gao et al. 2023 (ALCE), section 3.2; used in Shao et al. 2024 (STORM), section 4.2 and Table 4"

    def __init__(
        self, judge: SupportJudge, *, lead: bool = True, most_citations: int | None = None, expand: bool = False
    ) -> None:
        self._judge = CachingJudge.of(judge)
        self._lead = lead
        self._most = most_citations
        self._expand = expand

    @property
    def parameters(self) -> Mapping[str, str | int | float]:
        """The judge and its parameters, and this metric's own."""
        own: dict[str, str | int | float] = {
            "citation": UNIT,
            "lead": int(self._lead),
            "most_citations": self._most or "all",
        }
        own |= {"expansion": "official -p"} if self._expand else {}
        return {"judge": self._judge.name, **self._judge.parameters, **own}

    def score(self, cases: Sequence[Case]) -> list[Score]:
        """Judge all sentences of all cases in at most three batches."""
        articles = [
            [
                CitedSentence(s.text, s.passages[: self._most])
                for s in cited_sentences(case.article, lead=self._lead, expand=self._expand)
            ]
            for case in cases
        ]
        verdicts = iter(judge_alce(self._judge, [sentence for own in articles for sentence in own]))
        return [_score([next(verdicts) for _ in own]) for own in articles]


def judge_alce(judge: SupportJudge, sentences: Sequence[CitedSentence]) -> list[AlceVerdict]:
    """ALCE's verdicts on sentences, in order."""
    judge = CachingJudge.of(judge)
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


def _verdict(judge: CachingJudge, sentence: CitedSentence) -> AlceVerdict:
    passages = sentence.passages
    if not passages or not _supported(judge, sentence, passages):
        return AlceVerdict(supported=False, cited=len(passages), precise=0)
    if len(passages) == 1:
        return AlceVerdict(supported=True, cited=1, precise=1)
    precise = sum(
        _supported(judge, sentence, (passage,)) or not _supported(judge, sentence, _without(passages, i))
        for i, passage in enumerate(passages)
    )
    return AlceVerdict(supported=True, cited=len(passages), precise=precise)


def _score(verdicts: Sequence[AlceVerdict]) -> Score:
    citations = sum(verdict.cited for verdict in verdicts)
    return {
        "citation_recall_alce": sum(v.supported for v in verdicts) / len(verdicts) if verdicts else None,
        "citation_precision_alce": sum(v.precise for v in verdicts) / citations if citations else None,
    }


def _ask(judge: CachingJudge, pairs: Iterator[Pair]) -> None:
    """Judge pairs in one batch, so that later lookups come from the cache."""
    judge.scores(list(pairs))


def _supported(judge: CachingJudge, sentence: CitedSentence, passages: Sequence[str]) -> bool:
    return judge.supported([_joint(sentence, passages)])[0]


def _joint(sentence: CitedSentence, passages: Sequence[str]) -> Pair:
    return Pair("\n".join(passages), sentence.text)


def _without(passages: Sequence[str], index: int) -> list[str]:
    return [*passages[:index], *passages[index + 1 :]]
