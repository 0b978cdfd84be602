"""Selecting the declarative sentences of a page: no questions, menus, site notices, lists of names or verse numbers.

Extracted text is noisy: menus run into the first sentence, every verse is numbered, or capitals and full stops are
missing. A model that is shown such a line copies it.
"""

import re
from collections.abc import Sequence

from storm_pipeline.files import table_beside
from storm_pipeline.text.index_terms import STOP_WORDS
from storm_pipeline.text.sentences import is_complete, split_sentences
from storm_pipeline.text.words import word_count, words

_PATTERNS = table_beside(__file__)
_MIN_WORDS, _MAX_WORDS = 5, 60  # length of a sentence that can be a fact
_PIECE = 40  # words per piece of a text without sentence boundaries
_PROSE = 0.35  # minimum share of English function words in a piece of prose; menus have about half of it
_LIST, _LIST_WORDS, _LIST_PROSE = 0.55, 12, 0.15
"""A line is a list of names if capitals exceed the first share, with at least so many words, and function words
are below the last share."""
_BROKEN = "\ufffd"
_BULLET = re.compile("".join(_PATTERNS["bullet"]))
_VERSE = re.compile(r"^\d{1,3}[a-z]?(?=[“\"‘']?[A-Z])")
_VERSES = 3  # minimum number of sentences that start with a number for them to be verse numbers; a few may be isotopes
_NOTE = re.compile(r"(?<=[,.;:!?”\"’])\([A-Z]{1,2}\)(?=\s|$)")
_ADDRESSES_READER = re.compile(r"\b(?:[Yy]ou|[Yy]our|[Ww]e|[Oo]ur|us)\b|^(?:Try|Sign|Log)\b")
_ABOUT_THE_SITE = re.compile("".join(_PATTERNS["about_the_site"]), re.I)
_ERROR_NOTICE = re.compile("".join(_PATTERNS["error_notice"]), re.I)
_CALL_TO_ACTION = re.compile(r"^(?:Click|Tap|Subscribe|Accept|(?:Read|See|Learn|Find out) more|Sign up|Log in)\b")
_QUESTION = re.compile(r"\?[?.…\s\"'”’)\]]*$")
_LATIN = re.compile(r"[A-Za-z]")


def statements_in(text: str) -> tuple[str, ...]:
    """The declarative sentences of a text in order, 5 to 60 words each, without list numbers and note marks.

    A short text without a complete sentence is returned whole. A longer one without sentence boundaries is cut into
    pieces, of which those that look like prose are returned.
    """
    sentences = [_NOTE.sub("", _BULLET.sub("", " ".join(s.split()))).strip() for s in split_sentences(text)]
    if sum(bool(_VERSE.match(s)) for s in sentences) >= _VERSES:
        sentences = [_VERSE.sub("", s) for s in sentences]
    whole = [s for s in sentences if _MIN_WORDS <= word_count(s) <= _MAX_WORDS and is_complete(s)]
    if whole:
        return tuple(s for s in whole if not (is_question(s) or _is_list(s) or _is_notice(s)))
    bare = text.split()
    if len(bare) <= _MAX_WORDS or not _LATIN.search(text):
        return (" ".join(bare[:_MAX_WORDS]),) if bare else ()
    pieces = (" ".join(bare[i : i + _PIECE]) for i in range(0, len(bare) - _PIECE // 2, _PIECE))
    return tuple(piece for piece in pieces if _function_words(words(piece)) >= _PROSE and _BROKEN not in piece)


def is_question(sentence: str) -> bool:
    """Whether a sentence ends in a question mark, ignoring trailing dots, quotation marks and brackets."""
    return bool(_QUESTION.search(sentence))


def _is_notice(sentence: str) -> bool:
    to_visitor = _ADDRESSES_READER.search(sentence) and _ABOUT_THE_SITE.search(sentence)
    return bool(_ERROR_NOTICE.search(sentence) or _CALL_TO_ACTION.search(sentence) or to_visitor)


def _is_list(sentence: str) -> bool:
    """Whether a line is a menu or a bibliography that happens to end in a full stop, or has undecodable characters.

    A line that starts with ``^`` is an entry of a wiki's list of references.
    """
    found = words(sentence)
    capitals = sum(word[0].isupper() for word in found) / len(found)
    many = len(found) >= _LIST_WORDS and capitals > _LIST and _function_words(found) < _LIST_PROSE
    return many or sentence.startswith("^") or _BROKEN in sentence


def _function_words(found: Sequence[str]) -> float:
    return sum(word.casefold() in STOP_WORDS for word in found) / len(found) if found else 0.0
