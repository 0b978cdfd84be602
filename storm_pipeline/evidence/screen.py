"""The screen: compares sentences with the passages that they cite, and mends citations where it can.

It is not a judge of support. It notices a citation of another page, a number that no source has, and copied wording.
A fault that it cannot mend becomes a problem, worded so that the writer can act on it.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import groupby

import numpy as np

from storm_pipeline.evidence.citations import Claim
from storm_pipeline.evidence.facts import find_cover, recall
from storm_pipeline.evidence.passages import Passage
from storm_pipeline.evidence.retrieval import Embed, Vector, Vectors
from storm_pipeline.sources.search.edge import LONGEST_TEXT
from storm_pipeline.text.languages import count_words, detect, has_spaces, scripts_of, stem_set, windows
from storm_pipeline.text.quantities import Stated
from storm_pipeline.text.words import folded_words, foreign_script_share, longest_common_run
from storm_pipeline.types import Citation, Sentence

_SUGGESTED = 3  # additional passages shown with a remark
_MARKED = re.compile(r"\[(\d{1,9})\]")
_PARTS = re.compile(r"[\"“”„«»|｜「」『』]|\.\.\.|…|(?<=[.!?。]) ")
_QUOTED = re.compile(r"[\"“„«»「『][^\"“”„«»「」『』]{3,}[\"”“»«」』]")


@dataclass(frozen=True)
class Limits:
    """The limits of the screen; ``docs/lab/bench.md`` has measurements of others.

    Similarities are means of cosine and share of words, in [0, 1].
    """

    keep: float = 0.30  # minimum similarity of a sentence to its cited passages
    recite: float = 0.55  # minimum similarity of a passage that is cited instead or in addition
    window: int = 45  # words of an embedded window
    step: int = 30  # words between the starts of windows
    run: int = 16  # maximum run of words shared with a passage, without capitalised words and numbers; 0: any
    quotation: int = 4  # minimum words of a quotation that counts


@dataclass(frozen=True)
class ScreenVerdict:
    """The verdict on a sentence."""

    sentence: Sentence  # the sentence, citing snippets of the passages that support it
    change: str = ""  # description of the change to its citations; empty if unchanged
    problem: str = ""  # description of what the writer has to fix; empty if nothing
    is_only_copied: bool = False  # whether the problem is copied wording rather than missing support
    unfound: tuple[str, ...] = ()  # numbers that no cited passage has in this form, where that is the whole problem
    is_doubted: bool = False  # whether the run's judge doubts the sentence

    @property
    def is_supported(self) -> bool:
        """Whether passages support the sentence, perhaps in wording copied from them."""
        return not self.problem or self.is_only_copied


def numbers_shown(positions: Iterable[int]) -> str:
    """Return the positions of passages, from 0, as the numbers by which prompts cite them: ``[1][4]``."""
    return "".join(f"[{position + 1}]" for position in positions)


class Screen:
    """A check of sentences against the passages that their writer was shown.

    Args:
        known: text whose content needs no citation: the topic and the headings.
        language: ISO 639-1 code of the sentences.
        source_language: text of a passage → its language. Sentences are not compared with passages in another one.
    """

    def __init__(
        self,
        shown: Sequence[Passage],
        *,
        known: str,
        embed: Embed,
        language: str = "en",
        limits: Limits = Limits(),
        source_language: Callable[[str], str] = detect,
    ) -> None:
        self.shown = tuple(shown)
        self._known, self._embed, self._language, self._limits = known, embed, language, limits
        around = stem_set(known, language)
        self._texts = [f"{p.title} {p.heading} {p.site} {p.published or ''} {p.text}" for p in shown]
        self._stems = [stem_set(text, language) | around for text in self._texts]
        self._windows = [windows(passage.text[:LONGEST_TEXT], limits.window, limits.step) for passage in shown]
        self._languages = [source_language(passage.text) for passage in shown]
        self._stated = Stated(zip((*self._texts, known), (*self._languages, language), strict=True))  # the known last
        pairs = sorted((stem, i) for i, stems in enumerate(self._stems) for stem in stems)
        self._holders = {stem: np.array([i for _, i in held]) for stem, held in groupby(pairs, lambda pair: pair[0])}
        self._starts = np.cumsum([0, *map(len, self._windows)])[:-1]  # of each passage's windows among all
        self._vectors: dict[str, Vector] = {}

    def as_written(self, claim: Claim) -> Sentence:
        """Return the sentence with its writer's citations, unchecked."""
        return Sentence(claim.text, self._citations(claim.text, claim.cited))

    def judge(self, claims: Sequence[Claim], *, will_be_read: bool = False) -> list[ScreenVerdict]:
        """Return the verdicts on the sentences, in the same order.

        ``will_be_read``: whether a judge reads the cited passages, so that citations are kept regardless of similarity.
        """
        doubtful = [] if will_be_read else [claim for claim in claims if not self._shares_enough(claim)]
        self._vectors_of([text for claim in doubtful for text in (claim.text, *self._windows_of(claim.cited))])
        kept = [claim.cited if will_be_read or self._is_similar(claim) else () for claim in claims]
        among = ({*cited, len(self.shown)} for cited in kept)
        lacking = [self._stated.missing(c.text, self._language, those) for c, those in zip(claims, among, strict=True)]
        doubted = [claim.text for claim, cited, some in zip(claims, kept, lacking, strict=True) if some or not cited]
        self._vectors_of([*doubted, *self._windows_of(range(len(self.shown)))] if doubted else [])
        return list(map(self._decide, claims, kept, lacking))

    def passages_for_revision(self, claim: Claim, verdict: ScreenVerdict) -> tuple[int, ...]:
        """Return the positions of the passages that a writer needs to fix a problem.

        The cited ones with their neighbours on their pages, those named by the problem, and the most similar ones.
        """
        every = range(len(self.shown))
        named = {int(number) - 1 for number in _MARKED.findall(verdict.problem)}
        pairs = ((i, j) for i in claim.cited for j in (i - 1, i + 1) if j in every)
        beside = (j for i, j in pairs if self.shown[max(i, j)].continues(self.shown[min(i, j)]))
        similar = [i for i in self._similar(claim, self._limits.keep) if i not in claim.cited][:_SUGGESTED]
        return tuple(dict.fromkeys((*claim.cited, *beside, *named & {*every}, *similar)))

    def by_quotation(self, claim: Claim, quotation: str) -> ScreenVerdict | None:
        """Return the verdict on a sentence that its writer supports with a quotation; None if no passage has it.

        Each of its parts, divided by quotation marks, dots and the ends of sentences, must be in a passage word for
        word; cited passages come first.
        """
        parts = (part for part in _PARTS.split(quotation) if count_words(part) >= self._limits.quotation)
        text_of = cache(lambda i: " ".join(folded_words(self._texts[i])))
        order = dict.fromkeys((*claim.cited, *range(len(self.shown))))
        quoted = (" ".join(folded_words(part)) for part in parts)
        places = [next((i for i in order if part in text_of(i)), -1) for part in quoted]
        if not places or -1 in places:
            return None
        kept = tuple(dict.fromkeys((*claim.cited, *places)))
        change = f"{numbers_shown(dict.fromkeys(places))} quoted"
        return ScreenVerdict(Sentence(claim.text, self._citations(claim.text, kept)), change)

    def _decide(self, claim: Claim, kept: tuple[int, ...], lacking: Sequence[str]) -> ScreenVerdict:
        """Return the verdict. ``kept``: positions of the citations that stay; ``lacking``: quantities not in them."""
        text = claim.text
        if foreign_script_share(text, self._known, scripts_of(self._language)) > 1 / 2:
            return ScreenVerdict(Sentence(text), problem="it is not written in the letters of the article")
        if not self.shown:
            return ScreenVerdict(Sentence(text), problem="no source was found for it")
        added: tuple[int, ...] = ()
        if lacking or not kept:
            usable = self._stated.completing(text, self._language, {*kept, len(self.shown)})
            similar = self._similar(claim, self._limits.recite) if usable else []
            added = next(((i,) for i in similar if i in usable), ())
        if not kept and not added:
            do = "does" if len(claim.cited) == 1 else "do"
            finding = f"{numbers_shown(claim.cited)} {do} not say this" if claim.cited else "it cites no passage"
            return ScreenVerdict(Sentence(text), problem=f"{finding}, nor does any other passage shown")
        sentence = Sentence(text, self._citations(text, (*kept, *added)))
        if lacking and not added:
            spelt = ", ".join(f"“{quantity}”" for quantity in lacking)
            problem = f"{spelt} {'is' if len(lacking) == 1 else 'are'} not in {numbers_shown(claim.cited)}"
            return ScreenVerdict(sentence, problem=problem, unfound=tuple(lacking))
        too = " too" if kept else f" instead of {numbers_shown(claim.cited)}" if claim.cited else ""
        change = f"{numbers_shown(added)} cited{too}" if added else ""
        if (source := self.copied_from(text)) is not None:
            problem = f"it repeats the words of [{source + 1}]: say it in words of your own, or quote a legal formula"
            return ScreenVerdict(sentence, change, problem, is_only_copied=True)
        return ScreenVerdict(sentence, change)

    def _is_similar(self, claim: Claim) -> bool:
        """Return whether a sentence is similar to its cited passages, or cites a passage in another language."""
        if (is_enough := self._shares_enough(claim)) or not claim.cited:
            return is_enough
        vectors = self._vectors_of([claim.text, *self._windows_of(claim.cited)])
        cosine = max(0.0, float((vectors[1:] @ vectors[0]).max()))
        return (self._share(claim.text, claim.cited) + cosine) / 2 >= self._limits.keep

    def _shares_enough(self, claim: Claim) -> bool:
        """Return whether a sentence's citations are kept without the cosine: by shared words, or another language."""
        if any(self._languages[i] not in {"", self._language} for i in claim.cited):
            return True
        return self._share(claim.text, claim.cited) >= 2 * self._limits.keep

    def _share(self, text: str, positions: Iterable[int]) -> float:
        """Return the share of a sentence's stems that passages, their titles and the known text have, in [0, 1]."""
        had = frozenset[str]().union(*(self._stems[i] for i in positions))
        return recall(stem_set(text, self._language), had)

    def _similar(self, claim: Claim, least: float) -> list[int]:
        """Return the passages whose similarity to a sentence is at least ``least``, most similar first."""
        if not self.shown:
            return []
        needed, vector = stem_set(claim.text, self._language), self._vectors_of([claim.text])[0]
        had = [self._holders[stem] for stem in needed & self._holders.keys()]
        shares = np.bincount(np.concatenate([*had, self._starts[:0]]), minlength=len(self.shown)) / max(1, len(needed))
        similar = (shares + np.maximum.reduceat(self._every_window @ vector, self._starts).clip(min=0)) / 2
        order = np.argsort(-similar, kind="stable")
        return [int(i) for i in order[similar[order] >= least]]

    @cached_property
    def _every_window(self) -> Vectors:
        return self._vectors_of(self._windows_of(range(len(self.shown))))

    def _windows_of(self, positions: Iterable[int]) -> list[str]:
        return [part for i in positions for part in self._windows[i]]

    def _vectors_of(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors, shape (texts, dimension); each text is embedded once, all new ones in one call."""
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            self._vectors.update(zip(new, self._embed(new), strict=True))
        return np.stack([self._vectors[text] for text in texts]) if texts else np.zeros((0, 0), np.float32)

    def copied_from(self, text: str) -> int | None:
        """Return the first passage that shares too many words in a row with a sentence, quotations not counted."""
        plain, longest = _QUOTED.sub(" ", text), self._limits.run
        least = longest + 1 if has_spaces(self._language) else 1  # there a word may count as less than one, or as more
        for i, passage in enumerate(self.shown if longest else ()):
            run = (word for word in longest_common_run(plain, passage.text, least) if not word[0].isdigit())
            if count_words(" ".join(word for word in run if not word[0].isupper())) > longest:
                return i
        return None

    def _citations(self, text: str, kept: Sequence[int]) -> tuple[Citation, ...]:
        """Cite for each passage the snippet with most of a sentence's stems, and others that add stems or a number."""
        needed = stem_set(text, self._language)
        chosen = []
        for i in kept:
            snippets = self.shown[i].snippets
            parts = [needed & stem_set(snippet.text, self._language) for snippet in snippets]
            best = max(range(len(snippets)), key=lambda at: len(parts[at]))
            cited = dict.fromkeys((best, *find_cover(needed, parts, 2)))
            for at, part in enumerate(parts):
                if any(map(str.isdigit, part.difference(*(parts[other] for other in cited)))):
                    cited[at] = None
            chosen += [snippets[at] for at in cited]
        return tuple(dict.fromkeys(Citation(snippet.source_id, snippet.id) for snippet in chosen))
