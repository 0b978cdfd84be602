"""What of a text says something: whole sentences, no questions, menus, notices, lists of names or numbers of verses.

Pages reach a run in every condition: with their menus run together with the first sentence, with every verse numbered,
or with neither capitals nor full stops. A writer shown such a line writes it down.
"""

import re
from collections.abc import Sequence

from storm_pipeline.text.index_terms import STOP_WORDS
from storm_pipeline.text.sentences import is_complete, split_sentences
from storm_pipeline.text.words import word_count, words

_SHORTEST, _LONGEST = 5, 60
"""Words of a sentence that can stand as a fact."""
_PIECE = 40
"""Words of a piece of a text in which nothing tells where sentences end."""
_PROSE = 0.35
"""Share of English function words from which on such a piece is prose; a menu has half as many."""
_LIST, _LIST_WORDS, _LIST_PROSE = 0.55, 12, 0.15
"""From so many words on, a line with more capitals and fewer function words than these shares is a list of names."""
_BROKEN = "\ufffd"
_BULLET = re.compile(
    r"^(?:[-–•·*]\s*|\(?\d{1,3}[.)]\s+|\(\d{1,3}[-–]\d{1,3}\)\s*|[ivx]{1,4}\.\s+|\d{1,3}[a-z]\s+(?=[A-Z]))+"
)
_VERSE = re.compile(r"^\d{1,3}[a-z]?(?=[“\"‘']?[A-Z])")
_VERSES = 3
"""Sentences that open with a number, from which on these count verses: a few may be isotopes."""
_NOTE = re.compile(r"(?<=[,.;:!?”\"’])\([A-Z]{1,2}\)(?=\s|$)")
_ADDRESSED = re.compile(r"\b(?:[Yy]ou|[Yy]our|[Ww]e|[Oo]ur|us)\b|^(?:Try|Sign|Log)\b")
_OF_THE_SITE = re.compile(
    r"\b(?:accounts?|browsers?|categor(?:y|ies)|cookies?|downloads?|e-?mails?|inbox|javascript|log(?:ged|ging)? in|"
    r"newsletters?|passwords?|permission|preferences|privacy|(?:this|our|the) site|sign(?:ed|ing)? (?:in|up)|"
    r"subscri(?:be|bers?|ptions?)|terms|web ?sites?)\b",
    re.I,
)
_OUT_OF_ORDER = re.compile(
    r"^(?:Sorry|Oops|Loading)\b|\b(?:(?:please|and) try again|error was encountered|something went wrong)\b", re.I
)
_ASKS = re.compile(r"^(?:Click|Tap|Subscribe|Accept|(?:Read|See|Learn|Find out) more|Sign up|Log in)\b")
_QUESTION = re.compile(r"\?[?.…\s\"'”’)\]]*$")
_LATIN = re.compile(r"[A-Za-z]")


def told_in(text: str) -> tuple[str, ...]:
    """What a text says, in order: sentences of 5 to 60 words that state something, without what numbers or marks them.

    A short text without a whole sentence is taken as it is. Of a longer one, in which nothing tells where sentences
    end, the pieces that read as prose are taken.
    """
    sentences = [_unmarked(" ".join(s.split())) for s in split_sentences(text)]
    if sum(bool(_VERSE.match(s)) for s in sentences) >= _VERSES:
        sentences = [_VERSE.sub("", s) for s in sentences]
    whole = [s for s in sentences if _SHORTEST <= word_count(s) <= _LONGEST and is_complete(s)]
    if whole:
        return tuple(s for s in whole if not (is_question(s) or _is_list(s) or _is_notice(s)))
    bare = text.split()
    if len(bare) <= _LONGEST or not _LATIN.search(text):
        return (" ".join(bare[:_LONGEST]),) if bare else ()
    pieces = (" ".join(bare[i : i + _PIECE]) for i in range(0, len(bare) - _PIECE // 2, _PIECE))
    return tuple(piece for piece in pieces if _function_words(words(piece)) >= _PROSE and _BROKEN not in piece)


def is_question(sentence: str) -> bool:
    """Whether a sentence ends in a question mark, whatever dots, quotation marks and brackets stand behind it."""
    return bool(_QUESTION.search(sentence))


def _unmarked(sentence: str) -> str:
    """Without what numbers it, and without marks of notes."""
    return _NOTE.sub("", _BULLET.sub("", sentence)).strip()


def _is_notice(sentence: str) -> bool:
    """Whether a site speaks of itself to who visits it: of cookies, accounts, errors and the like."""
    of_it = _ADDRESSED.search(sentence) and _OF_THE_SITE.search(sentence)
    return bool(_OUT_OF_ORDER.search(sentence) or _ASKS.search(sentence) or of_it)


def _is_list(sentence: str) -> bool:
    """Whether a line of many words is a menu or a bibliography that a full stop happens to end, or broken text."""
    told = words(sentence)
    capitals = sum(word[0].isupper() for word in told) / len(told)
    many = len(told) >= _LIST_WORDS and capitals > _LIST and _function_words(told) < _LIST_PROSE
    return many or _BROKEN in sentence


def _function_words(told: Sequence[str]) -> float:
    return sum(word.casefold() in STOP_WORDS for word in told) / len(told) if told else 0.0
