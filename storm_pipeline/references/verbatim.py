"""Finds wording copied from passages, and quotations; removes citations made needless by rewording. Pure functions."""

import re
from collections.abc import Mapping, Sequence

from storm_pipeline.languages import capitalises_nouns, count_words, stem_set
from storm_pipeline.quantities import missing
from storm_pipeline.text.words import folded_words, longest_common_run
from storm_pipeline.types import Sentence

_SHORTEST_QUOTATION = 4  # minimum words of a significant quotation
_LONG_WORD = 5  # minimum letters of a word that may be glued to the next one in a passage
_PARTS = re.compile(r"[\"“”„«»|｜「」『』]|\.\.\.|…|(?<=[.!?。]) ")
QUOTED = re.compile(r"[\"“„«»「『][^\"“”„«»「」『』]{3,}[\"”“»«」』]")


def copied_from(text: str, passages: Sequence[str], longest: int, language: str = "en") -> int | None:
    """Position of the first passage that a text copies from; None if there is none.

    Args:
        text: a sentence; text in quotation marks is ignored.
        longest: longest allowed run of words, not counting names and numbers.
        language: ISO 639-1 code of the text; in languages that capitalise all nouns, names count too.
    """
    plain = QUOTED.sub(" ", text)
    shortest = longest + 1 if plain.isascii() else 1  # a word of another script may count as several
    for i, passage in enumerate(passages):
        run = longest_common_run(plain, passage, shortest)
        counted = [w for w in run if not w[0].isdigit() and (capitalises_nouns(language) or not w[0].isupper())]
        if count_words(" ".join(counted)) > longest:
            return i
    return None


def quoted_in(quotation: str, passages: Sequence[str], first: Sequence[int] = ()) -> tuple[int, ...]:
    """Positions of the passages that contain a quotation, ignoring case and punctuation; empty if any part is missing.

    In the passage, another word may be glued to the last one, and to the first one of a long quotation: extraction
    often loses the space between sentences.

    Args:
        quotation: one or more parts, in quotation marks, separated by dots, or sentences, since a prompt leaves out
            those that another passage has; parts of under four words are ignored.
        first: positions to search before the others.
    """
    parts = [folded_words(part) for part in _PARTS.split(quotation) if count_words(part) >= _SHORTEST_QUOTATION]
    found = [_place_of(words, passages, first) for words in parts]
    held = [position for position in found if position is not None]
    return tuple(dict.fromkeys(held)) if len(held) == len(found) else ()


def _place_of(words: Sequence[str], passages: Sequence[str], first: Sequence[int]) -> int | None:
    before, behind = len(words) < 2 * _SHORTEST_QUOTATION, len(words[-1]) < _LONG_WORD
    wanted = f"{' ' * before}{' '.join(words)}{' ' * behind}"
    order = dict.fromkeys((*first, *range(len(passages))))
    return next((i for i in order if wanted in f" {' '.join(folded_words(passages[i]))} "), None)


def reworded(sentence: Sentence, text: str, snippets: Mapping[str, str], language: str) -> Sentence:
    """The sentence with a new text, without the citations that became obsolete; at least one citation stays.

    A citation is obsolete if its snippet alone has words that the rewording removed, but no word and no number of the
    new text that the other cited snippets lack. Unknown snippets, and those that share no words with the sentence, such
    as those in another language, keep their citations. ``snippets``: snippet id → text.
    """
    new = stem_set(text, language)
    removed = stem_set(sentence.text, language) - new
    kept = list(sentence.citations)
    for citation in sentence.citations:
        if len(kept) == 1:
            break
        others = [snippets.get(one.snippet_id, "") for one in kept if one != citation]
        own = snippets.get(citation.snippet_id, "")
        alone = stem_set(own, language).difference(*(stem_set(other, language) for other in others))
        if not alone & removed or alone & new:
            continue
        if missing(text, others, language=language) == missing(text, [*others, own], language=language):
            kept.remove(citation)
    return Sentence(text, tuple(kept))
