"""Equal texts and repeated passages: found, merged into one source, and shown once.

Editions of a text differ in the marks of their notes, in hyphens, and in a word here and there. A search shows such
passages once, but not one with another number, which may be a newer count. Only equal sentences are cited as one.
"""

import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import islice
from zlib import crc32

import numpy as np
import numpy.typing as npt

from storm_pipeline.text.identity import host_of
from storm_pipeline.text.markers import MARKS, mark_citations
from storm_pipeline.text.sentences import split_sentences
from storm_pipeline.text.words import folded_words, unify
from storm_pipeline.types import Article, Citation, Paragraph, Section, Sentence, Snippet, Source

SHINGLE = 6
"""Words of a shingle, the unit in which texts are compared."""
_CONTAINED = 0.5  # minimum share of the shorter text's shingles in a longer one that contains it
_POWERS = np.uint64(0x9E3779B97F4A7C15) ** np.arange(SHINGLE, dtype=np.uint64)
"""Factors of the polynomial modulo 2^64 that hashes the words of a shingle."""
_LAST_BITS = np.uint64((1 << 20) - 1)
_MOST_PAIRS = 50_000  # of texts with one that contains the other; the time to group them grows with their square
_MOST_EDITIONS = 32  # of a group, whose passages are compared with each other in each search
Hashes = npt.NDArray[np.uint64]


class PairsOfTexts:
    """Pairs of texts with one that contains the other, in a collection whose new texts alone are compared. Thread-safe.

    Results are those of a collection compared at once, unless it has more than 50,000 such pairs: further ones are not
    looked for, so that a text at very many addresses takes no more time.
    """

    def __init__(self) -> None:
        self._shingles_of: Mapping[str, Hashes] = {}
        self._likeness: dict[tuple[str, str], float] = {}
        self._lock = threading.Lock()

    def likeness(self, shingles_of: Mapping[str, Hashes]) -> dict[tuple[str, str], float]:
        """Return the pairs of ids, the lower one first, and their Jaccard similarity.

        ``shingles_of``: id → the distinct shingles of a text, the same object if it is as it was.
        """
        with self._lock:
            new = {name for name, hashes in shingles_of.items() if self._shingles_of.get(name) is not hashes}
            old = {pair: like for pair, like in self._likeness.items() if new.isdisjoint(pair)}
            kept = {pair: like for pair, like in old.items() if pair[0] in shingles_of and pair[1] in shingles_of}
            self._likeness = kept | dict(islice(_pairs(shingles_of, new), max(0, _MOST_PAIRS - len(kept))))
            self._shingles_of = shingles_of
            return self._likeness


def same_texts(
    texts: Mapping[str, Iterable[str]],
    may_be_same: Callable[[str, str], bool] = lambda *_: True,
    pairs: PairsOfTexts | None = None,
) -> list[tuple[str, ...]]:
    """Group ids of equal texts: more than half of the shorter text's six-word shingles are in the longer one.

    This holds for every two texts of a group: two different texts in a collection stay in separate groups, and the
    collection joins the more similar one. The most similar pairs (Jaccard) are grouped first, equal ones in the order
    of their ids, so that the order of ``texts`` decides nothing. A group has at most 32 texts.

    Args:
        texts: id → the passages of a text.
        may_be_same: whether the texts with two ids may be equal.
        pairs: those of an earlier state of the collection.

    Returns:
        The groups of two or more, in the order of their lowest ids. In each the text that is most like the others comes
        first; of equal ones the longer, then the lower id.
    """
    shingles_of = {name: distinct_shingles(parts) for name, parts in texts.items()}
    alike = (pairs or PairsOfTexts()).likeness(shingles_of)
    likeness = {pair: like for pair, like in alike.items() if may_be_same(*pair)}
    group_of: dict[str, frozenset[str]] = {}
    for pair in sorted(likeness, key=lambda pair: (-likeness[pair], pair)):
        first, other = (group_of.get(name, frozenset((name,))) for name in pair)
        may_join = first is not other and len(first) + len(other) <= _MOST_EDITIONS
        if may_join and all((min(a, b), max(a, b)) in likeness for a in first for b in other):
            group_of |= dict.fromkeys(first | other, first | other)

    def place(name: str) -> tuple[float, int, str]:
        others = (likeness[min(name, member), max(name, member)] for member in group_of[name] if member != name)
        return -sum(sorted(others)), -len(shingles_of[name]), name

    return [tuple(sorted(group, key=place)) for group in sorted(set(group_of.values()), key=min)]


def shingles(words: Sequence[str]) -> Hashes:
    """Return the hashes of all six-word shingles of a text in order; none for fewer words."""
    if len(words) < SHINGLE:
        return np.zeros(0, np.uint64)
    ids = np.fromiter(map(_hash_of_word, words), np.uint64, len(words))
    return np.convolve(ids + np.uint64(1), _POWERS, "valid")


def distinct_shingles(parts: Iterable[str]) -> Hashes:
    """Return the hashes of the distinct six-word shingles of a text's passages, ascending."""
    return _distinct_of(tuple(parts))


@lru_cache(1 << 16)
def _hash_of_word(word: str) -> int:
    return crc32(word.encode("utf-8", "surrogatepass"))


@lru_cache(1 << 12)
def _distinct_of(parts: tuple[str, ...]) -> Hashes:
    return np.unique(np.concatenate([np.zeros(0, np.uint64), *map(_of_passage, parts)]))


@lru_cache(1 << 15)
def _of_passage(text: str) -> Hashes:
    return shingles(folded_words(text))


def _pairs(shingles_of: Mapping[str, Hashes], new: Collection[str]) -> Iterator[tuple[tuple[str, str], float]]:
    """Find the pairs of ids, the lower one first, at least one of them new, with a text that contains the other.

    Yields also their Jaccard similarity. Uses an inverted index of shingles that a new text shares with others.
    """
    names = sorted(name for name, distinct in shingles_of.items() if len(distinct))
    if not any(len(shingles_of[name]) for name in new):
        return
    sizes = np.array([len(shingles_of[name]) for name in names])
    every = np.concatenate([shingles_of[name] for name in names])
    ends = np.zeros(1 << 20, bool)  # the last bits of shingles of new texts, which few of the others share
    ends[np.concatenate([shingles_of[name] for name in new]) & _LAST_BITS] = True
    places = np.flatnonzero(ends[every & _LAST_BITS])
    every, rows = every[places], np.searchsorted(np.cumsum(sizes), places, side="right")
    ordered = np.sort(every)
    known = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])  # those of several texts
    if not len(known):
        return
    columns = np.searchsorted(known, every)
    is_shared = known[np.minimum(columns, len(known) - 1)] == every
    columns, rows = columns[is_shared], rows[is_shared]
    begins = np.searchsorted(rows, np.arange(len(names) + 1))
    for i in (i for i, name in enumerate(names) if name in new and begins[i] < begins[i + 1]):
        has = np.zeros(len(known), bool)
        has[columns[begins[i] : begins[i + 1]]] = True
        both = np.bincount(rows[has[columns]], minlength=len(names))
        for j in np.flatnonzero(both > _CONTAINED * np.minimum(sizes[i], sizes)).tolist():
            if j < i or (j > i and names[j] not in new):
                first, other = sorted((names[i], names[j]))
                yield (first, other), float(both[j] / (sizes[i] + sizes[j] - both[j]))


def without_duplicates(texts: Sequence[str], pages: Sequence[str]) -> list[tuple[int, ...]]:
    """Group positions of texts with one that repeats nothing, which comes first; in the order of the lowest positions.

    A text repeats an earlier one of another page that has all of its sentences: with another word a sentence may say
    the opposite. It repeats another one of its own page, earlier or later, that has its words in a row.

    Args:
        pages: for each text, the id of its page.
    """
    sentences = [frozenset(_sentences(text)) for text in texts]
    shown: dict[int, list[int]] = {}
    having: dict[str, list[int]] = defaultdict(list)  # page, sentence → positions of texts
    for i, page in enumerate(pages):
        keys, text = {page, *sentences[i]}, _glue(texts[i])
        near = {j: _glue(texts[j]) if pages[j] == page else "" for key in keys for j in having[key] if j in shown}
        first = min((j for j in near if sentences[i] <= sentences[j] or (text and text in near[j])), default=None)
        if first is not None:
            shown[first].append(i)
            continue
        shown[i] = [i, *(k for j in sorted(near) if near[j] and near[j] in text for k in shown.pop(j))]
        for key in keys:
            having[key].append(i)
    return [tuple(group) for group in sorted(shown.values(), key=min)]


def _unshared_runs(text: str, others: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the runs of a text's words that are in no shingle of others, also with other hyphens or spaces."""
    words, distinct = _words(text), list(map(_distinct, others))
    known = distinct[0] if len(distinct) == 1 else frozenset[int]().union(*distinct)
    ends = [0, *(start + SHINGLE for start, shingle in enumerate(_in_order(text)) if shingle in known)]
    begins = [*(end - SHINGLE for end in ends[1:]), len(words)]
    glued = " ".join(map(_glue, others))
    for i, j in zip(ends, begins, strict=True):
        if i < j and "".join(words[max(0, i - 1) : j + 1]) not in glued:
            yield words[i:j]


def _figures(words: Sequence[str]) -> frozenset[str]:
    """Return the words that begin with a digit."""
    return frozenset(word for word in words if word[0].isdigit())


def _share_words(text: str, other: str) -> bool:
    """Return whether two texts share a shingle; if one is shorter than that, whether the other has it."""
    shorter, two = sorted((_words(text), _words(other)), key=len)
    if len(shorter) >= SHINGLE:
        return not _distinct(text).isdisjoint(_distinct(other))
    return f" {' '.join(shorter)} " in f" {' '.join(two)} "


@lru_cache(1 << 12)
def _words(text: str) -> tuple[str, ...]:
    """Return the words of a text for comparison, without note marks, whose numbers differ between editions."""
    return tuple(folded_words(MARKS.sub(" ", mark_citations(text, 0))))


@lru_cache(1 << 12)
def _glue(text: str) -> str:
    return "".join(_words(text))


@lru_cache(1 << 12)
def _in_order(text: str) -> tuple[int, ...]:
    return tuple(shingles(_words(text)).tolist())


@lru_cache(1 << 12)
def _distinct(text: str) -> frozenset[int]:
    return frozenset(_in_order(text))


_SENTENCE = 2 * SHINGLE  # minimum run of new words for which a repeated passage is shown again


@dataclass(frozen=True)
class Editions:
    """The pages of a run, grouped by text.

    The order of the pages has no effect. See :func:`storm_pipeline.evidence.editions.same_texts` for equality of texts.
    Two pages of one site have one text only under one title, since a site's menus are on all its pages.
    """

    pages: tuple[Source, ...]
    pairs: PairsOfTexts = field(default_factory=PairsOfTexts, compare=False, repr=False)
    cited: tuple[str, ...] = ()  # ids of pages, which come first in their groups

    @cached_property
    def groups(self) -> tuple[tuple[Source, ...], ...]:
        """Groups of two or more pages with the same text; cited ones first, then those most similar to the others."""
        by_id = {page.id: page for page in self.pages}

        def may_be_same(first: str, other: str) -> bool:
            return _site(by_id[first]) != _site(by_id[other]) or by_id[first].title == by_id[other].title

        texts = {page.id: [snippet.text for snippet in page.snippets] for page in self.pages}
        place = {name: -number for number, name in enumerate(reversed(self.cited), 1)}
        groups = same_texts(texts, may_be_same, self.pairs)
        return tuple(tuple(by_id[n] for n in sorted(group, key=lambda n: place.get(n, 0))) for group in groups)

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
    def _passages_of(self) -> dict[str, dict[str, Snippet]]:
        """First page of a group → its sentences, each with the first of its passages that has it."""
        return {first.id: {s: p for p in first.snippets[::-1] for s in _sentences(p.text)} for first, *_ in self.groups}

    @cached_property
    def _source_of(self) -> dict[str, str]:
        """Page → the page that is cited instead: the first of its group, if it has each of the page's sentences."""
        pairs = ((page, first.id) for first, *others in self.groups for page in others)
        return {page.id: first for page, first in pairs if all(self._saying(first, s.text) for s in page.snippets)}

    def one_per_text(self, ranked: Iterable[Snippet]) -> tuple[Snippet, ...]:
        """Drop the snippets of a page whose text is that of another page with a higher-ranked snippet."""
        shown: set[str] = set()
        kept = []
        for snippet in ranked:
            group = self._group_of.get(snippet.source_id, ())
            others = (page for page in group if page.id in shown and page.id != snippet.source_id)
            if not any(_is_part_of(page, snippet) for page in others):
                kept.append(snippet)
                shown.add(snippet.source_id)
        return tuple(kept)

    def cite_once(self, sentence: Sentence) -> Sentence:
        """Return the sentence citing :meth:`sources`, with content that several pages share cited once."""
        kept: dict[Citation, Snippet | None] = {}
        for moved in (new for citation in sentence.citations for new in self._move_to_first(citation)):
            snippet = self._snippets.get(moved.snippet_id)
            if snippet is None or not any(known and self._are_copies(known, snippet) for known in kept.values()):
                kept[replace(moved, source_id=self._source_of.get(moved.source_id, moved.source_id))] = snippet
        return replace(sentence, citations=tuple(kept))

    def _are_copies(self, first: Snippet, second: Snippet) -> bool:
        """Return whether all sentences of ``second`` are in ``first``, of another page of one text."""
        group, other = (self._group_of.get(snippet.source_id) for snippet in (first, second))
        is_elsewhere = first.source_id != second.source_id and group is not None and group == other
        return is_elsewhere and _sentences_of([second]) <= _sentences_of([first])

    def sources(self, cited: Collection[str] = ()) -> tuple[Source, ...]:
        """Return one source per text, with the addresses of the pages that have all that is cited of it.

        A page with a sentence of its own is a source of its own, so that nobody's words are cited as another's. Those
        with most passages come first. ``cited``: ids of passages.
        """
        merged = {page.id: page for page in self.pages if page.id not in self._source_of}
        for first, *others in self.groups:
            needed = _sentences_of([snippet for snippet in first.snippets if snippet.id in cited] or first.snippets)
            also = tuple(sorted(page.url for page in others if needed <= _sentences_of(page.snippets)))
            merged[first.id] = replace(first, also=also)
        return tuple(sorted(merged.values(), key=lambda source: (-len(source.snippets), source.url)))

    def _move_to_first(self, citation: Citation) -> tuple[Citation, ...]:
        """Return citations of the first page's passages that have all sentences of the cited one; else the citation."""
        group, snippet = self._group_of.get(citation.source_id, ()), self._snippets.get(citation.snippet_id)
        if not group or snippet is None or group[0].id == snippet.source_id:
            return (citation,)
        return tuple(Citation(p.source_id, p.id) for p in self._saying(group[0].id, snippet.text)) or (citation,)

    def _saying(self, first: str, text: str) -> tuple[Snippet, ...]:
        """Return the passages of the first page of a group that have all sentences of a text; empty if one is not."""
        passages = [self._passages_of[first].get(sentence) for sentence in _sentences(text)]
        return tuple(dict.fromkeys(passage for passage in passages if passage)) if all(passages) else ()


def _sentences_of(snippets: Iterable[Snippet]) -> set[str]:
    return {sentence for snippet in snippets for sentence in _sentences(snippet.text)}


@lru_cache(1 << 14)
def _sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of a text without note marks, whose numbers differ between editions."""
    return tuple(split_sentences(" ".join(unify(MARKS.sub(" ", mark_citations(text, 0))).split())))


def _is_part_of(page: Source, snippet: Snippet) -> bool:
    """Return whether a passage of another page is part of a page's text, without a new sentence or number.

    Other numbers than those in its shared parts must be on the page, or must not occur if the dates of the pages
    differ.
    """
    similar = [other for other in page.snippets if _share_words(snippet.text, other.text)]
    runs = _unshared_runs(snippet.text, [other.text for other in similar])
    dates = {passage.published for passage in (snippet, *similar)} - {None}
    numbers = _numbers(page) if len(dates) < 2 else frozenset[str]()
    return all(len(run) < _SENTENCE and _figures(run) <= numbers for run in runs)


@lru_cache(1 << 8)
def _numbers(page: Source) -> frozenset[str]:
    return frozenset[str]().union(*(_figures(_words(snippet.text)) for snippet in page.snippets))


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
    """Return the article with its citations and sources merged by :class:`Editions`, one source per text.

    A text is cited from the page that the article cites first for it: a longer copy does not take its place.
    """
    order = (citation.source_id for sentence in article.sentences() for citation in sentence.citations)
    editions = replace(editions, cited=tuple(dict.fromkeys(order)))
    conversations = tuple(conversation.with_answers(editions.cite_once) for conversation in article.conversations)
    merged = with_sentences(replace(article, conversations=conversations), editions.cite_once)
    cited = {citation.snippet_id for sentence in merged.sentences() for citation in sentence.citations}
    return replace(merged, sources=editions.sources(cited))


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
