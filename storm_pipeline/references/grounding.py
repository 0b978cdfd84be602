"""Whether what a capable writer cites supports its sentences, and what could be done where it does not.

A check that helps: the writer's own citations stand unless something speaks against them. What a sentence lacks is
looked for in everything that was shown, and cited too. Only what is found nowhere is a problem, told in words that the
writer can act on.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

from storm_pipeline.languages import detect
from storm_pipeline.quantities import first_day, missing
from storm_pipeline.references.facts import recall, stem_set
from storm_pipeline.references.likeness import Embed, Likeness
from storm_pipeline.references.passages import Passage
from storm_pipeline.references.verbatim import copied_from, quoted_in
from storm_pipeline.text.words import foreign_script_share
from storm_pipeline.types import Citation, Sentence, Snippet

_STANDS = 0.30
"""Least likeness of a sentence to a passage at which its citation stands."""
_FOUND = 0.55
"""Least likeness at which a passage that the writer did not cite is cited instead of, or for want of, its own."""
_COMPLETES = 0.30
"""Least likeness of a passage that is cited too because it has a number which those cited lack."""
LONGEST_RUN = 16
"""Words in a row that a sentence may share with a passage; names and numbers do not count."""
_FOREIGN = 0.5
"""Share of letters in a script that topic and headings do not use, from which on a sentence is in another one."""


@dataclass(frozen=True)
class Judged:
    """A sentence with the citations that stand.

    Attributes:
        sentence: with snippets of the passages that support it.
        change: what was done to its citations, in words; empty if nothing was.
        problem: what the writer has to mend, in words; empty if nothing.
        is_only_copied: whether the problem is no lack of support, but that it repeats a passage word for word.
    """

    sentence: Sentence
    change: str = ""
    problem: str = ""
    is_only_copied: bool = False


@dataclass(frozen=True)
class Claim:
    """A sentence as it was written: without markers, and the positions of the passages that it cites, from 0."""

    text: str
    cited: tuple[int, ...]


class Grounding:
    """Judges sentences by the passages that their writer was shown.

    Args:
        shown: the passages, in the order of their numbers.
        known: what needs no source: the topic and the headings.
        embed: texts to unit vectors.
        language: ISO 639-1 code of the sentences.
        longest_run: words in a row, names and numbers aside, that a sentence may share with a passage.
        pages: id of a source → all that is known of its page, where its date may stand; by default what was shown.
    """

    def __init__(
        self,
        shown: Sequence[Passage],
        *,
        known: str,
        embed: Embed,
        language: str = "en",
        longest_run: int = LONGEST_RUN,
        pages: Callable[[str], Sequence[Snippet]] | None = None,
    ) -> None:
        self.shown = tuple(shown)
        self._known = known
        self._likeness = Likeness(shown, known=known, embed=embed, language=language)
        self._language = language
        self._longest_run = longest_run
        self._pages = pages or self._shown_of
        self._texts = [passage.text for passage in shown]

    def judge(self, claims: Sequence[Claim]) -> list[Judged]:
        """The sentences in their order, judged."""
        return [self._judged(claim) for claim in claims]

    def _judged(self, claim: Claim) -> Judged:
        if foreign_script_share(claim.text, self._known) > _FOREIGN:
            return Judged(Sentence(claim.text), problem="it is not written in the letters of the article")
        if not self.shown:
            return Judged(Sentence(claim.text), problem="no source was found for it")
        kept, change = self._supporting(claim)
        if not kept:
            told = self._numbers(claim.cited)
            said = (
                f"{told} {'does' if len(claim.cited) == 1 else 'do'} not say this"
                if claim.cited
                else "it cites no passage"
            )
            return Judged(Sentence(claim.text), problem=f"{said}, nor does any other passage shown")
        lacking = self._lacking(claim.text, kept)
        if lacking:
            kept, more, lacking = self._completed(claim.text, claim.cited, kept, lacking)
            change = "; ".join(part for part in (change, more) if part)
        problem, copied = "", False
        if lacking:
            told = ", ".join(f"“{spelt}”" for spelt in lacking)
            problem = (
                f"{told} {'is' if len(lacking) == 1 else 'are'} not in {self._numbers(kept)} nor in any other passage"
            )
        elif (source := copied_from(claim.text, self._texts, self._longest_run)) is not None:
            problem, copied = f"it repeats the words of [{source + 1}]: say it in words of your own", True
        return Judged(Sentence(claim.text, self._citations(claim.text, kept)), change, problem, copied)

    def by_quotation(self, claim: Claim, quotation: str) -> Judged | None:
        """A sentence that its writer stands by, with the words of a passage that say so; None if no passage has them.

        Checks that compare are wrong now and then; what can be read where the writer says it stands is no invention.
        Every part of the quotation stands in a passage, those cited first, word for word but for case and punctuation.
        """
        found = quoted_in(quotation, self._texts, claim.cited)
        if not found:
            return None
        kept = dict.fromkeys((*claim.cited, *found))
        return Judged(Sentence(claim.text, self._citations(claim.text, tuple(kept))), f"{self._numbers(found)} quoted")

    def _supporting(self, claim: Claim) -> tuple[tuple[int, ...], str]:
        """The passages that stand behind a claim, and what was changed to find them."""
        standing = tuple(i for i in claim.cited if self._stands(claim.text, i))
        if standing:
            return standing, ""
        chosen = self._found(claim.text)
        if chosen is None:
            return (), ""
        instead = f" instead of {self._numbers(claim.cited)}" if claim.cited else ""
        return (chosen,), f"[{chosen + 1}] cited{instead}"

    def _found(self, text: str) -> int | None:
        """The passage likest to a sentence that lacks nothing of it, or whose lack others make up for."""
        best = None
        for i in self._likeness.likest(text, range(len(self.shown)), _FOUND):
            if not self._lacking(text, (i,)):
                return i
            best = i if best is None else best
        return best if best is not None and not self._lacking(text, range(len(self.shown))) else None

    def _stands(self, text: str, i: int) -> bool:
        return not self._likeness.is_comparable(i) or self._likeness.reaches(text, i, _STANDS)

    def _completed(
        self, text: str, own: Sequence[int], kept: tuple[int, ...], lacking: tuple[str, ...]
    ) -> tuple[tuple[int, ...], str, tuple[str, ...]]:
        """The passages with those that have what the kept ones lack; what was added, and what is still lacking."""
        own = [i for i in own if i not in kept]  # cited by the writer, and hardly like the sentence
        others = [
            i
            for i in range(len(self.shown))
            if i not in kept and i not in own and len(self._lacking(text, (*kept, i))) < len(lacking)
        ]
        added: list[int] = []
        near = self._likeness.likest(text, others, _COMPLETES)
        foreign = (i for i in others if i not in added and not self._likeness.is_comparable(i))
        for i in chain(own, near, foreign):
            left = self._lacking(text, (*kept, *added, i))
            if len(left) < len(lacking):
                added.append(i)
                lacking = left
                if not lacking:
                    break
        return (*kept, *added), f"{self._numbers(added)} cited too" if added else "", lacking

    def _lacking(self, text: str, kept: Sequence[int]) -> tuple[str, ...]:
        """The quantities that these passages do not state; dates can only add to what they state, and take long."""
        return self._missing(text, kept) and self._missing(text, kept, [self._date(i) for i in kept])

    def _missing(self, text: str, kept: Sequence[int], dates: Sequence[str] = ()) -> tuple[str, ...]:
        cited = [self.shown[i] for i in kept]
        return missing(
            text,
            [
                self._known,
                *(f"{passage.title} {passage.site} {passage.published or ''} {passage.text}" for passage in cited),
            ],
            dates=["", *dates],
            language=self._language,
            source_languages=[self._language, *(detect(passage.text) for passage in cited)],
        )

    def _numbers(self, positions: Sequence[int]) -> str:
        return "".join(f"[{i + 1}]" for i in positions)

    def _citations(self, text: str, kept: Sequence[int]) -> tuple[Citation, ...]:
        """For each passage the snippet that says most of the sentence, and one of a copy if it says as much."""
        found: dict[Citation, None] = {}
        wanted = stem_set(text)
        for i in kept:
            own, copy = (_best(wanted, snippets) for snippets in (self.shown[i].snippets, self.shown[i].copies))
            for snippet, share in (own, copy):
                if snippet and share >= own[1]:
                    found[Citation(snippet.source_id, snippet.id)] = None
        return tuple(found)

    def _date(self, i: int) -> str:
        """When the page of a passage appeared; where nobody says so, the first date that its text has."""
        page = self._pages(self.shown[i].source_id)
        told = (snippet.published or first_day(snippet.text, detect(snippet.text)) for snippet in page)
        return next(filter(None, told), "")

    def _shown_of(self, source_id: str) -> Sequence[Snippet]:
        return [s for passage in self.shown if passage.source_id == source_id for s in passage.snippets]


def _best(wanted: frozenset[str], snippets: Sequence[Snippet]) -> tuple[Snippet | None, float]:
    shares = [recall(wanted, stem_set(snippet.text)) for snippet in snippets]
    best = max(range(len(snippets)), key=lambda i: shares[i], default=None)
    return (None, 0.0) if best is None else (snippets[best], shares[best])
