"""The words of passages that decide a claim, found by shared words, and the claim's quantities that no passage has."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from storm_pipeline.evidence.editions import with_sentences
from storm_pipeline.evidence.facts import find_cover
from storm_pipeline.evidence.judges.base import JudgeWrapper, Question, Span, Verdict
from storm_pipeline.text.languages import detect, split_sentences, stem_set
from storm_pipeline.text.quantities import missing
from storm_pipeline.types import Article, Sentence, Spans


class ExplainingJudge(JudgeWrapper):
    """A judge that adds the deciding words and, for unsupported claims, a reason if the wrapped judge gives none."""

    def judge(self, questions: Sequence[Question]) -> list[Verdict]:
        """Judge as :meth:`~storm_pipeline.evidence.judges.base.Judge.judge`."""
        verdicts = self._judge.judge(questions)
        together = sorted(range(len(questions)), key=lambda i: questions[i].passages)  # so that each is split once
        explained = {i: _explained(questions[i], verdicts[i]) for i in together}
        return [explained[i] for i in range(len(questions))]


def _explained(question: Question, verdict: Verdict) -> Verdict:
    reason = verdict.reason or ("" if verdict.label == "supported" else lacking(question))
    return replace(verdict, spans=verdict.spans or deciding(question), reason=reason)


def lacking(question: Question) -> str:
    """Name the claim's quantities that no passage states, by value; empty if there are none."""
    languages = [detect(text) for text in question.passages]
    language = detect(question.claim) or "en"
    quantities = missing(question.claim, question.passages, language=language, source_languages=languages)
    return f"{', '.join(f'“{quantity}”' for quantity in quantities)} not found" if quantities else ""


def deciding(question: Question) -> tuple[Span, ...]:
    """Return at most three sentences of the passages that have most of a claim's words, the most important first.

    Empty without matching words. Across languages, only names and numbers match.
    """
    wanted = stem_set(question.claim, detect(question.claim))
    pieces = [piece for i, text in enumerate(question.passages) for piece in _pieces(i, text, wanted)]
    return tuple(pieces[i][0] for i in find_cover(wanted, [shared for _, shared in pieces]))


def quoted(question: Question, quotation: str) -> tuple[Span, ...]:
    """Find a quotation in the passages, word for word except for white space and case."""
    if not quotation.strip():
        return ()
    pattern = r"\s+".join(map(re.escape, quotation.split()))
    matches = ((i, re.search(pattern, text, re.I)) for i, text in enumerate(question.passages))
    return tuple(Span(i, match.start(), match.end()) for i, match in matches if match)


def with_spans(article: Article) -> Article:
    """Add to each citation the positions of the deciding words in its passage; spans from a judge are kept."""
    texts = {snippet.id: snippet.text for source in article.sources for snippet in source.snippets}
    cited = {(c.snippet_id, s.text) for s in article.sentences() for c in s.citations if not c.spans}
    spans = {
        (name, claim): tuple(sorted((span.start, span.end) for span in deciding(Question(claim, (texts[name],)))))
        for name, claim in sorted(cited)  # each passage is split once
        if name in texts
    }

    def located(s: Sentence) -> Sentence:
        pairs = ((c, c.spans or spans.get((c.snippet_id, s.text), ())) for c in s.citations)
        return replace(s, citations=tuple(replace(citation, spans=words) for citation, words in pairs))

    return with_sentences(article, located)


def sentences_around(text: str, spans: Spans) -> list[str]:
    """Return the words at the sorted spans of a passage as whole sentences; the whole passage if there are none."""
    pieces = _stemmed(text) if spans else ()
    starts, ends = [0, *(piece[0] for piece in pieces)], [*(piece[1] for piece in pieces), len(text)]
    whole = ((starts[bisect_right(starts, a) - 1], ends[bisect_left(ends, b)]) for a, b in spans)
    return [text[start:end] for start, end in dict.fromkeys(whole)] or [text]


def _pieces(passage: int, text: str, wanted: frozenset[str]) -> Iterator[tuple[Span, frozenset[str]]]:
    """Yield the sentences of a passage that share stems with the claim, each with these stems."""
    for start, end, stems in _stemmed(text):
        if shared := stems & wanted:
            yield Span(passage, start, end), shared


@lru_cache(maxsize=8)  # many sentences cite the same passages
def _stemmed(text: str) -> tuple[tuple[int, int, frozenset[str]], ...]:
    """Return the sentences of a passage: start, end, stems."""
    language, end = detect(text), 0
    pieces: list[tuple[int, int, frozenset[str]]] = []
    for sentence in split_sentences(text, language):
        start = text.index(sentence, end)
        end = start + len(sentence)
        pieces.append((start, end, stem_set(sentence, language)))
    return tuple(pieces)
