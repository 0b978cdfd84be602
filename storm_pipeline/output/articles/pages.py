"""Assignment of passages to the citations of an article, from the available pages."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import nlargest

from storm_pipeline.evidence.editions import with_sentences
from storm_pipeline.output.render.links import MOST_CITED, require_few
from storm_pipeline.text.chunks import chunks
from storm_pipeline.text.formatting import with_noun
from storm_pipeline.text.identity import source_id
from storm_pipeline.text.lexical import terms
from storm_pipeline.types import Article, Citation, Problem, Report, Sentence, Snippet, Source

_PASSAGE = 150  # maximum words of a cited passage, as in our own runs
READING = "reading"  # stage of the problems in an article's report that name the parts which were not read


@dataclass(frozen=True)
class Reference:
    """A page that an article cites or may cite."""

    url: str  # its address; empty if the article states none; never empty with a text
    title: str = ""  # its title; may be empty
    text: str = ""  # the page as plain text; empty if unknown
    entry: str = field(default="", compare=False)  # all that the article states of it, as plain text; empty if unknown
    archive: str = field(default="", compare=False)  # address of an archived copy that the article gives; may be empty


@dataclass(frozen=True)
class NumberedArticle:
    """An article as read from a file: it cites the numbers of a list of references."""

    article: Article  # the source id of a citation is the number of a reference
    references: Mapping[int, Reference] | None  # by their numbers; None if the article contains its passages
    invented: int = 0  # number of removed citations of unknown numbers
    left_out: Sequence[tuple[str, int]] = ()  # parts that were not read: name, number of references in it
    listed: tuple[Reference, ...] = ()  # entries of its list of works without a number


class AvailablePages:
    """Pages with known text.

    Args:
        pages: ignored without an address or a text; of two with one address, the later one counts.
        most: maximum passages per cited page and statement, >= 1.
        limit: maximum characters of statements and their passages; beyond, :meth:`passages` raises DatasetError.
    """

    def __init__(self, pages: Iterable[Reference] = (), most: int = 1, limit: int = MOST_CITED) -> None:
        self._most, self._limit, self._cited = most, limit, 0
        self._pages = {source_id(page.url): page for page in pages if page.url and page.text.strip()}
        self._passages: dict[str, tuple[list[str], Mapping[str, list[int]]]] = {}  # by text, from `_indexed`

    def passages(self, statement: str, reference: Reference) -> tuple[Snippet, ...]:
        """Return the passages of up to 150 words with most of a statement's content words, best first.

        They are from the reference's text, else from its page; empty if neither is available.
        """
        page = reference if reference.text.strip() else self._pages.get(source_id(reference.url))
        if page is None:
            return ()
        if page.text not in self._passages:
            self._passages[page.text] = _indexed(chunks(page.text, _PASSAGE))
        passages, places = self._passages[page.text]
        shared = Counter(itertools.chain.from_iterable(places.get(word, ()) for word in set(terms(statement))))
        best = nlargest(self._most, range(len(passages)), key=shared.__getitem__)
        self._cited += sum(len(statement) + len(passages[place]) for place in best)
        require_few(self._cited, self._limit)  # before all are looked for, which would take long
        return tuple(Snippet(page.url, page.title, passages[place], origin="page") for place in best)

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
        problems = tuple(
            Problem(READING, "degradation", f"{len(counts)} × {name} with {with_noun(sum(counts), 'reference')}")
            for name, parts in itertools.groupby(sorted(imported.left_out), lambda part: part[0])
            for counts in [[cited_in for _, cited_in in parts]]
        )
        report = Report(invented_citations=invented, unavailable_citations=unavailable, problems=problems)
        return with_citations(replace(imported.article, report=report), cited)


def _indexed(passages: list[str]) -> tuple[list[str], Mapping[str, list[int]]]:
    """Return passages, and word → places among them."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, passage in enumerate(passages):
        for word in set(terms(passage)):
            places[word].append(place)
    return passages, places


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
