"""Assignment of passages to the citations of an article, from the available pages."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from storm_pipeline.evidence.editions import with_sentences
from storm_pipeline.text.chunks import chunks
from storm_pipeline.text.identity import source_id
from storm_pipeline.text.lexical import terms
from storm_pipeline.types import Article, Citation, Report, Sentence, Snippet, Source


class PassageIndex:
    """An index of a page's passages by content words, since many sentences may cite a long page."""

    def __init__(self, passages: Sequence[str]) -> None:
        import numpy as np

        self._passages = passages
        self._numbers: dict[str, int] = {}  # word → number, in order of occurrence
        pairs = [
            (self._numbers.setdefault(word, len(self._numbers)), place)
            for place, passage in enumerate(passages)
            for word in dict.fromkeys(terms(passage))
        ]
        table = np.array(pairs, dtype=np.int32).reshape(-1, 2)
        words, places = table[np.argsort(table[:, 0], kind="stable")].T
        ends = np.searchsorted(words, np.arange(1, len(self._numbers)))
        self._places = np.split(places, ends)  # word's number → places of the passages that contain it

    def best(self, wanted: frozenset[str], most: int) -> list[str]:
        """Return at most ``most`` passages, sorted by the number of shared words, then by position."""
        import numpy as np

        places = [self._places[self._numbers[word]] for word in self._numbers.keys() & wanted]
        if not places:
            return list(self._passages[:most])
        shared, best = np.bincount(np.concatenate(places), minlength=len(self._passages)), []
        for _ in range(min(most, len(self._passages))):
            best.append(int(shared.argmax()))
            shared[best[-1]] = -1
        return [self._passages[place] for place in best]


_PASSAGE = 150  # maximum words of a cited passage, as in our own runs
_CACHED_STATEMENTS = 16  # cached sentences


@dataclass(frozen=True)
class Reference:
    """A page that an article cites or may cite."""

    url: str  # its address; empty if the article states none; never empty with a text
    title: str = ""  # its title; may be empty
    text: str = ""  # the page as plain text; empty if unknown
    entry: str = field(default="", compare=False)  # all that the article states of it, as plain text; empty if unknown


@dataclass(frozen=True)
class NumberedArticle:
    """An article as read from a file: it cites the numbers of a list of references."""

    article: Article  # the source id of a citation is the number of a reference
    references: Mapping[int, Reference] | None  # by their numbers; None if the article contains its passages
    invented: int = 0  # number of removed citations of unknown numbers


class AvailablePages:
    """Pages with known text.

    Args:
        pages: ignored without an address or a text; of two with one address, the later one counts.
        most: maximum passages per cited page and statement, >= 1.
    """

    def __init__(self, pages: Iterable[Reference] = (), most: int = 1) -> None:
        self._most = most
        self._pages = {source_id(page.url): page for page in pages if page.url and page.text.strip()}
        self._passages: dict[str, PassageIndex] = {}  # text → index of its passages

    def passages(self, statement: str, reference: Reference) -> tuple[Snippet, ...]:
        """Return the passages of up to 150 words with most of a statement's content words, best first.

        They are from the reference's text, else from its page; empty if neither is available.
        """
        page = reference if reference.text.strip() else self._pages.get(source_id(reference.url))
        if page is None:
            return ()
        if (passages := self._passages.get(page.text)) is None:
            passages = self._passages[page.text] = PassageIndex(chunks(page.text, _PASSAGE))
        best = passages.best(_distinct_terms(statement), self._most)
        return tuple(Snippet(page.url, page.title, text, origin="page") for text in best)

    def cite(self, imported: NumberedArticle) -> Article:
        """Return the article citing the best passages of its references; the report counts citations without any."""
        if imported.references is None:
            return imported.article
        cited: dict[int, list[Snippet]] = {}
        invented, unavailable = imported.invented, 0
        for index, sentence in enumerate(imported.article.sentences()):
            numbers = [int(citation.source_id) for citation in sentence.citations]
            listed = [imported.references[number] for number in numbers if number in imported.references]
            distinct = {id(reference): self.passages(sentence.text, reference) for reference in listed}
            passage_lists = [distinct[id(reference)] for reference in listed]
            cited[index] = [passage for passages in passage_lists for passage in passages]
            invented += len(numbers) - len(listed)
            unavailable += passage_lists.count(())
        report = Report(invented_citations=invented, unavailable_citations=unavailable)
        return with_citations(replace(imported.article, report=report), cited)


def with_citations(article: Article, cited: Mapping[int, Iterable[Snippet]]) -> Article:
    """Return the article with new citations and sources: ``cited``, by the sentence's index in reading order."""
    numbers = itertools.count()

    def sentence(old: Sentence) -> Sentence:
        passages = cited.get(next(numbers), ())
        return replace(old, citations=tuple(dict.fromkeys(Citation(p.source_id, p.id) for p in passages)))

    return with_sentences(replace(article, sources=_sources(cited)), sentence)


def _sources(cited: Mapping[int, Iterable[Snippet]]) -> tuple[Source, ...]:
    pages: dict[str, dict[str, Snippet]] = {}
    for snippet in itertools.chain.from_iterable(cited.values()):
        pages.setdefault(snippet.source_id, {})[snippet.id] = snippet
    grouped = ((page, tuple(snippets.values())) for page, snippets in pages.items())
    sources = (Source(page, snippets[0].url, snippets[0].title, snippets) for page, snippets in grouped)
    return tuple(sorted(sources, key=lambda source: (-len(source.snippets), source.url)))


@lru_cache(_CACHED_STATEMENTS)
def _distinct_terms(statement: str) -> frozenset[str]:
    return frozenset(terms(statement))
