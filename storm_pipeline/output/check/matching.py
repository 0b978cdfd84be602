"""Matches the references of an article to documents by what both state; no reference makes a file be opened.

Citations by author and year in running text, such as ``(Castner 1987, 12; Roe 2005)``, become references.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote

from storm_pipeline.errors import DatasetError
from storm_pipeline.evidence.editions import with_sentences
from storm_pipeline.output.articles.markdown import LOCATORS
from storm_pipeline.output.articles.pages import NumberedArticle, Reference
from storm_pipeline.sources.documents.bibliography import identifying_titles
from storm_pipeline.sources.documents.document import AND, OTHERS, Document, Record
from storm_pipeline.text.identity import source_id
from storm_pipeline.text.person_names import read_names
from storm_pipeline.text.plain import find_doi, web_address
from storm_pipeline.text.words import folded_words, tidy
from storm_pipeline.types import Citation, Sentence

OF_NOTES = frozenset(LOCATORS | AND | {word for others in OTHERS for word in folded_words(others)})
"""Words of a short note that are about no work: ``Helle et al. 1994, pp. 3 ff.``"""


def with_cited_works(imported: NumberedArticle, library: "Library") -> NumberedArticle:
    """Return the article with citations of the works that it cites by author and year, which leave its text.

    These are works of its list, each entry of which begins with a family name, or of the library. Only sentences
    without other citations are read. A work without an entry of its own in the list is cited as "Castner 1987".
    Raises DatasetError: too many to compare.
    """
    if imported.references is None:
        return imported
    works = _DatedWorks([*imported.references.values(), *imported.listed], library)
    if not works:
        return imported
    references, last = dict(imported.references), max(imported.references, default=0)

    def cited(before: Sentence) -> Sentence:
        numbers = {} if before.citations else works.cited(_words(before.text))
        if not numbers:
            return before
        references.update({last + number: works.reference(work) for work, number in numbers.items()})
        citations = tuple(Citation(str(last + number), "") for number in numbers.values())
        return Sentence(works.without_citations(before.text), citations)

    return replace(imported, article=with_sentences(imported.article, cited), references=references)


class _DatedWorks:
    """Works, each by the family name of its first author and its year."""

    def __init__(self, listed: Iterable[Reference], library: "Library") -> None:
        self._library = library
        self._entries: dict[tuple[str, str], list[Reference]] = {}
        self._names = set(OF_NOTES)  # words that may be between a name and the year
        for reference in listed:
            words = _words(entry := reference.entry or reference.title)
            years = [word for word in words if _is_year(word)]
            end = min((at for mark in ",.(:;“" if (at := entry.find(mark)) > 0), default=len(entry))
            self._names.update(words[: words.index(years[0])] if years else ())
            family = " ".join(_words(entry[:end]))
            for year in years:
                self._entries.setdefault((family, year), []).append(reference)
        for record in library.records():
            families = [_words(name.family) for name in read_names(record.authors)] or [[]]
            self._names.update(word for family in families for word in family)
            self._entries.setdefault((" ".join(families[0]), record.published[:4]), [])
        self._numbers = {work: number for number, work in enumerate(self._entries, 1) if all(work)}
        self._of_year: dict[str, list[tuple[str, str]]] = {}
        for work in self._numbers:
            self._of_year.setdefault(work[1], []).append(work)

    def __bool__(self) -> bool:
        return bool(self._numbers)

    def reference(self, work: tuple[str, str]) -> Reference:
        """Return the only entry of a work in the list, else its author and year."""
        short = " ".join(work).title()
        return self._entries[work][0] if len(self._entries[work]) == 1 else Reference("", short, entry=short)

    def cited(self, words: Sequence[str], start: int = 0) -> dict[tuple[str, str], int]:
        """Return the works whose years occur from a position on, each by the name nearest before, with a number.

        The words before this position may all be of citations.
        """
        cited: dict[tuple[str, str], int] = {}
        begin = 0
        for end in range(start, len(words)):
            if begin < end and _is_year(words[end]) and (dated := self._of_year.get(words[end])):
                self._library.compare(10 * (end - begin) * (1 + len(dated)))  # a word is of about ten characters
                before = f" {' '.join(words[begin:end])} "
                works = ((before.rfind(f" {work[0]} "), work) for work in dated if len(work[0]) < len(before))
                at, work = max(works, default=(-1, ("", "")))
                cited |= {work: self._numbers[work]} if at >= 0 else {}
            if not self._is_of_citation(words[end]):
                begin = end + 1
        return cited

    def without_citations(self, text: str) -> str:
        """Return a text without the parentheses that have only citations."""
        first, *pieces = text.split("(")
        kept = [first]
        before: list[str] = []  # the words at the end of what is kept that may be of a citation
        self._add(before, first)
        for piece in pieces:
            inside, _, rest = piece.partition(")")
            is_citation = self._is_citation(before, _words(inside))
            kept[-1:] = [kept[-1].rstrip(), rest] if is_citation else [kept[-1], f"({piece}"]
            self._add(before, rest if is_citation else piece)
        return "".join(kept)

    def _add(self, before: list[str], text: str) -> None:
        for word in _words(text):
            if self._is_of_citation(word):
                before.append(word)
            else:
                before.clear()

    def _is_citation(self, before: Sequence[str], words: Sequence[str]) -> bool:
        """Return whether the words of a parenthesis are citations after other words."""
        if not (any(map(_is_year, words)) and all(map(self._is_of_citation, words))):
            return False
        self._library.compare(10 * len(before))
        return bool(self.cited([*before, *words], len(before)))

    def _is_of_citation(self, word: str) -> bool:
        return word in self._names or word.isdecimal() or _is_year(word)


def _is_year(word: str) -> bool:
    return word[:4].isdecimal() and len(word) in {4, 5} and not word[4:].isdecimal()


def _words(text: str) -> list[str]:
    return [word.removesuffix("'s") for word in folded_words(text)]


@dataclass(frozen=True)
class Match:
    """A reference of an article, and the documents that fit it."""

    cited: str  # the reference in the article's words
    documents: tuple[str, ...]  # names of those that fit it best; only a single one is read
    by: str = ""  # what the reference and a single document have in common; else empty


class Library:
    """Documents in which the references of an article are looked up.

    ``documents`` are read when the first reference is looked up. ``folder``: that of the article, for relative links.
    ``records``: works of which there may be no document. ``most``: characters that are compared.
    """

    def __init__(
        self, documents: Iterable[Document], folder: Path, records: Iterable[Record] = (), most: int = 100_000_000
    ) -> None:
        self._documents = documents
        self._more_records = records
        self._folder = str(folder.resolve())
        self._left = most
        self._parts: dict[str, list[Reference]] = {}  # entry → its works, if several
        self._results: dict[tuple[str, ...], tuple[Match, Reference | None]] = {}

    @property
    def matches(self) -> tuple[Match, ...]:
        """The references that were looked up, in this order; none without documents."""
        return tuple(match for match, _ in self._results.values() if self._works)

    @cached_property
    def _works(self) -> list["_Work"]:
        distinct = {document.url: document for document in self._documents}
        return [_Work(document, self._folder) for document in distinct.values()]

    def records(self) -> Iterator[Record]:
        """Yield the data of the documents, which are read now, and the other ones."""
        yield from (work.document.record for work in self._works)
        yield from self._more_records

    def works_of(self, reference: Reference) -> list[Reference]:
        """Return the references to several works that a note cites with semicolons between them, else the reference."""
        if reference.url or ";" not in reference.entry or not self._works:
            return [reference]
        if reference.entry not in self._parts:
            self._parts[reference.entry] = self._works_in(reference.entry)
        return self._parts[reference.entry] or [reference]

    def _works_in(self, entry: str) -> list[Reference]:
        parts: list[list[str]] = []
        fitting: set[tuple[str, ...]] = set()
        for text in entry.split(";"):
            names = self._find(Reference("", text, entry=text))[0].documents
            if names or not parts:
                parts.append([])
            parts[-1].append(text)  # within a work
            fitting |= {names} - {()}
        texts = [tidy(";".join(part)) for part in parts if len(fitting) > 1]
        return [Reference("", text, entry=text) for text in texts]

    def find(self, reference: Reference) -> tuple[Match, Reference | None]:
        """Return the match of a reference, and its document's text if exactly one fits.

        Compares in the order of ``_WAYS``. The first that a document has in common with the reference counts; where
        several documents have it, the next ones choose among them. Raises DatasetError: too many to compare.
        """
        key = (reference.url, reference.title, reference.entry)
        if key not in self._results:
            self._results[key] = self._find(reference)
        return self._results[key]

    def compare(self, characters: int) -> None:
        """Count what is compared. Raises DatasetError: too much."""
        self._left -= characters
        if self._left < 0:
            works = f"{len(self._works):,} documents"
            raise DatasetError(f"the article has too many or too long references for {works}: check it beside fewer")

    def _find(self, reference: Reference) -> tuple[Match, Reference | None]:
        length = 100 + len(reference.url) + len(reference.entry or reference.title)
        self.compare((10 + len(self._works)) * length)
        cited = _CitedWork(reference, self._folder)
        by, fitting = "", self._works
        for way, common in _WAYS.items():
            if (len(fitting) > 1 or not by) and (matching := common(cited, fitting)):
                by, fitting = by or way, matching
        names = tuple(work.name for work in fitting) if by else ()
        if len(names) != 1:
            return Match(tidy(cited.text) or reference.url, names), None
        work = fitting[0].document
        text = "\n\n".join(text for _, text in work.pages)
        page = Reference(web_address(reference.url) or work.url, work.title, text)
        return Match(tidy(cited.text) or reference.url, names, by), page


class _CitedWork:
    """The statements of a reference."""

    def __init__(self, reference: Reference, folder: str) -> None:
        self.text = reference.entry or reference.title
        words = folded_words(self.text)
        self.words = _padded(words)
        self.titles = {self.words, _padded(folded_words(reference.title))}
        self.years = {word for word in words if len(word) == 4 and word.isdecimal()}
        self.names = {word for word in words if not word.isdecimal()} - OF_NOTES
        self.doi = find_doi(unquote(reference.url)) or find_doi(self.text)
        self.is_web = bool(web_address(reference.url))
        path = "" if self.is_web else _path_of(reference.url)
        self.path = os.path.normpath(Path(folder, path)) if path else ""
        self.named = "" if self.is_web else f"{self.text} {path}".casefold()  # where a file's name may be
        self.address = source_id(reference.url) if reference.url else ""


class _Work:
    """The known data of a document."""

    def __init__(self, document: Document, folder: str) -> None:
        record = document.record
        self.document = document
        self.path = _path_of(document.url) if document.url.startswith("file:") else ""
        self.file = Path(self.path).name.casefold()
        self.name = os.path.relpath(self.path, folder) if self.path else document.url
        self.addresses = {source_id(url) for url in (document.url, record.work.url) if url}
        self.is_web = bool(web_address(document.url) or record.work.url)
        self.doi = record.doi or find_doi(document.url)
        titles = list(filter(None, (document.title, record.title)))
        self.titles = {_padded(folded_words(title)) for title in titles}
        self.identifying = {_padded(folded_words(form)) for title in titles for form in identifying_titles(title)}
        self.families = {_padded(folded_words(name.family)) for name in read_names(record.authors)}
        self.year = (record.published or document.published or "")[:4]
        known = [*titles, record.authors, record.container, record.publisher, *vars(record.work).values()]
        self.words = {word for text in known for word in folded_words(text)}

    def agreement(self, cited: _CitedWork) -> tuple[bool, bool]:
        """Return whether a reference has an author of the work, and its year."""
        return any(family in cited.words for family in self.families), self.year in cited.years


def _path_of(url: str) -> str:
    """Return the path of a file's address or of a relative link."""
    return unquote(url.replace("\\", "/").removeprefix("file://").partition("#")[0])


def _padded(words: Sequence[str]) -> str:
    """Return words between blanks, so that ``in`` finds only whole ones."""
    return f" {' '.join(words)} "


def _by_file(cited: _CitedWork, works: Sequence[_Work]) -> list[_Work]:
    matching: list[tuple[str, _Work]] = []
    for work in (work for work in works if work.file and work.file in cited.named):
        before, _, after = cited.named.partition(work.file)
        matching += [] if before[-1:].isalnum() or after[:1].isalnum() else [(work.file, work)]  # not a part of a word
    return _without_contained(matching)


def _by_title(cited: _CitedWork, works: Sequence[_Work]) -> list[_Work]:
    matching: list[tuple[str, _Work]] = []
    for work in works:
        is_other = cited.doi != work.doi if cited.doi and work.doi else cited.is_web and work.is_web and not cited.doi
        titles = [title for title in work.titles | work.identifying if _is_title(cited, work, title)]
        matching += [(max(titles, key=len), work)] if titles and not is_other else []
    best = max((work.agreement(cited) for _, work in matching), default=None)
    return _without_contained([(title, work) for title, work in matching if work.agreement(cited) == best])


def _is_title(cited: _CitedWork, work: _Work, title: str) -> bool:
    """Return whether a reference is the title of a work, or has it as a part; then it needs the author or the year.

    So it does on a page of the web, and both if it is short. A long one of a file without author and year suffices.
    """
    if title in cited.titles and not cited.is_web:
        return True
    enough = any if title in work.identifying else all
    alone = title in work.identifying and not (cited.is_web or work.families or work.year)
    return title in cited.words and (alone or enough(work.agreement(cited)))


def _by_author(cited: _CitedWork, works: Sequence[_Work]) -> list[_Work]:
    """Return the works that have all words of a short note: ``Helle, “Kontor,” 234``, ``Helle 1994``."""
    matching: list[_Work] = []
    for work in (work for work in works if cited.names <= work.words):
        has_author, has_year = work.agreement(cited)
        more = cited.names - {word for family in work.families for word in family.split()}
        if has_author and (has_year or (more and cited.years <= work.words)):  # a title may have a year
            matching.append(work)
    return matching


def _without_contained(matching: Sequence[tuple[str, _Work]]) -> list[_Work]:
    """Return the works, without those whose name is a part of another one's."""
    names = {name for name, _ in matching}
    joined = "\0".join(names)  # searched at once, since there may be thousands
    alone = {name for name in names if joined.count(name) == 1}
    return [work for name, work in matching if name in alone]


_WAYS: dict[str, Callable[[_CitedWork, Sequence[_Work]], list[_Work]]] = {
    "address": lambda cited, works: [
        work for work in works if cited.address in work.addresses or (cited.path and cited.path == work.path)
    ],
    "DOI": lambda cited, works: [work for work in works if cited.doi and cited.doi == work.doi],
    "file name": _by_file,
    "title": _by_title,
    "author and year": _by_author,
}
"""Name of a comparison → the works that have it in common with a reference; in this order."""
