"""Judges every sentence of an article by the passages that it cites."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Literal

from storm_pipeline.errors import DatasetError
from storm_pipeline.evidence.editions import with_sentences
from storm_pipeline.evidence.judges.base import Judge, Label, Question, Span, Verdict
from storm_pipeline.evidence.judges.spans import with_spans
from storm_pipeline.text.words import has_word, tidy
from storm_pipeline.types import Article, Citation, Section, Sentence

Status = Label | Literal["uncited", "unread"]
"""A judge's label; ``uncited`` without a citation; ``unread`` where none of the sources cited could be read."""
MOST_COMPARED = 50_000_000
"""Characters of sentences and of the passages that they cite, for each citation, that a check compares at most."""
STATUSES: tuple[Status, ...] = ("supported", "partly", "not", "contradicted", "uncited", "unread")


@dataclass(frozen=True)
class CheckedSentence:
    """A sentence and what its sources say of it."""

    place: int  # among all sentences of the article in reading order, from 0
    heading: str  # the innermost heading above it; empty in the lead
    sentence: Sentence  # text and citations, whose spans are the words that decided
    status: Status
    probability: float | None = None  # that all of it follows from its passages, in [0, 1]; None where not judged
    reason: str = ""  # what is missing or contradicted; may be empty


@dataclass(frozen=True)
class Checked:
    """An article whose sentences were judged."""

    article: Article  # with the words that decided as the spans of its citations
    sentences: tuple[CheckedSentence, ...]  # those that were judged or could not be, in reading order
    judge: str  # name of the judge; see its calibration before relying on a figure
    threshold: float  # the judge's least probability of a supported sentence
    unread: Mapping[str, str]  # source id → why it was not read

    @property
    def counts(self) -> dict[Status, int]:
        """Number of sentences by status, in the order of :data:`STATUSES`."""
        found = Counter(own.status for own in self.sentences)
        return {status: found[status] for status in STATUSES}

    @property
    def support(self) -> float | None:
        """Share of the judged sentences that are supported, in [0, 1]; None if none was judged."""
        judged = [own for own in self.sentences if own.probability is not None]
        return sum(own.status == "supported" for own in judged) / len(judged) if judged else None

    def failing(self, statuses: Collection[str]) -> tuple[CheckedSentence, ...]:
        """Return the sentences with one of the statuses."""
        return tuple(own for own in self.sentences if own.status in statuses)


def check_article(
    article: Article,
    judge: Judge,
    unread: Mapping[str, str] | None = None,
    only: Collection[int] | None = None,
    most: int = MOST_COMPARED,
) -> Checked:
    """Judge each sentence by all passages that it cites and that were read; raises as the judge.

    Args:
        unread: source id → why it was not read.
        only: places of the sentences to judge, from 0; the others stay as they are, spans included. None: all.
        most: characters that may be compared, see :data:`MOST_COMPARED`.

    Raises DatasetError: the sentences cite more than may be compared.
    """
    unread = unread or {}
    texts = {own.id: own.text for source in article.sources if source.id not in unread for own in source.snippets}
    _require_comparable(article, texts, most)
    sentences = list(with_spans(article).sentences())
    chosen = range(len(sentences)) if only is None else only
    readable = [[one for one in own.citations if one.snippet_id in texts] for own in sentences]
    asked = [i for i, own in enumerate(sentences) if i in chosen and has_word(own.text) and readable[i]]
    questions = [
        Question(tidy(sentences[place].text), tuple(texts[one.snippet_id] for one in readable[place]))
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
        _row(place, heading, own, verdicts.get(place))
        for place, (heading, own) in enumerate(_with_headings(Section("", checked.lead, checked.sections)))
        if place in chosen and has_word(own.text)
    )
    return Checked(checked, rows, judge.name, judge.threshold, unread)


def _require_comparable(article: Article, texts: Mapping[str, str], most: int) -> None:
    """Check that the sentences do not cite more than may be compared. Raises DatasetError."""
    found = sum(
        len(sentence.text) + len(texts.get(one.snippet_id, ""))
        for sentence in article.sentences()
        for one in sentence.citations
    )
    if found > most:
        raise DatasetError(
            f"the sentences and the passages that they cite have {found:,} characters, of which a check compares "
            f"{most:,} at most: check parts of the article"
        )


def _row(place: int, heading: str, sentence: Sentence, verdict: Verdict | None) -> CheckedSentence:
    if verdict is None:
        return CheckedSentence(place, heading, sentence, "unread" if sentence.citations else "uncited")
    return CheckedSentence(place, heading, sentence, verdict.label, verdict.probability, verdict.reason)


def _located(sentence: Sentence, cited: Sequence[Citation], spans: Sequence[Span]) -> Sentence:
    """Return the sentence with the decisive words as spans of its citations; those of unread sources have none."""
    found = {
        own.snippet_id: tuple(sorted((one.start, one.end) for one in spans if one.passage == position)) or own.spans
        for position, own in enumerate(cited)
    }
    own = (replace(one, spans=found.get(one.snippet_id, ())) for one in sentence.citations)
    return replace(sentence, citations=tuple(own))


def _with_headings(section: Section) -> Iterator[tuple[str, Sentence]]:
    yield from ((section.heading, own) for paragraph in section.paragraphs for own in paragraph.sentences)
    for below in section.subsections:
        yield from _with_headings(below)
