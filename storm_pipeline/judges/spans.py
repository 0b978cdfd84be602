"""The words of passages that decide a claim, found by the words that they share with it, and what none of them says."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from storm_pipeline.judges.base import JudgeOfAnother, Question, Span, Verdict
from storm_pipeline.languages import detect, split_sentences, stem_set
from storm_pipeline.quantities import missing
from storm_pipeline.references.facts import covering


@dataclass(frozen=True)
class _Piece:
    """A sentence of a passage, and the claim's stems that it has."""

    span: Span
    shared: frozenset[str]


class ExplainingJudge(JudgeOfAnother):
    """Another judge; its verdicts get deciding words and, unless supported, what lacks, where it names neither."""

    def judge(self, questions: Sequence[Question]) -> list[Verdict]:
        """As :meth:`~storm_pipeline.judges.base.Judge.judge`."""
        return list(map(_explained, questions, self._judge.judge(questions)))


def _explained(question: Question, verdict: Verdict) -> Verdict:
    reason = verdict.reason or ("" if verdict.label == "supported" else lacking(question))
    return replace(verdict, spans=verdict.spans or deciding(question), reason=reason)


def lacking(question: Question) -> str:
    """The claim's quantities that no passage states, compared by value, as a reason; empty if there are none."""
    languages = [detect(text) for text in question.passages]
    own = detect(question.claim) or "en"
    found = missing(question.claim, question.passages, language=own, source_languages=languages)
    return f"{', '.join(f'“{one}”' for one in found)} not found" if found else ""


def deciding(question: Question) -> tuple[Span, ...]:
    """The sentences of the passages that together have most of a claim's words, the most important first.

    At most three; each adds a share of the claim's words of its own. Empty where no passage has any of them. Across
    languages names and numbers alone can be found.
    """
    language = detect(question.claim)
    wanted = stem_set(question.claim, language)
    pieces = [piece for i, text in enumerate(question.passages) for piece in _pieces(i, text, wanted)]
    return tuple(pieces[i].span for i in covering(wanted, [piece.shared for piece in pieces]))


def quoted(question: Question, quotation: str) -> tuple[Span, ...]:
    """Where the passages have a quotation word for word, but for white space and case; empty where none has it."""
    words = quotation.split()
    spans = (_exact(i, text, words) for i, text in enumerate(question.passages)) if words else ()
    return tuple(span for span in spans if span is not None)


def _exact(passage: int, text: str, words: Sequence[str]) -> Span | None:
    pattern = r"\s+".join(map(re.escape, words))
    found = re.search(pattern, text, re.I)
    return Span(passage, found.start(), found.end()) if found else None


def _pieces(passage: int, text: str, wanted: frozenset[str]) -> Iterator[_Piece]:
    """The sentences of a passage that have a word of the claim."""
    language, end = detect(text), 0
    for sentence in split_sentences(text, language):
        start = text.index(sentence, end)
        end = start + len(sentence)
        shared = stem_set(sentence, language) & wanted
        if shared:
            yield _Piece(Span(passage, start, end), shared)
