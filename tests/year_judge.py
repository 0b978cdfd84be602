"""A judge for tests that looks at years alone."""

from collections.abc import Sequence

from storm_pipeline.evidence.judges.base import Question, Span, Verdict
from storm_pipeline.text.words import has_word


class YearJudge:
    """Says "not" where a claim's year is in no passage; its deciding words are the passage's first ten characters."""

    name, threshold, parameters = "years", 0.5, {}

    def judge(self, questions: Sequence[Question]) -> list[Verdict]:
        return [self._verdict(one) for one in questions]

    def _verdict(self, question: Question) -> Verdict:
        if not any(map(has_word, question.passages)):
            return Verdict("not", 0.0)
        years = [word.strip(".,") for word in question.claim.split() if word.strip(".,").isdigit()]
        lacking = [year for year in years if not any(year in text for text in question.passages)]
        spans = (Span(0, 0, min(10, len(question.passages[0]))),)
        return Verdict("not", 0.1, spans, f"{lacking[0]} not found") if lacking else Verdict("supported", 0.9, spans)
