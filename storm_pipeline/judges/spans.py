"""The words of passages that decide a claim, found by those that they share with it, and what no passage says."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from storm_pipeline.judges.base import JudgeWrapper, Question, Span, Verdict
from storm_pipeline.languages import detect, split_sentences, stem_set
from storm_pipeline.references.changing import with_sentences
from storm_pipeline.references.facts import covering
from storm_pipeline.text.quantities import missing
from storm_pipeline.types import Article, Citation, Sentence


class ExplainingJudge(JudgeWrapper):
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
    return tuple(pieces[i][0] for i in covering(wanted, [shared for _, shared in pieces]))


def quoted(question: Question, quotation: str) -> tuple[Span, ...]:
    """Where the passages have a quotation word for word, but for white space and case; empty where none has it."""
    if not quotation.strip():
        return ()
    pattern = r"\s+".join(map(re.escape, quotation.split()))
    found = ((i, re.search(pattern, text, re.I)) for i, text in enumerate(question.passages))
    return tuple(Span(i, own.start(), own.end()) for i, own in found if own)


def with_spans(article: Article) -> Article:
    """The article whose citations say where in their passages the words stand that they rest on.

    Spans that are there already stay: a judge that read the passage knows better. Where passage and sentence share no
    word, as between languages, a citation keeps none.
    """
    texts = {snippet.id: snippet.text for source in article.sources for snippet in source.snippets}

    def located(claim: str, citation: Citation) -> Citation:
        if citation.spans or citation.snippet_id not in texts:
            return citation
        found = deciding(Question(claim, (texts[citation.snippet_id],)))
        return replace(citation, spans=tuple(sorted((one.start, one.end) for one in found)))

    def sentence(own: Sentence) -> Sentence:
        return replace(own, citations=tuple(located(own.text, citation) for citation in own.citations))

    return with_sentences(article, sentence)


def _pieces(passage: int, text: str, wanted: frozenset[str]) -> Iterator[tuple[Span, frozenset[str]]]:
    """The sentences of a passage that have a word of the claim, each with the claim's stems that it has."""
    language = detect(text)
    for start, end in _spans_of_sentences(text):
        if shared := stem_set(text[start:end], language) & wanted:
            yield Span(passage, start, end), shared


def _spans_of_sentences(text: str) -> Iterator[tuple[int, int]]:
    """Where each sentence of a text starts and ends."""
    end = 0
    for sentence in split_sentences(text, detect(text)):
        start = text.index(sentence, end)
        end = start + len(sentence)
        yield start, end
