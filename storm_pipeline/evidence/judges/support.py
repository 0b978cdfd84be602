"""How well the sources of an article support it, by a run's judge."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from storm_pipeline.evidence.judges.base import Judge, JudgeWrapper, Question, Verdict
from storm_pipeline.evidence.judges.spans import lacking
from storm_pipeline.evidence.passages import Passage, with_source
from storm_pipeline.text.sentences import is_complete
from storm_pipeline.text.words import has_word
from storm_pipeline.types import Article, Sentence, Support, SupportError


@dataclass(frozen=True)
class AlceVerdict:
    """Verdict on a sentence: whether its citations jointly support it, how many it has, and how many are precise."""

    supported: bool
    cited: int
    precise: int


def judge_alce(judge: Judge, sentences: Sequence[Question]) -> list[AlceVerdict]:
    """Judge sentences with the passages that they cite, in order, in at most three batches.

    A citation is precise if the sentence is supported, and the citation supports it alone or is needed by the others.
    """
    judge = _Remembering(judge)
    judge.judge([_joint(question) for question in sentences if question.passages])
    several = [question for question in sentences if len(question.passages) > 1 and _supported(judge, question)]
    judge.judge([alone for question in several for alone in each_alone(question)])
    judge.judge([_joint(rest) for q in several for alone, rest in _left_out(q) if not _supported(judge, alone)])
    return [_verdict(judge, question) for question in sentences]


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
    return verdict.label == "supported"


class _Remembering(JudgeWrapper):
    """A judge that is asked each question once."""

    def judge(self, questions: Sequence[Question]) -> list[Verdict]:
        known: dict[Question, Verdict] = self.__dict__.setdefault("known", {})
        new = [question for question in dict.fromkeys(questions) if question not in known]
        known.update(zip(new, self._judge.judge(new) if new else (), strict=True))
        return [known[question] for question in questions]


def _joint(sentence: Question) -> Question:
    """Join the citations to one text, as ALCE judges them."""
    return Question(sentence.claim, ("\n".join(sentence.passages),))


def support_of(article: Article, judge: Judge) -> Support:
    """Measure an article's citations by a judge. Raises SettingsError, ModelError: the judge cannot judge."""
    judge = _Remembering(judge)
    sentences, questions = _questions(article)
    alce = judge_alce(judge, questions)
    alone = [each_alone(question) for question in questions]
    entailed = [[v.label == "supported" for v in judge.judge(questions_alone)] for questions_alone in alone]
    verdicts = judge.judge(questions)
    cited = [verdicts_alone for verdicts_alone in entailed if verdicts_alone]
    citations = sum(verdict.cited for verdict in alce)
    return Support(
        judge=judge.name,
        sentences=len(sentences),
        recall=_share(sum(verdict.supported for verdict in alce), len(sentences)),
        precision=_share(sum(verdict.precise for verdict in alce), citations),
        recall_alone=_share(sum(map(any, entailed)), len(sentences)),
        precision_alone=_share(sum(sum(verdicts_alone) / len(verdicts_alone) for verdicts_alone in cited), len(cited)),
        errors=_errors(zip(questions, verdicts, (verdict.supported for verdict in alce), strict=True)),
    )


def support_as_judged(article: Article, judge: Judge, known: Mapping[str, Verdict]) -> Support:
    """Measure an article's citations by the verdicts given during writing, by sentence; no judge is asked.

    Precision, and recall and precision of single citations, are unknown. Sentences without a verdict are unsettled.
    """
    sentences, questions = _questions(article)
    verdicts = [known.get(sentence.text) if sentence.citations else Verdict("not", 0.0) for sentence in sentences]
    judged = [(question, v, v.label == "supported") for question, v in zip(questions, verdicts, strict=True) if v]
    return Support(
        judge=judge.name,
        sentences=len(sentences),
        recall=_share(sum(supported for *_, supported in judged), len(judged)),
        errors=_errors(judged),
        unsettled=len(sentences) - len(judged),
    )


def _questions(article: Article) -> tuple[list[Sentence], list[Question]]:
    """Return the sentences with words, and each with its cited texts."""
    texts = {s.id: with_source(Passage(s.text, (s,))) for source in article.sources for s in source.snippets}
    sentences = [sentence for sentence in article.sentences() if has_word(sentence.text)]
    cited = (dict.fromkeys(citation.snippet_id for citation in sentence.citations) for sentence in sentences)
    shown = (tuple(texts[name] for name in names if name in texts) for names in cited)
    return sentences, [Question(sentence.text, passages) for sentence, passages in zip(sentences, shown, strict=True)]


def _errors(judged: Iterable[tuple[Question, Verdict, bool]]) -> tuple[tuple[SupportError, int], ...]:
    """Count the unsupported sentences of each class, the most frequent first."""
    return tuple(Counter(_class(question, verdict) for question, verdict, ok in judged if not ok).most_common())


def _class(question: Question, verdict: Verdict) -> SupportError:
    """Return the class of an unsupported sentence (paper, Table 9), by its form and the judge's label."""
    if not question.passages:
        return "no citation"
    if not is_complete(question.claim):
        return "wrongly split"
    if verdict.label == "contradicted" or lacking(question):
        return "inaccurate paraphrasing"
    return "irrelevant source" if verdict.label == "not" else "inaccurate paraphrasing"


def _share(part: float, whole: int) -> float | None:
    return part / whole if whole else None
