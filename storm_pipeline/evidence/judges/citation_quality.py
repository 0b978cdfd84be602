"""Citation recall and precision of sentences by a judge, with ALCE's leave-one-out (Gao et al. 2023, 3.2)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from storm_pipeline.evidence.judges.base import CachingJudge, Judge, Question


@dataclass(frozen=True)
class AlceVerdict:
    """Verdict on a sentence: whether its citations jointly support it, how many it has, and how many are precise."""

    supported: bool
    cited: int
    precise: int


def judge_alce(judge: Judge, sentences: Sequence[Question]) -> list[AlceVerdict]:
    """Judge sentences with the passages that they cite, in order, in at most three batches.

    A citation is precise if the sentence is supported, and it supports it alone or the others do not without it.
    """
    judge = CachingJudge.of(judge)
    judge.judge([_joint(sentence) for sentence in sentences if sentence.passages])
    several = [sentence for sentence in sentences if len(sentence.passages) > 1 and _supported(judge, sentence)]
    judge.judge([alone for sentence in several for alone in each_alone(sentence)])
    judge.judge([_joint(rest) for one in several for alone, rest in _left_out(one) if not _supported(judge, alone)])
    return [_verdict(judge, sentence) for sentence in sentences]


def each_alone(sentence: Question) -> list[Question]:
    """Return the sentence with each of its citations alone, in order."""
    return [Question(sentence.claim, (passage,)) for passage in sentence.passages]


def _verdict(judge: Judge, sentence: Question) -> AlceVerdict:
    cited = len(sentence.passages)
    if not cited or not _supported(judge, sentence):
        return AlceVerdict(supported=False, cited=cited, precise=0)
    precise = sum(_supported(judge, alone) or not _supported(judge, rest) for alone, rest in _left_out(sentence))
    return AlceVerdict(supported=True, cited=cited, precise=precise)


def _left_out(sentence: Question) -> Iterator[tuple[Question, Question]]:
    for i, alone in enumerate(each_alone(sentence)):
        yield alone, Question(sentence.claim, (*sentence.passages[:i], *sentence.passages[i + 1 :]))


def _supported(judge: Judge, sentence: Question) -> bool:
    (verdict,) = judge.judge([_joint(sentence)])
    return verdict.probability >= judge.threshold


def _joint(sentence: Question) -> Question:
    """Join the cited passages into one text, as ALCE judges them."""
    return Question(sentence.claim, ("\n".join(sentence.passages),))
