"""Repairs text that was damaged on its way from a page, and cuts it to whole sentences. Pure functions."""

import re

import ftfy

from storm_pipeline.languages import detect, split_sentences
from storm_pipeline.quantities.vocabulary import vocabulary
from storm_pipeline.text.words import folded_words

_LINE_END = re.compile(r"([^\W\d_]{2,})[‐\u00ad] (?!(?:and|or|to|und|oder|bis|et|ou|y|o|e)\b)([^\W\d_]{2,})")
"""A word that was divided at the end of a line by a hyphen that nobody types."""
_DIVIDED = re.compile(r"(?<![^\W\d_])([^\W\d_]{2,})- ([^\W\d_]{2,})(?![^\W\d_])")
_BROKEN_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,(?:\d{3}|\d \d\d|\d\d \d))+(?![\d,])")
_BROKEN_BEFORE = re.compile(r"(?<=\d) (?=0\d?,\d{3}(?!\d))")
_GLUED_MONTH = re.compile(
    r"(?<=\d )(January|February|April|June|July|September|October|November|December)(?=[a-z]{4})(?!fest|berg|ist)"
)
_GLUED_SENTENCE = re.compile(
    r"(?<=[^\W\d_A-Z]{3}[.!?])(?=[A-Z][a-z]+[ ,])|(?<=[a-z]{3}(?:[.!?][”\"]|[”\"][.!?]))(?=[A-Z][a-z]+ )"
)
_ENDS = re.compile(r"[.!?…。！？؟।:;][\"'”’»)\]」』]*$")
_FRAGMENT = 45  # maximum words of half a sentence; longer ones are lists and tables


def repaired(text: str) -> str:
    """The text with its letters decoded anew, and with divided words, broken numbers and glued sentences mended.

    "cafÃ©" becomes "café", "thou‐ sand" "thousand", "20,0 00,000" "20,000,000", "13 Octoberbriefing" "13 October
    briefing", and "was there.He left" "was there. He left".
    """
    if not text.isascii():
        text = ftfy.fix_encoding(text)
        text = _LINE_END.sub(r"\1\2", text)
    if "- " in text:
        known = frozenset(folded_words(text))
        text = _DIVIDED.sub(lambda found: _joined(found, known), text)
    text = _BROKEN_BEFORE.sub("", text)
    text = _BROKEN_THOUSANDS.sub(lambda found: found[0].replace(" ", ""), text)
    return _GLUED_SENTENCE.sub(" ", _GLUED_MONTH.sub(r"\1 ", text))


def _joined(found: re.Match[str], words: frozenset[str]) -> str:
    """The two parts as one word, if the text has it elsewhere or it is a number."""
    whole = (found[1] + found[2]).casefold()
    known = vocabulary("en")
    is_word = whole in known.magnitudes or whole in known.numerals or whole in words
    return found[1] + found[2] if is_word else found[0]


def whole_sentences(text: str) -> str:
    """The text without half a sentence at its beginning and end; unchanged if nothing else is in it.

    A beginning in lower case is half a sentence, and so is an end without a full stop. What is longer than a sentence,
    such as a table, stays.
    """
    sentences = split_sentences(text, detect(text) or "en")
    first = int(len(sentences) > 1 and _is_rest(sentences[0]))
    last = len(sentences) - int(len(sentences) > first + 1 and _is_part(sentences[-1]))
    if (first, last) == (0, len(sentences)):
        return text
    start = text.find(sentences[first])
    end = len(text) if last == len(sentences) else text.rfind(sentences[last])
    return text[start:end].strip() if 0 <= start < end else text


def _is_rest(sentence: str) -> bool:
    return sentence[:1].islower() and len(sentence.split()) <= _FRAGMENT


def _is_part(sentence: str) -> bool:
    return not _ENDS.search(sentence) and len(sentence.split()) <= _FRAGMENT
