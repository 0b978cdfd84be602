"""Checks of sentences that an editor writes: their additions must be in the article or in the cited passages."""

from collections.abc import Sequence

from storm_pipeline.evidence.judges.base import Question
from storm_pipeline.evidence.judges.spans import deciding
from storm_pipeline.evidence.passages import Passage, passages, with_source
from storm_pipeline.method.context import RunContext
from storm_pipeline.method.writers.judging import first_words
from storm_pipeline.text.languages import detect
from storm_pipeline.text.quantities import missing, month_names
from storm_pipeline.text.sentences import is_complete
from storm_pipeline.text.words import GENITIVE, folded_words, words
from storm_pipeline.types import Sentence

NOT_WHOLE = "the new text is not a whole sentence"


class EditChecks:
    """The checks of a sentence that replaces others.

    Args:
        article: headings and sentences before the first edit, whose names are allowed in every sentence.
    """

    def __init__(self, ctx: RunContext, article: Sequence[str]) -> None:
        self._ctx = ctx
        self._words = {word for text in (ctx.brief.topic, *article) for word in folded_words(text)}

    def cited(self, sentences: Sequence[Sentence]) -> tuple[Passage, ...]:
        """Return the passages that sentences cite, joined."""
        ids = dict.fromkeys(citation.snippet_id for sentence in sentences for citation in sentence.citations)
        known = {snippet.id: snippet for source in self._ctx.store.sources() for snippet in source.snippets}
        return passages((known[name] for name in ids if name in known), language=self._ctx.brief.language)

    def problem(self, sentence: Sentence, old: str, allowed: str, *, was_read: bool = False) -> str:
        """Return why a sentence cannot replace the old one; empty if it can.

        Args:
            allowed: the texts that the new one may repeat.
            was_read: whether a language model has read it, and supports it.
        """
        new = sentence.text
        if not is_complete(new) and (not new or is_complete(old)):
            return NOT_WHOLE
        if was_read:
            return ""
        sources = list(map(with_source, self.cited([sentence])))
        added = self._added(new, allowed, sources)
        if not added:
            return ""
        near = deciding(Question(new, tuple(sources)))[:1]
        have = "".join(f", which have “{first_words(sources[s.passage][s.start : s.end])}”" for s in near)
        return f"{', '.join(f'“{word}”' for word in added)} is neither in the sentence nor in its sources{have}"

    def _added(self, new: str, allowed: str, sources: Sequence[str]) -> list[str]:
        """Return the numbers and dates missing in ``allowed`` and sources, and capitalised words that occur nowhere."""
        language = self._ctx.brief.language
        known, languages = [f"{self._ctx.brief.topic} {allowed}", *sources], [language, *map(detect, sources)]
        absent = list(missing(new, known, language=language, source_languages=languages))
        had = self._words.union(*map(folded_words, known))
        had |= set(map(str.casefold, month_names(language)))
        return absent + [name for name in _names(new) if not had.issuperset(folded_words(name))]


def _names(text: str) -> list[str]:
    """Return the capitalised words, except the first word, which always has a capital."""
    return list(dict.fromkeys(GENITIVE.sub("", word) for word in words(text)[1:] if word[:1].isupper()))
