"""Judges every sentence of an article by the passages that it cites."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Literal, get_args

from storm_pipeline.evidence.citations import number_references
from storm_pipeline.evidence.editions import with_sentences
from storm_pipeline.evidence.judges.base import Finding, Judge, Label, Outcome, Question, Span, Verdict
from storm_pipeline.evidence.judges.screen import ScreenJudge
from storm_pipeline.evidence.judges.spans import with_spans
from storm_pipeline.evidence.passages import Passage, with_source
from storm_pipeline.output.check.matching import Match
from storm_pipeline.output.check.reading import SourceNote
from storm_pipeline.output.render.links import MOST_CITED, require_presentable
from storm_pipeline.text.words import has_word, tidy
from storm_pipeline.types import Article, Citation, Section, Sentence, Snippet

Status = Outcome | Literal["uncited", "unread"]
"""A verdict; ``uncited`` without a citation; ``unread`` if none of the cited sources could be read."""
_READ: tuple[Label, ...] = get_args(Label)
STATUSES: tuple[Status, ...] = (*_READ, *get_args(Finding), "unjudged", "uncited", "unread")
NOT_READ = frozenset(STATUSES) - {*_READ, "uncited", "unread"}
"""Statuses of sentences that have sources, which nothing read for support."""


@dataclass(frozen=True)
class CheckedSentence:
    """A sentence and the verdict on it."""

    place: int  # among all sentences of the article in reading order, from 0
    heading: str  # the innermost heading above it; empty in the lead
    sentence: Sentence  # text and citations, with the deciding words as spans
    status: Status
    reason: str = ""  # what is missing or contradicted; may be empty


@dataclass(frozen=True)
class CheckedArticle:
    """An article whose sentences were judged."""

    article: Article  # with the deciding words as spans of its citations
    sentences: tuple[CheckedSentence, ...]  # judged or unjudgeable sentences, in reading order
    judge: str  # name of the judge
    unread: Mapping[str, str]  # source id → why it was not read
    matches: tuple[Match, ...] = ()  # its references and the documents that fit them; empty without documents
    notes: Mapping[str, SourceNote] = field(default_factory=dict)  # by source id

    @property
    def counts(self) -> dict[Status, int]:
        """Number of sentences by status, in the order of :data:`STATUSES`."""
        counter = Counter(sentence.status for sentence in self.sentences)
        return {status: counter[status] for status in STATUSES}

    @property
    def read(self) -> int:
        """Number of sentences that the judge read for support."""
        return len(self.failing(_READ))

    @property
    def support(self) -> float | None:
        """Share of the sentences read for support that are supported, in [0, 1]; None if none was read."""
        return self.counts["supported"] / self.read if self.read else None

    def failing(self, statuses: Collection[str]) -> tuple[CheckedSentence, ...]:
        """Return the sentences with one of the statuses."""
        return tuple(sentence for sentence in self.sentences if sentence.status in statuses)


def check_article(
    article: Article,
    judge: Judge,
    unread: Mapping[str, str] | None = None,
    only: Collection[int] | None = None,
    *,
    most: int = MOST_CITED,
    most_read: int = MOST_CITED,
) -> CheckedArticle:
    """Judge each sentence by all passages that it cites and that were read; errors as for the judge.

    Args:
        unread: source id → why it was not read.
        only: places of the sentences to judge, from 0, by what they cite alone, since a page may have lost its other
            passages; the others stay unchanged. None: all.
        most: characters that may be compared, see :data:`MOST_CITED`; the screen looks for a better passage up to it.
        most_read: characters of passages that the judge may read, those that the screen has read not counted again; the
            sentences that need more are "unjudged".

    Raises DatasetError: the sentences cite more than may be compared.
    """
    unread = unread or {}
    pages = {source.id: source.snippets for source in article.sources if source.id not in unread}
    texts = {s.id: s.text for snippets in pages.values() for s in snippets}
    require_presentable(article, texts, most)
    shown = {s.id: with_source(Passage(s.text, (s,))) for snippets in pages.values() for s in snippets}
    sentences = list(with_spans(article).sentences())
    chosen = range(len(sentences)) if only is None else only
    readable = [[citation for citation in sentence.citations if citation.snippet_id in texts] for sentence in sentences]
    asked = [i for i, sentence in enumerate(sentences) if i in chosen and has_word(sentence.text) and readable[i]]
    reason = f"a check reads {most_read:,} characters of passages: check this part of the article alone"
    verdicts = dict.fromkeys(asked, Verdict("unjudged", 0.0, reason=reason))
    questions: dict[int, Question] = {}
    is_screen, known = isinstance(judge, ScreenJudge), set[str]()
    for place in asked:
        for among in (pages, {}) if is_screen and most > 0 and only is None else ({},):
            question = _question(sentences[place], readable[place], among, shown)
            new = set(question.passages) - known
            if (size := sum(100 + len(passage) for passage in new)) <= most_read:
                questions[place] = question
                most -= sum(100 + len(passage) for passage in question.passages)
                most_read -= size
                known |= new if is_screen else set()
                break
    verdicts |= zip(questions, judge.judge(list(questions.values())), strict=True)
    numbers = number_references(article)
    found_in = {shown[s.id]: f"[{numbers[name]}]" for name in numbers for s in pages.get(name, ())}
    places = count()

    def located(before: Sentence) -> Sentence:
        place = next(places)
        spans = verdicts[place].spans if place in verdicts else ()
        return _located(sentences[place], readable[place], spans, texts) if place in chosen else before

    checked = with_sentences(article, located)
    rows: list[CheckedSentence] = []
    for place, (heading, sentence) in enumerate(_with_headings(Section("", checked.lead, checked.sections))):
        if place in chosen and has_word(sentence.text):
            verdict = verdicts.get(place)
            status: Status = verdict.label if verdict else "unread" if sentence.citations else "uncited"
            reason = verdict.reason or found_in.get(verdict.better, "") if verdict else ""
            rows.append(CheckedSentence(place, heading, sentence, status, reason))
    return CheckedArticle(checked, tuple(rows), judge.name, unread)


def _question(
    sentence: Sentence,
    cited: Sequence[Citation],
    pages: Mapping[str, Sequence[Snippet]],
    shown: Mapping[str, str],
) -> Question:
    """Return a sentence with the passages that it cites, and all others of these sources that ``pages`` has."""
    names = dict.fromkeys(citation.snippet_id for citation in cited)
    sources = dict.fromkeys(citation.source_id for citation in cited)
    names |= dict.fromkeys(snippet.id for source in sources for snippet in pages.get(source, ()))
    return Question(tidy(sentence.text), tuple(shown[name] for name in names))


def _located(
    sentence: Sentence, cited: Sequence[Citation], spans: Sequence[Span], texts: Mapping[str, str]
) -> Sentence:
    """Return the sentence with the decisive words as spans of its citations; none for unread sources."""
    spans_by_id = {}
    for position, (name, before) in enumerate({c.snippet_id: c.spans for c in cited}.items()):
        ends = ((s.start, min(s.end, len(texts[name]))) for s in spans if s.passage == position)  # without the source
        spans_by_id[name] = tuple(sorted((start, end) for start, end in ends if start < end)) or before
    citations = (replace(citation, spans=spans_by_id.get(citation.snippet_id, ())) for citation in sentence.citations)
    return replace(sentence, citations=tuple(citations))


def _with_headings(section: Section) -> Iterator[tuple[str, Sentence]]:
    yield from ((section.heading, sentence) for paragraph in section.paragraphs for sentence in paragraph.sentences)
    for below in section.subsections:
        yield from _with_headings(below)
