"""Recognises menus, link lists and tables of contents in a page's text, and repairs damaged text. Pure functions."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby

import ftfy

from storm_pipeline.files import table_beside
from storm_pipeline.languages import detect, split_sentences, stop_words
from storm_pipeline.quantities.number_words import vocabulary
from storm_pipeline.text.words import folded_words

_TABLE = table_beside(__file__)
_SHORTEST_MENU, _SHORTEST_ROW = 25, 5
_KNOWN_IN_ROW, _IN_CAPITALS = 3, 0.7  # items that many sites have in a row of links, and its share of words in capitals
_LISTED_IN_MENU = 0.08  # share of a long menu's words that may have a number or a comma
_PROSE = 0.05  # share of function words below which a long text between full stops is no prose
_STOP = re.compile(r"(?<=[.!?…])\s+")
_SENTENCE, _IN_SENTENCE, _IN_PROSE = 6, 0.2, 0.4  # words of a sentence, function words in it, and sentences in prose
_OF_SHORT_WORDS = frozenset("en de fr es it pt nl sv da no".split())
"""Languages in which every fourth word or so is a function word."""
_LISTED = re.compile(r"[,;\d]")
_YEAR = re.compile(r"(?<!\d)(?:1\d|20)\d\d(?!\d)")
_FEWEST, _LONGEST_ITEM = 4, 4  # items of a list of links, and words of an item
_KNOWN = 0.25  # minimum share of a list's items that menus of many sites have
_NAMES = re.compile(rf"\b(?:{'|'.join(_TABLE['items'])})\b", re.I)
_GLUED = re.compile(r"(?<!\S)(?:[A-Z][a-z]+&?){4,}(?!\S)")
"""Items of a menu without spaces between them: HomeNewsSportWeather."""
_PART = re.compile(r"[A-Z][a-z]+")
_JOINT = re.compile(r"(?<=[a-z]{2})(?=[A-Z][a-z])")
_JOINTS, _APART = 5, 3  # fewest joints of a glued menu, and most words in a row without one
_LEADERS = r"(?:[ ]?[.…·_]){4,}"
_CONTENTS = re.compile(rf"(?:[^.…\n]{{2,80}}{_LEADERS}[ ]?\d{{1,4}}\s*){{2,}}")
"""Two or more entries of a table of contents: a title, dots, and a page number."""
_ENTRY = re.compile("".join(_TABLE["entry"]))
"""An entry of a list of references."""
_FOOTNOTES = re.compile(r"(?:\^\s[^\^\n]{1,400}?(?=\^\s)){2,}\^\s[^\^.\n]{1,200}\.?")
"""Three notes or more of a list that is marked as in encyclopedias: ^ Title. Site."""
_ROW_OF_DOTS = re.compile(_LEADERS)
_LINE_END = re.compile(r"([^\W\d_]{2,})[‐\u00ad] (?!(?:and|or|to|und|oder|bis|et|ou|y|o|e)\b)([^\W\d_]{2,})")
"""A word that was divided at the end of a line by a hyphen that nobody types."""
_DIVIDED = re.compile(r"(?<![^\W\d_])([^\W\d_]{2,})- ([^\W\d_]{2,})(?![^\W\d_])")
_BROKEN_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,(?:\d{3}|\d \d\d|\d\d \d))+(?![\d,])")
_BROKEN_BEFORE = re.compile(r"(?<=\d) (?=0\d?,\d{3}(?!\d))")
_GLUED_MONTH = re.compile("".join(_TABLE["glued_month"]))
_GLUED_SENTENCE = re.compile("".join(_TABLE["glued_sentence"]))
_ENDS = re.compile(r"[.!?…。！？؟।:;][\"'”’»)\]」』]*$")
_FRAGMENT = 45  # maximum words of half a sentence; longer ones are lists and tables


def without_contents(text: str) -> str:
    """The text without tables of contents, entries of lists of references, glued menus and rows of dots."""
    if "...." in text or ". . ." in text or "……" in text or "____" in text:
        text = _ROW_OF_DOTS.sub(" … ", _CONTENTS.sub(" ", text))
    text = _without_glued(text)
    text = _FOOTNOTES.sub(" ", text) if text.count("^") > 2 else text
    text = _ENTRY.sub(" ", text)
    return _GLUED.sub(lambda found: " " if _are_links(_PART.findall(found[0])) else found[0], text)


def _without_glued(text: str) -> str:
    """The text without menus whose items lack spaces between them: "Top StoriesElectionsHealth NewsPolitics".

    What follows the last joint stays: it may be the title of the page.
    """
    joints = [found.start() for found in _JOINT.finditer(text)]
    cuts: list[tuple[int, int]] = []
    first = 0
    for i in range(1, len(joints) + 1):
        between = text[joints[i - 1] : joints[i]] if i < len(joints) else ""
        if i < len(joints) and len(between.split()) <= _APART + 1 and not _LISTED.search(between):
            continue
        if i - first >= _JOINTS:
            cuts.append((text.rfind(" ", 0, joints[first]) + 1, joints[i - 1]))
        first = i
    for start, end in reversed(cuts):
        text = f"{text[:start]} {text[end:]}"
    return text


def menu_items(pieces: Sequence[str], is_item: Sequence[bool]) -> set[int]:
    """Positions of the pieces of a line that are items of menus: short ones in a row, of which many sites have some.

    Args:
        pieces: between full stops, bullets and bars.
        is_item: whether a bullet or a bar stands before or after the piece.
    """
    found: set[int] = set()
    may_be = [own and _may_be_item(piece) for piece, own in zip(pieces, is_item, strict=True)]
    for _, run in groupby(range(len(pieces)), key=may_be.__getitem__):
        positions = list(run)
        if may_be[positions[0]] and _are_links([pieces[i] for i in positions]):
            found.update(positions)
    return found


def _may_be_item(piece: str) -> bool:
    piece = piece.lstrip("*•+-# ")
    return (
        0 < len(piece.split()) <= _LONGEST_ITEM and not _LISTED.search(piece) and piece[-1:] not in (".", "!", "?", ":")
    )


def _are_links(items: Sequence[str]) -> bool:
    known = sum(bool(_NAMES.search(item)) for item in items)
    return len(items) >= _FEWEST and known >= 2 and known >= _KNOWN * len(items)


def is_menu(piece: str) -> bool:
    """Whether a text between full stops is a list of links: hardly any numbers, commas and function words.

    Of a long one with capitals those count that have none, "Keys To The Game", and it may have some numbers and commas,
    but no year; others have neither. A shorter one has three items that menus of many sites have, and capitals. Where
    no language is known, or it has no function word list, a long one is a list if most words are in capitals.
    """
    words = piece.split()
    in_capitals, is_long = _capitals(words) >= _IN_CAPITALS, len(words) >= _SHORTEST_MENU
    is_row = is_long and in_capitals and not _YEAR.search(piece)
    listed = sum(bool(_LISTED.search(word)) for word in words)
    if len(words) < _SHORTEST_ROW or listed > is_row * _LISTED_IN_MENU * len(words):
        return False
    function_words = stop_words(detect(piece))
    prose = sum((word if is_row and word.istitle() else word.casefold()) in function_words for word in words)
    if not is_long:
        return not prose and len(_NAMES.findall(piece)) >= _KNOWN_IN_ROW and in_capitals
    return prose < _PROSE * len(words) if function_words else in_capitals


def _capitals(words: Sequence[str]) -> float:
    """Share of the words that begin with a capital."""
    return sum(word[:1].isupper() for word in words) / max(len(words), 1)


@lru_cache(maxsize=4096)
def is_prose(text: str) -> bool:
    """Whether two fifths of a text's words or more stand in sentences: six words, a fifth of them function words.

    A page's menus, lists of offers and records are none. Where no language is known, or its function words are few or
    parts of other words, a text is none if most of its words are in capitals.
    """
    language = detect(text)
    if language not in _OF_SHORT_WORDS:
        return _capitals(text.split()) < _IN_CAPITALS
    function_words = stop_words(language)
    sentences = [folded_words(sentence) for sentence in _STOP.split(text)]
    long = [own for own in sentences if len(own) >= _SENTENCE]
    told = (own for own in long if sum(word in function_words for word in own) >= _IN_SENTENCE * len(own))
    return sum(map(len, told)) >= _IN_PROSE * sum(map(len, sentences))


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
    is_short = [len(sentence.split()) <= _FRAGMENT for sentence in sentences]
    first = int(len(sentences) > 1 and is_short[0] and sentences[0][:1].islower())
    last = len(sentences) - int(len(sentences) > first + 1 and is_short[-1] and not _ENDS.search(sentences[-1]))
    if (first, last) == (0, len(sentences)):
        return text
    start = text.find(sentences[first])
    end = len(text) if last == len(sentences) else text.rfind(sentences[last])
    return text[start:end].strip() if 0 <= start < end else text
