"""Checks whether a capable writer's citations support its sentences, and repairs citations where possible.

The writer's own citations are kept unless there is evidence against them. Support that they lack is searched for in all
passages shown, and cited too. Only what is found nowhere becomes a problem, worded so that the writer can act on it.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from storm_pipeline.languages import detect, scripts_of, split_sentences, stem_set
from storm_pipeline.quantities import missing, quantities, without_quantities
from storm_pipeline.references.facts import covering, recall
from storm_pipeline.references.introductions import names_within, surnames_within
from storm_pipeline.references.menus import is_prose
from storm_pipeline.references.passages import Passage
from storm_pipeline.references.shown_quantities import Pages, ShownQuantities
from storm_pipeline.references.similarity import Embed, Similarity
from storm_pipeline.references.verbatim import QUOTED, copied_from, quoted_in
from storm_pipeline.text.words import GENITIVE, folded_words, foreign_script_share
from storm_pipeline.types import Citation, Sentence, Snippet

_STANDS = 0.30  # minimum similarity of a sentence to a cited passage that supports it
_FOUND = 0.55  # minimum similarity at which an uncited passage replaces missing or unsupported citations
_COMPLETES = 0.50  # minimum similarity of a passage that is cited too because it has a number which the cited ones lack
_MARKED = re.compile(r"\[(\d+)\]")
_BEGINNING = 5  # letters of a word that related languages share
_OTHERS = 3  # passages shown with a remark besides those that the sentence cites
_MAY_COMPLETE = 0.30  # minimum similarity of such a passage that the writer is asked about
LONGEST_RUN = 16
"""Longest run of words that a sentence may share with a passage, not counting names and numbers."""
_RUNS_ON = 2  # words of a sentence that a further window of a page has to add to be cited too
_FIGURE, _YEAR = re.compile(r"\d+[.,:]\d[\d.,:]*(?<=\d)|\d{3,}"), re.compile(r"(?:1\d|20)\d\d")
_SMALL, _SHORTEST = re.compile(r"\b[a-zà-öø-ÿ][^\W\d_]+"), 2
_FIGURES = 2  # figures of a sentence by which a passage that has them all supports it
_FOREIGN = 0.5
"""Share of letters foreign to the language, topic and headings above which a sentence is in the wrong script."""


def numbers_shown(positions: Iterable[int]) -> str:
    """The positions of passages, from 0, as the numbers by which prompts cite them: ``[1][4]``."""
    return "".join(f"[{position + 1}]" for position in positions)


@dataclass(frozen=True)
class Judged:
    """The verdict on a sentence."""

    sentence: Sentence  # the sentence, citing snippets of the passages that support it
    change: str = ""  # description of the change to its citations; empty if unchanged
    problem: str = ""  # description of what the writer has to fix; empty if nothing
    is_only_copied: bool = False  # whether the problem is copied wording rather than missing support
    # the sentence with the citations that the problem suggests; used if the writer does not answer it
    completed: Sentence | None = None


@dataclass(frozen=True)
class Claim:
    """A sentence as written, without markers, and the positions (from 0) of the passages that it cites."""

    text: str
    cited: tuple[int, ...]


class Grounding:
    """Checks sentences against the passages that their writer was shown.

    Args:
        known: text whose content needs no citation: the topic and the headings.
        longest_run: longest allowed run of words shared with a passage, not counting names and numbers.
        pages: source id → all snippets of its page, searched for dates; by default those shown.
        findings: checked sentences that cite the passages and that the writer was shown too.
    """

    removed_below = 0.15
    """Similarity below which a citation is removed beside one that supports the sentence; 0: none is. Capable writers
    seldom cite a wrong page beside a right one, so hardly any goes (``storm_benchmarks.grounding``)."""

    def __init__(
        self,
        shown: Sequence[Passage],
        *,
        known: str,
        embed: Embed,
        language: str = "en",
        longest_run: int = LONGEST_RUN,
        pages: Pages | None = None,
        findings: Sequence[Sentence] = (),
        source_language: Callable[[str], str] = detect,
    ) -> None:
        self.shown = tuple(shown)
        self._known = known
        self._similarity = Similarity(shown, known=known, embed=embed, language=language)
        self._language = language
        self._longest_run = longest_run
        self._quantities = ShownQuantities(
            shown, known=known, language=language, pages=pages, findings=findings, source_language=source_language
        )
        self._texts = [passage.text for passage in shown]

    def as_written(self, claim: Claim) -> Sentence:
        """The sentence with its writer's own citations, unchecked: of each cited passage what covers it best."""
        return Sentence(claim.text, self._citations(claim.text, claim.cited))

    def judge(self, claims: Sequence[Claim]) -> list[Judged]:
        """The verdicts on the sentences, in the same order."""
        self._similarity.prepare((claim.text for claim in claims if not claim.cited), _FOUND)
        return [self._judged(claim) for claim in claims]

    def _judged(self, claim: Claim) -> Judged:
        if foreign_script_share(claim.text, self._known, scripts_of(self._language)) > _FOREIGN:
            return Judged(Sentence(claim.text), problem="it is not written in the letters of the article")
        if not self.shown:
            return Judged(Sentence(claim.text), problem="no source was found for it")
        kept = self._supporting(claim)
        if not kept:
            markers = numbers_shown(claim.cited)
            do = "does" if len(claim.cited) == 1 else "do"
            finding = f"{markers} {do} not say this" if claim.cited else "it cites no passage"
            return Judged(Sentence(claim.text), problem=f"{finding}, nor does any other passage shown")
        lacking = self._quantities.lacking(claim.text, kept)
        if lacking:
            kept, lacking = self._completed(claim, kept, lacking, _COMPLETES)
        change = self._change(claim.cited, kept)
        sentence = Sentence(claim.text, self._citations(claim.text, kept))
        if lacking:
            return self._incomplete(claim, sentence, kept, lacking)
        problem, copied = "", False
        if (source := copied_from(claim.text, self._texts, self._longest_run, self._language)) is not None:
            problem, copied = f"it repeats the words of [{source + 1}]: say it in words of your own", True
        return Judged(sentence, change, problem, copied)

    def _incomplete(self, claim: Claim, sentence: Sentence, kept: tuple[int, ...], lacking: tuple[str, ...]) -> Judged:
        """The verdict on a sentence with quantities that the passages which it cites do not state."""
        more, left = self._completed(claim, kept, lacking, _MAY_COMPLETE)
        spelt = ", ".join(f"“{one}”" for one in lacking)
        problem = f"{spelt} {'is' if len(lacking) == 1 else 'are'} not in {numbers_shown(kept)}"
        if left:
            return Judged(sentence, problem=f"{problem} nor in any other passage that speaks of the same")
        others = numbers_shown([i for i in more if i not in kept])
        problem += f", but in {others}: cite that too if it supports the sentence"
        return Judged(sentence, problem=problem, completed=Sentence(claim.text, self._citations(claim.text, more)))

    def concerned(self, claim: Claim, verdict: Judged) -> tuple[int, ...]:
        """The positions of the passages by which a writer can answer a problem.

        Those that the claim cites, those that the problem names, and the most similar ones.
        """
        named = (int(number) - 1 for number in _MARKED.findall(verdict.problem))
        like = islice(self._similarity.most_similar(claim.text, range(len(self.shown)), _MAY_COMPLETE), _OTHERS)
        return tuple(dict.fromkeys((*claim.cited, *named, *like)))

    def by_quotation(self, claim: Claim, quotation: str) -> Judged | None:
        """The verdict on a sentence that its writer supports with a quotation; None if no passage contains it.

        Similarity checks are sometimes wrong; a verbatim quotation proves that the writer did not invent the claim.
        Each part of the quotation must occur in a passage, ignoring case and punctuation; cited ones come first.
        """
        found = quoted_in(quotation, self._texts, claim.cited)
        if not found:
            return None
        kept = dict.fromkeys((*claim.cited, *found))
        return Judged(Sentence(claim.text, self._citations(claim.text, tuple(kept))), f"{numbers_shown(found)} quoted")

    def _supporting(self, claim: Claim) -> tuple[int, ...]:
        """The cited passages that support a claim, or else the one that is found for it; empty if there is none."""
        if any(self._stands(claim.text, i, _STANDS) for i in claim.cited):
            return tuple(i for i in claim.cited if self._stands(claim.text, i, self.removed_below))
        chosen = self._found(claim.text)
        return () if chosen is None else (chosen,)

    def _change(self, cited: Sequence[int], kept: Sequence[int]) -> str:
        """What a check changed in the citations of a sentence; empty if nothing."""
        added, removed = [i for i in kept if i not in cited], [i for i in cited if i not in kept]
        if len(added) == len(kept):
            return f"{numbers_shown(kept)} cited" + (f" instead of {numbers_shown(removed)}" if removed else "")
        changes = (f"{numbers_shown(removed)} no longer cited", f"{numbers_shown(added)} cited too")
        return "; ".join(change for change, some in zip(changes, (removed, added), strict=True) if some)

    def _found(self, text: str) -> int | None:
        """The most similar passage that lacks none of a sentence's quantities, or whose missing ones others have."""
        best = None
        for i in self._similarity.most_similar(text, range(len(self.shown)), _FOUND):
            if not self._quantities.lacking(text, (i,)):
                return i
            best = i if best is None else best
        return best if best is not None and not self._quantities.lacking(text, range(len(self.shown))) else None

    def _stands(self, text: str, i: int, least: float) -> bool:
        is_like = not self._similarity.is_comparable(i) or self._similarity.reaches(text, i, least)
        return is_like or self._says_exactly(text, i)

    def _says_exactly(self, text: str, i: int) -> bool:
        """Whether a passage has a sentence's quotation, or all its figures: tables and talk are like no sentence."""
        numbers = {one.text for one in quantities(text, self._language) if one.kind != "date"}
        figures = {one for one in numbers if any(map(str.isdecimal, one)) and not _YEAR.fullmatch(one)}
        has_figures = len(figures) >= _FIGURES and not self._quantities.lacking(text, (i,))
        return has_figures or any(quoted_in(one, self._texts[i : i + 1]) for one in QUOTED.findall(text))

    def _completed(
        self, claim: Claim, kept: tuple[int, ...], lacking: tuple[str, ...], least: float
    ) -> tuple[tuple[int, ...], tuple[str, ...]]:
        """The passages plus those that have the lacking quantities and speak of the same, and what is still lacking.

        A passage that is cited without asking the writer has words of the sentence around the quantity too.
        """
        text = claim.text
        needed = 1.0 if least == _COMPLETES else 0.5
        own = [i for i in claim.cited if i not in kept]  # cited by the writer, but hardly similar
        others = [
            i
            for i in range(len(self.shown))
            if i not in kept and i not in own and len(self._quantities.lacking(text, (*kept, i))) < len(lacking)
        ]
        added: list[int] = []
        near = self._similarity.most_similar(text, others, least)
        foreign = (i for i in others if i not in added and not self._similarity.is_comparable(i))
        for i in chain(own, near, foreign):
            parts, is_foreign = self._similarity.parts(i), not self._similarity.is_comparable(i)
            if i not in own and self._quantities.says(text, i, parts, lacking, foreign=is_foreign) < needed:
                continue
            left = self._quantities.lacking(text, (*kept, *added, i))
            if len(left) < len(lacking):
                added.append(i)
                lacking = left
                if not lacking:
                    break
        return (*kept, *added), lacking

    def _stemmed(self, text: str) -> frozenset[str]:
        return stem_set(text, self._language)

    def _citations(self, text: str, kept: Sequence[int]) -> tuple[Citation, ...]:
        """For each passage the snippets that have a sentence's words, a menu only as the best; and a copy with as many.

        Others with its names and figures, or beside these with two words more, too; of a page in another language none.
        """
        chosen, windows = list[Snippet](), list[Snippet]()
        for i in kept:
            own, copies = self.shown[i].snippets, self.shown[i].copies
            foreign = any(detect(snippet.text) not in {"", self._language} for snippet in own)
            words = _beginnings_told if foreign else self._stemmed
            needed = _beginnings(text) if foreign else self._stemmed(text)
            parts = [words(snippet.text) for snippet in own]
            best = max(range(len(own)), key=lambda at: recall(needed, parts[at]))
            parts = [part if at == best or is_prose(own[at].text) else frozenset() for at, part in enumerate(parts)]
            cited = [best] if foreign else list(dict.fromkeys((best, *covering(needed, parts, _RUNS_ON))))
            left = frozenset() if foreign else needed.difference(*(parts[at] for at in cited))
            beside = (at for at in range(len(own)) if {at - 1, at + 1} & {*cited} and len(left & parts[at]) >= _RUNS_ON)
            chosen += [own[at] for at in dict.fromkeys((*cited, *beside))]
            windows += [] if foreign else own
            same = [(recall(needed, words(copy.text)), copy) for copy in copies]
            share, copy = max(same, key=lambda one: one[0], default=(0.0, None))
            chosen += [copy] if copy and share >= recall(needed, parts[best]) else []
        told = "\n".join(f"{self._known} {one.title} {one.published or ''} {one.text}" for one in chosen)
        names = _lacking(text, told, windows)
        figures = frozenset(missing(text, [told], language=self._language) if windows else ())
        held = [self._stated(one.text, text, figures, told).union(_named(one.text, names)) for one in windows]
        chosen += [windows[at] for at in covering(names | figures, held)]
        return tuple(dict.fromkeys(Citation(snippet.source_id, snippet.id) for snippet in chosen))

    def _stated(self, window: str, text: str, figures: frozenset[str], told: str) -> frozenset[str]:
        """Those quantities of a sentence that a window states beside two of its other words."""
        if not figures:
            return figures
        needed = self._stemmed(text) - self._stemmed(f"{self._known} {' '.join(figures)}")
        least = min(_RUNS_ON, (len(needed) + 1) // 2)
        parts = [one for one in split_sentences(window, self._language) if len(needed & self._stemmed(one)) >= least]
        left = (missing(text, [told, one], language=self._language) for one in parts)
        return frozenset(one for own in left for one in figures.difference(own))


def _named(text: str, marks: Iterable[str]) -> frozenset[str]:
    """Those names, long figures and quotations that a text has; of a name each word, in capitals or not."""
    parts = {one: one.split() if all(map(str.istitle, one.split())) else [one] for one in marks}
    return frozenset(one for one, own in parts.items() if all(word in text or word.upper() in text for word in own))


def _lacking(text: str, told: str, windows: Sequence[Snippet]) -> frozenset[str]:
    """The names, figures and quotations of a sentence that the cited windows do not tell, as spelt.

    A name of several words is one. No month, figure of two digits, or word in lower case there; the first word if it
    stands behind another name there.
    """
    first = {one for one in text.split()[:1] if any(one in surnames_within(own.text) for own in windows)}
    names = {GENITIVE.sub("", one) for one in names_within(without_quantities(text)) | first}
    figures = (one for one in _FIGURE.findall(text) if not _YEAR.fullmatch(one))
    marks = names.union(figures, (one[1:-1] for one in QUOTED.findall(text)))
    lacking = {one for one in marks if len(one) > _SHORTEST and one not in told and one.upper() not in told}
    small = {word for own in windows for word in _SMALL.findall(own.text)} if lacking else frozenset()
    own = sorted((re.escape(one) for one in lacking if one.lower() not in small), key=len, reverse=True)
    either = "|".join(own) or "(?!)"
    return frozenset(re.findall(rf"(?<!\w)(?:{either})(?: (?:{either}))*(?!\w)", text))


def _beginnings_told(text: str) -> frozenset[str]:
    """The beginnings of the words of another language's text; menus tell nothing."""
    return _beginnings(text) if is_prose(text) else frozenset()


def _beginnings(text: str) -> frozenset[str]:
    return frozenset(word[:_BEGINNING] for word in folded_words(text) if len(word) >= _BEGINNING or word.isdigit())
