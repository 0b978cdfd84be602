"""Merge pages with the same text into one source; replace the sentences of an article."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from storm_pipeline.evidence.copies import (
    SHINGLE,
    Hashes,
    distinct_shingles,
    figures,
    is_within,
    numbers_in,
    repeats,
    same_texts,
    shared_shingles,
    unshared_runs,
)
from storm_pipeline.text.identity import host_of
from storm_pipeline.types import Article, Citation, Conversation, Paragraph, Section, Sentence, Snippet, Source

_SENTENCE = 2 * SHINGLE  # minimum run of new words for which a repeated passage is shown again
_MOST = 3  # maximum passages of a page that together may have the content of a passage of another page


@dataclass(frozen=True)
class Editions:
    """The pages of a run, grouped by text.

    The order of the pages has no effect. See :func:`storm_pipeline.evidence.copies.same_texts` for equality of texts.
    Two pages of one site have one text only under one title, since a site's menus are on all its pages.
    """

    pages: tuple[Source, ...]

    @cached_property
    def groups(self) -> tuple[tuple[Source, ...], ...]:
        """Groups of two or more pages with the same text; the first one, most similar to the others, represents it."""
        by_id = {page.id: page for page in self.pages}

        def may_be_same(first: str, other: str) -> bool:
            return _site(by_id[first]) != _site(by_id[other]) or by_id[first].title == by_id[other].title

        texts = {page.id: [snippet.text for snippet in page.snippets] for page in self.pages}
        return tuple(tuple(by_id[name] for name in group) for group in same_texts(texts, may_be_same))

    @property
    def most(self) -> int:
        """Size of the largest group; 1 if there is none."""
        return max(map(len, self.groups), default=1)

    @cached_property
    def _group_of(self) -> dict[str, tuple[Source, ...]]:
        return {page.id: group for group in self.groups for page in group}

    @cached_property
    def _snippets(self) -> dict[str, Snippet]:
        return {snippet.id: snippet for page in self.pages for snippet in page.snippets}

    @cached_property
    def _source_of(self) -> dict[str, str]:
        """Page → the page that is cited instead; a collection that contains the text is cited itself."""
        cited_as: dict[str, str] = {}
        for first, *others in self.groups:
            whole = _shingles(first)
            cited_as |= {page.id: first.id for page in (first, *others) if is_within(_shingles(page), whole)}
        return cited_as

    def one_per_text(self, ranked: Iterable[Snippet]) -> tuple[Snippet, ...]:
        """Drop from a ranking the snippets that repeat a page with the same text of which a snippet ranks higher."""
        shown: set[str] = set()
        kept = []
        for snippet in ranked:
            group = self._group_of.get(snippet.source_id, ())
            others = (page for page in group if page.id in shown and page.id != snippet.source_id)
            if not any(_is_part_of(page, snippet) for page in others):
                kept.append(snippet)
                shown.add(snippet.source_id)
        return tuple(kept)

    def cite_first_pages(self, conversation: Conversation) -> Conversation:
        """Return the conversation with citations of repeated content moved to the page that represents its group."""

        def answer(sentence: Sentence) -> Sentence:
            return _cite(sentence, (new for citation in sentence.citations for new in self._move_to_first(citation)))

        return conversation.with_answers(answer)

    def cite_once(self, sentence: Sentence) -> Sentence:
        """Return the sentence citing :meth:`sources`, with content that several pages share cited once."""
        kept: dict[Citation, Snippet | None] = {}
        for moved in (new for citation in sentence.citations for new in self._move_to_first(citation)):
            snippet = self._snippets.get(moved.snippet_id)
            if snippet is None or not any(known and self._are_copies(known, snippet) for known in kept.values()):
                kept[replace(moved, source_id=self._source_of.get(moved.source_id, moved.source_id))] = snippet
        return _cite(sentence, kept)

    def _are_copies(self, first: Snippet, second: Snippet) -> bool:
        """Return whether most of ``second``, and all its numbers, is in ``first``, of another page of one text."""
        group = self._group_of.get(first.source_id)
        if first.source_id == second.source_id or not group or group != self._group_of.get(second.source_id):
            return False
        is_repeated = is_within(distinct_shingles([second.text]), distinct_shingles([first.text]))
        return is_repeated and not any(map(figures, unshared_runs(second.text, [first.text])))

    def sources(self) -> tuple[Source, ...]:
        """Return one source per text, with the addresses and passages of its other pages; most passages first."""
        merged = {page.id: page for page in self.pages if self._source_of.get(page.id, page.id) == page.id}
        for first, *others in self.groups:
            snippets = [s for page in others if self._source_of.get(page.id) == first.id for s in page.snippets]
            also = tuple(sorted(page.url for page in others))
            merged[first.id] = replace(first, snippets=(*first.snippets, *snippets), also=also)
        return tuple(sorted(merged.values(), key=lambda source: (-len(source.snippets), source.url)))

    def _move_to_first(self, citation: Citation) -> tuple[Citation, ...]:
        """Return citations of the first page's passages with the same content; else the citation."""
        group, snippet = self._group_of.get(citation.source_id, ()), self._snippets.get(citation.snippet_id)
        if not group or snippet is None or group[0].id == snippet.source_id:
            return (citation,)
        return tuple(Citation(p.source_id, p.id) for p in _fewest_containing(group[0], snippet.text)) or (citation,)


def _cite(sentence: Sentence, citations: Iterable[Citation]) -> Sentence:
    distinct = tuple(dict.fromkeys(citations))
    return sentence if distinct == sentence.citations else replace(sentence, citations=distinct)


@lru_cache(1 << 12)
def _fewest_containing(page: Source, text: str) -> tuple[Snippet, ...]:
    """Return the fewest passages of a page (three at most) that together contain a text; empty if there are none."""
    alike = sorted(page.snippets, key=lambda snippet: (-shared_shingles(text, snippet.text), snippet.id))
    tried = (tuple(alike[:some]) for some in range(1, _MOST + 1))
    return next((some for some in tried if repeats(text, [snippet.text for snippet in some])), ())


def _is_part_of(page: Source, snippet: Snippet) -> bool:
    """Return whether a passage of another page is part of a page's text, without a new sentence or number.

    Other numbers than those in its shared parts must be on the page, or must not occur if the dates of the pages
    differ.
    """
    similar = [other for other in page.snippets if shared_shingles(snippet.text, other.text)]
    runs = unshared_runs(snippet.text, [other.text for other in similar])
    dates = {passage.published for passage in (snippet, *similar)} - {None}
    numbers = _numbers(page) if len(dates) < 2 else frozenset[str]()
    return all(len(run) < _SENTENCE and figures(run) <= numbers for run in runs)


@lru_cache(1 << 8)
def _numbers(page: Source) -> frozenset[str]:
    return frozenset[str]().union(*(numbers_in(snippet.text) for snippet in page.snippets))


def _shingles(page: Source) -> Hashes:
    return distinct_shingles(snippet.text for snippet in page.snippets)


def _site(page: Source) -> str:
    return host_of(page.url).removeprefix("www.")


def with_sentences(article: Article, change: Callable[[Sentence], Sentence]) -> Article:
    """Return the article with each sentence replaced; ``change`` is called in reading order, lead first."""

    def paragraphs(given: Iterable[Paragraph]) -> tuple[Paragraph, ...]:
        return tuple(Paragraph(tuple(map(change, paragraph.sentences))) for paragraph in given)

    def section(given: Section) -> Section:
        before = paragraphs(given.paragraphs)  # reading order: before the subsections
        return Section(given.heading, before, tuple(map(section, given.subsections)))

    lead = paragraphs(article.lead)
    return replace(article, lead=lead, sections=tuple(map(section, article.sections)))


def one_source_per_text(article: Article, editions: Editions) -> Article:
    """Return the article with its citations and sources merged by :class:`Editions`, one source per text."""
    conversations = tuple(conversation.with_answers(editions.cite_once) for conversation in article.conversations)
    merged = replace(article, sources=editions.sources(), conversations=conversations)
    return with_sentences(merged, editions.cite_once)


def sections_with(sections: Iterable[Section], change: Callable[[Sentence], Sentence | None]) -> tuple[Section, ...]:
    """Return the sections with each sentence replaced in reading order or left out, without empty parts."""
    edited: list[Section] = []
    for section in sections:
        changed = [[change(sentence) for sentence in paragraph.sentences] for paragraph in section.paragraphs]
        kept = (tuple(sentence for sentence in some if sentence is not None) for some in changed)
        filled = tuple(Paragraph(sentences) for sentences in kept if sentences)
        below = sections_with(section.subsections, change)
        if filled or below:
            edited.append(Section(section.heading, filled, below))
    return tuple(edited)


def keep_citations(sentence: Sentence, is_kept: Callable[[Citation], bool]) -> Sentence | None:
    """Return the sentence with its kept citations only; None if it had only others."""
    left = tuple(filter(is_kept, sentence.citations))
    return replace(sentence, citations=left) if left or not sentence.citations else None
