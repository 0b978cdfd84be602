"""Citations by author and year in running text: ``(Castner 1987, 12; Roe 2005)``, ``Castner (1987) says``."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from storm_pipeline.evidence.editions import with_sentences
from storm_pipeline.output.articles.markdown import LOCATORS
from storm_pipeline.output.articles.pages import NumberedArticle, Reference
from storm_pipeline.sources.documents.document import AND, OTHERS, Record
from storm_pipeline.text.person_names import read_names
from storm_pipeline.text.words import folded_words
from storm_pipeline.types import Citation, Sentence

OF_NOTES = frozenset(LOCATORS | AND | {word for others in OTHERS for word in folded_words(others)})
"""Words of a short note that are about no work: ``Helle et al. 1994, pp. 3 ff.``"""


def with_cited_works(imported: NumberedArticle, records: Iterable[Record]) -> NumberedArticle:
    """Return the article with citations of the works that it cites by author and year, which leave its text.

    These are works of its list, each entry of which begins with a family name, or of ``records``. Only sentences
    without other citations are read. A work without an entry of its own in the list is cited as "Castner 1987".
    """
    if imported.references is None:
        return imported
    works = _Works([*imported.references.values(), *imported.listed], records)
    references, last = dict(imported.references), max(imported.references, default=0)

    def cited(before: Sentence) -> Sentence:
        numbers = {} if before.citations else works.cited(_words(before.text))
        if not numbers:
            return before
        references.update({last + number: works.reference(work) for work, number in numbers.items()})
        citations = tuple(Citation(str(last + number), "") for number in numbers.values())
        return Sentence(works.without_citations(before.text), citations)

    return replace(imported, article=with_sentences(imported.article, cited), references=references)


class _Works:
    """Works, each by the family name of its first author and its year."""

    def __init__(self, listed: Iterable[Reference], records: Iterable[Record]) -> None:
        self._entries: dict[tuple[str, str], list[Reference]] = {}
        self._names = set(OF_NOTES)  # words that may be between a name and the year
        for reference in listed:
            words = _words(entry := reference.entry or reference.title)
            years = [word for word in words if _is_year(word)]
            end = min((at for mark in ",.(:;“" if (at := entry.find(mark)) > 0), default=len(entry))
            self._names.update(words[: words.index(years[0])] if years else ())
            for year in years:
                self._entries.setdefault((" ".join(_words(entry[:end])), year), []).append(reference)
        for record in records:
            families = [_words(name.family) for name in read_names(record.authors)] or [[]]
            self._names.update(word for family in families for word in family)
            self._entries.setdefault((" ".join(families[0]), record.published[:4]), [])
        self._numbers = {work: number for number, work in enumerate(self._entries, 1) if all(work)}

    def reference(self, work: tuple[str, str]) -> Reference:
        """Return the only entry of a work in the list, else its author and year."""
        short = " ".join(work).title()
        return self._entries[work][0] if len(self._entries[work]) == 1 else Reference("", short, entry=short)

    def cited(self, words: Sequence[str], start: int = 0) -> dict[tuple[str, str], int]:
        """Return the works whose years occur from a position on, each by the name nearest before, with a number."""
        cited: dict[tuple[str, str], int] = {}
        for end in (end for end in range(start, len(words)) if _is_year(words[end])):
            begin = end
            while begin and self._is_of_citation(words[begin - 1]):
                begin -= 1
            before = f" {' '.join(words[begin:end])} "
            works = ((before.rfind(f" {work[0]} "), work) for work in self._numbers if work[1] == words[end])
            at, work = max(works, default=(-1, ("", "")))
            cited |= {work: self._numbers[work]} if at >= 0 else {}
        return cited

    def without_citations(self, text: str) -> str:
        """Return a text without the parentheses that have only citations."""
        kept, *pieces = text.split("(")
        for piece in pieces:
            inside, _, rest = piece.partition(")")
            before, words = _words(kept), _words(inside)
            is_citation = all(map(self._is_of_citation, words)) and self.cited([*before, *words], len(before))
            kept = kept.rstrip() + rest if is_citation else f"{kept}({piece}"
        return kept

    def _is_of_citation(self, word: str) -> bool:
        return word in self._names or word.isdecimal() or _is_year(word)


def _is_year(word: str) -> bool:
    return word[:4].isdecimal() and len(word) in {4, 5} and not word[4:].isdecimal()


def _words(text: str) -> list[str]:
    return [word.removesuffix("'s") for word in folded_words(text)]
