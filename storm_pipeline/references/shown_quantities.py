"""Which numbers and dates of a sentence its passages state, and which passages may be cited for those they lack."""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain

from storm_pipeline.languages import detect, stem_set
from storm_pipeline.quantities import full_dates, missing, without_quantities
from storm_pipeline.references.facts import recall
from storm_pipeline.references.passages import Passage
from storm_pipeline.types import Sentence, Snippet

Pages = Callable[[str], Sequence[Snippet]]
"""Source id → all snippets of its page."""
_MOST_DATES = 8  # maximum dates of a passage by which its relative dates are resolved
_OPENING = 2  # words at the beginning of a sentence that name its subject
_DATED = 20  # characters at its beginning among which a date stands before its subject
_SAYS_IT = 0.2  # minimum share of a sentence's own words around a number for which the passage is cited
_SPEAKS = 0.3  # the share from which it speaks of the sentence's subject, whatever that is
_YEAR = re.compile(r"\b(?:1\d|20)\d\d\b")
_MONTH, _FIRST_DAY = re.compile(r"^\d{4}-\d\d$"), r"\g<0>-01"  # as a page's date; in texts 2003-04 is a season
_LONG = 4  # letters from which a word that stands in a passage of another language is no coincidence


class ShownQuantities:
    """The numbers and dates that passages state.

    Args:
        known: text whose content needs no source.
        pages: all snippets of a page, whose dates support what cites one of them.
        findings: checked sentences that cite these passages; the writer was shown them too.
    """

    def __init__(
        self,
        shown: Sequence[Passage],
        *,
        known: str,
        language: str,
        pages: Pages | None = None,
        findings: Sequence[Sentence] = (),
        source_language: Callable[[str], str] = detect,
    ) -> None:
        self._shown = shown
        self._known = known
        self._language = language
        self._pages = pages or self._shown_of
        self._source_language = source_language
        self._dates: dict[str, str] = {}  # by page
        self._told = _by_passage(shown, findings)

    def lacking(self, text: str, kept: Sequence[int]) -> tuple[str, ...]:
        """The quantities that these passages do not state; dates, which are slow to find, are tried last."""
        undated = self._missing(text, [(i, "") for i in kept])
        return undated and self._missing(text, [(i, day) for i in kept for day in self._dates_of(i)], dated=True)

    def _missing(self, text: str, read_by: Sequence[tuple[int, str]], *, dated: bool = False) -> tuple[str, ...]:
        """The quantities that none of the passages states, each read with the date beside it."""
        cited = [self._shown[i] for i, _ in read_by]
        told = dict.fromkeys(finding for i, _ in read_by for finding in self._told.get(i, ()))
        pages = dict.fromkeys(passage.source_id for passage in cited) if dated else ()
        titled = (f"{one.title} {one.site} {_MONTH.sub(_FIRST_DAY, one.published or '')} {one.text}" for one in cited)
        return missing(
            text,
            [self._known, *titled, *told],
            dates=["", *(day for _, day in read_by)],
            language=self._language,
            source_languages=[self._language, *(self._source_language(passage.text) for passage in cited)],
            dated_by=(snippet.text for page in pages for snippet in self._pages(page)),
        )

    def says(self, text: str, i: int, parts: Sequence[str], lacking: Sequence[str], *, foreign: bool) -> float:
        """How surely a passage may be cited for quantities that a sentence lacks, by what it says around them.

        1: it speaks of the sentence's subject, with its words; 0.5: it speaks of its subject; 0: neither. ``foreign``:
        whether it is in another language, so that hardly any words can be the same.
        """
        known = stem_set(self._known, self._language)
        plain = without_quantities(text, self._language)
        own = _words(plain, self._language) - known
        subject = self._subject(text, plain, known)
        around = [part for part in (*parts, *self._told.get(i, ())) if self._states(part, lacking)]
        best = 0.0
        for stems in (stem_set(f"{self._shown[i].title} {part}", self._language) for part in around):
            if foreign:
                best = max(best, float(any(len(word) >= _LONG for word in own & stems)))
                continue
            share = recall(own, stems)
            speaks = subject & stems if subject else known <= stems or not known
            if speaks or share >= _SPEAKS:
                best = max(best, 1.0 if share >= _SAYS_IT else 0.5)
        return best

    def _subject(self, text: str, plain: str, known: frozenset[str]) -> frozenset[str]:
        """The stems that name a sentence's subject: of its first words, or of the next ones behind a date.

        None where a pronoun stands for the topic. ``plain``: the sentence without quantities.
        """
        subject = _words(" ".join(plain.split()[:_OPENING]), self._language) - known
        dated = next((i for i, (one, other) in enumerate(zip(text, plain, strict=True)) if one != other), _DATED)
        if subject or dated >= _DATED:
            return subject
        return _words(" ".join(plain[dated:].split()[:_OPENING]), self._language) - known

    def _states(self, part: str, lacking: Sequence[str]) -> bool:
        language = self._source_language(part)
        return any(not missing(one, [part], language=self._language, source_languages=[language]) for one in lacking)

    def _dates_of(self, i: int) -> Sequence[str]:
        """The dates by which "last month" in a passage can be resolved: its page's first, then those in the passage.

        A page may collect news of many days.
        """
        passage = self._shown[i]
        own = full_dates(passage.text, self._source_language(passage.text))[:_MOST_DATES]
        return tuple(dict.fromkeys((self._date(passage.source_id), *own)))

    def _date(self, source_id: str) -> str:
        """The publication date of a page, else the first in its text, its titles or the topic; "" if there is none."""
        if source_id not in self._dates:
            page = self._pages(source_id)
            given = (snippet.published or "" for snippet in page)
            texts = (day for snippet in page for day in full_dates(snippet.text, self._source_language(snippet.text)))
            titles = (day for snippet in page for day in full_dates(snippet.title, self._language))
            topic = (found[0] for found in _YEAR.finditer(self._known))
            self._dates[source_id] = next(chain(filter(None, given), texts, titles, topic), "")
        return self._dates[source_id]

    def _shown_of(self, source_id: str) -> Sequence[Snippet]:
        return [s for passage in self._shown if passage.source_id == source_id for s in passage.snippets]


def _by_passage(shown: Sequence[Passage], findings: Sequence[Sentence]) -> Mapping[int, Sequence[str]]:
    """Position of a passage → texts of the findings that cite it."""
    ids = [{citation.snippet_id for citation in passage.citations()} for passage in shown]
    return {i: [f.text for f in findings if any(c.snippet_id in own for c in f.citations)] for i, own in enumerate(ids)}


def _words(text: str, language: str) -> frozenset[str]:
    return frozenset(stem for stem in stem_set(text, language) if not stem.isdecimal())
