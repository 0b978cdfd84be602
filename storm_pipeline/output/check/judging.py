"""Judges every sentence of an article by the passages that it cites."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Literal

from storm_pipeline.evidence.editions import with_sentences
from storm_pipeline.evidence.judges.base import Judge, Label, Question, Span, Verdict
from storm_pipeline.evidence.judges.spans import with_spans
from storm_pipeline.output.check.matching import Match
from storm_pipeline.output.render.links import MOST_CITED, require_presentable
from storm_pipeline.text.words import has_word, tidy
from storm_pipeline.types import Article, Citation, Section, Sentence

Status = Label | Literal["uncited", "unread"]
"""A judge's label; ``uncited`` without a citation; ``unread`` if none of the cited sources could be read."""
STATUSES: tuple[Status, ...] = ("supported", "partly", "not", "contradicted", "uncited", "unread")


@dataclass(frozen=True)
class CheckedSentence:
    """A sentence and the verdict on it."""

    place: int  # among all sentences of the article in reading order, from 0
    heading: str  # the innermost heading above it; empty in the lead
    sentence: Sentence  # text and citations, with the deciding words as spans
    status: Status
    probability: float | None = None  # probability that its passages entail all of it, in [0, 1]; None if not judged
    reason: str = ""  # what is missing or contradicted; may be empty


@dataclass(frozen=True)
class Checked:
    """An article whose sentences were judged."""

    article: Article  # with the deciding words as spans of its citations
    sentences: tuple[CheckedSentence, ...]  # judged or unjudgeable sentences, in reading order
    judge: str  # name of the judge; see its calibration before relying on a figure
    threshold: float  # the judge's minimum probability of a supported sentence
    unread: Mapping[str, str]  # source id → why it was not read
    matches: tuple[Match, ...] = ()  # its references and the documents that fit them; empty without documents

    @property
    def counts(self) -> dict[Status, int]:
        """Number of sentences by status, in the order of :data:`STATUSES`."""
        counter = Counter(sentence.status for sentence in self.sentences)
        return {status: counter[status] for status in STATUSES}

    @property
    def support(self) -> float | None:
        """Share of the judged sentences that are supported, in [0, 1]; None if none was judged."""
        judged = [sentence for sentence in self.sentences if sentence.probability is not None]
        return sum(sentence.status == "supported" for sentence in judged) / len(judged) if judged else None

    def failing(self, statuses: Collection[str]) -> tuple[CheckedSentence, ...]:
        """Return the sentences with one of the statuses."""
        return tuple(sentence for sentence in self.sentences if sentence.status in statuses)


def check_article(
    article: Article,
    judge: Judge,
    unread: Mapping[str, str] | None = None,
    only: Collection[int] | None = None,
    most: int = MOST_CITED,
) -> Checked:
    """Judge each sentence by all passages that it cites and that were read; errors as for the judge.

    Args:
        unread: source id → why it was not read.
        only: places of the sentences to judge, from 0; the others stay unchanged. None: all.
        most: characters that may be compared, see :data:`MOST_CITED`.

    Raises DatasetError: the sentences cite more than may be compared.
    """
    unread = unread or {}
    texts = {s.id: s.text for source in article.sources if source.id not in unread for s in source.snippets}
    require_presentable(article, texts, most)
    sentences = list(with_spans(article).sentences())
    chosen = range(len(sentences)) if only is None else only
    readable = [[citation for citation in sentence.citations if citation.snippet_id in texts] for sentence in sentences]
    asked = [i for i, sentence in enumerate(sentences) if i in chosen and has_word(sentence.text) and readable[i]]
    questions = [
        Question(tidy(sentences[place].text), tuple(texts[citation.snippet_id] for citation in readable[place]))
        for place in asked
    ]
    verdicts = dict(zip(asked, judge.judge(questions), strict=True))
    places = count()

    def located(before: Sentence) -> Sentence:
        place = next(places)
        spans = verdicts[place].spans if place in verdicts else ()
        return _located(sentences[place], readable[place], spans) if place in chosen else before

    checked = with_sentences(article, located)
    rows = tuple(
        _row(place, heading, sentence, verdicts.get(place))
        for place, (heading, sentence) in enumerate(_with_headings(Section("", checked.lead, checked.sections)))
        if place in chosen and has_word(sentence.text)
    )
    return Checked(checked, rows, judge.name, judge.threshold, unread)


def _row(place: int, heading: str, sentence: Sentence, verdict: Verdict | None) -> CheckedSentence:
    if verdict is None:
        return CheckedSentence(place, heading, sentence, "unread" if sentence.citations else "uncited")
    return CheckedSentence(place, heading, sentence, verdict.label, verdict.probability, verdict.reason)


def _located(sentence: Sentence, cited: Sequence[Citation], spans: Sequence[Span]) -> Sentence:
    """Return the sentence with the decisive words as spans of its citations; none for unread sources."""
    spans_by_id = {
        c.snippet_id: tuple(sorted((span.start, span.end) for span in spans if span.passage == position)) or c.spans
        for position, c in enumerate(cited)
    }
    citations = (replace(citation, spans=spans_by_id.get(citation.snippet_id, ())) for citation in sentence.citations)
    return replace(sentence, citations=tuple(citations))


def _with_headings(section: Section) -> Iterator[tuple[str, Sentence]]:
    yield from ((section.heading, sentence) for paragraph in section.paragraphs for sentence in paragraph.sentences)
    for below in section.subsections:
        yield from _with_headings(below)
