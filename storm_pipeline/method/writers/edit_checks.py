"""Checks of sentences that an editor writes: their additions must be in the article or in the cited passages."""

from collections.abc import Iterable, Sequence

from storm_pipeline.evidence.citations import Claim
from storm_pipeline.evidence.judges.base import Question
from storm_pipeline.evidence.judges.spans import deciding
from storm_pipeline.evidence.passages import Passage, passages, with_source
from storm_pipeline.evidence.screen import Screen
from storm_pipeline.method.context import RunContext
from storm_pipeline.method.writers.judging import first_words
from storm_pipeline.text.languages import detect
from storm_pipeline.text.quantities import missing, month_names
from storm_pipeline.text.sentences import is_complete
from storm_pipeline.text.words import GENITIVE, folded_words, words
from storm_pipeline.types import Sentence


class EditChecks:
    """The checks of a sentence that replaces others.

    Args:
        article: headings and sentences before the first edit, whose names are allowed in every sentence.
    """

    def __init__(self, ctx: RunContext, article: Sequence[str]) -> None:
        self._ctx = ctx
        self._snippets = {snippet.id: snippet for source in ctx.store.sources() for snippet in source.snippets}
        self._words = {word for text in (ctx.brief.topic, *article) for word in folded_words(text)}

    def know(self, shown: Iterable[Passage]) -> None:
        """Take passages as sources that a sentence may cite."""
        self._snippets.update((snippet.id, snippet) for passage in shown for snippet in passage.snippets)

    def cited(self, sentences: Sequence[Sentence]) -> tuple[Passage, ...]:
        """Return the passages that sentences cite, joined."""
        ids = dict.fromkeys(citation.snippet_id for sentence in sentences for citation in sentence.citations)
        snippets = (self._snippets[name] for name in ids if name in self._snippets)
        return passages(snippets, language=self._ctx.brief.language)

    def problem(self, new: str, old: Sentence, allowed: str, *, was_read: bool = False) -> str:
        """Return why a text cannot replace a sentence; empty if it can.

        Args:
            old: a sentence with the citations that the new one gets.
            allowed: the texts that the new one may repeat.
            was_read: whether a language model has read the text, and supports it.
        """
        if not is_complete(new) and (not new or is_complete(old.text)):
            return "the new text is not a whole sentence"
        if was_read:
            return ""
        shown = self.cited([old])
        sources = [with_source(passage) for passage in shown]
        added = self._added(new, allowed, sources)
        if not added and not self._is_unlike(new, allowed, shown):
            return ""
        have = "".join(f", which have “{first_words(text)}”" for _, text in find_nearest(sources, new)[:1])
        what = ", ".join(f"“{word}”" for word in added) or "this"
        return f"{what} is neither in the sentence nor in its sources{have}"

    def _added(self, new: str, allowed: str, sources: Sequence[str]) -> list[str]:
        """Return the numbers and dates missing in ``allowed`` and sources, and capitalised words that occur nowhere."""
        language = self._ctx.brief.language
        known, languages = [f"{self._ctx.brief.topic} {allowed}", *sources], [language, *map(detect, sources)]
        absent = list(missing(new, known, language=language, source_languages=languages))
        had = self._words.union(*map(folded_words, known))
        had |= set(map(str.casefold, month_names(language)))
        return absent + [name for name in _names(new) if not had.issuperset(folded_words(name))]

    def _is_unlike(self, new: str, replaced: str, shown: Sequence[Passage]) -> bool:
        """Return whether the screen finds that a text is about something else than what it cites and replaces."""
        if not shown:
            return False
        language = self._ctx.brief.language
        screen = Screen(
            shown, known=f"{self._ctx.brief.topic} {replaced}", embed=self._ctx.store.embed, language=language
        )
        (judged,) = screen.judge([Claim(new, tuple(range(len(shown))))])
        return bool(judged.problem) and not judged.is_only_copied


def find_nearest(sources: Sequence[str], text: str) -> list[tuple[int, str]]:
    """Return the sentences of sources with most of a text's words, at most three, with their sources' positions."""
    spans = deciding(Question(text, tuple(sources)))
    return [(span.passage, sources[span.passage][span.start : span.end]) for span in spans]


def _names(text: str) -> list[str]:
    """Return the capitalised words, except the first word, which always has a capital."""
    return list(dict.fromkeys(GENITIVE.sub("", word) for word in words(text)[1:] if word[:1].isupper()))
