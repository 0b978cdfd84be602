"""Sentence splitting in many languages. Linear in the text's length.

English uses :mod:`storm_pipeline.text.sentences`. In all other languages a stop ends a sentence if white space or a
citation marker follows, and it does not belong to an abbreviation, initial or ordinal; the full-width stops of Chinese
and Japanese always do.
"""

import functools
import re
from collections.abc import Iterable, Iterator
from itertools import chain

from storm_pipeline.files import table_beside
from storm_pipeline.text import sentences
from storm_pipeline.text.markers import without_markers
from storm_pipeline.text.words import has_word

_TABLE = table_beside(__file__)
_ORDINALS = frozenset({"de", "pl", "da", "no", "fi", "cs", "sk", "hu", "hr", "sr", "sl", "et", "lv", "is", "tr"})
_MARK = "\ue000"  # placeholder for a character of a citation marker
_FULL_WIDTH = "。！？｡"
_SPACED = ".!?…؟۔।॥։።"
_CLOSING = "\"'”’»›)\\]}」』】》〉）］"
_STOP = re.compile(rf"[{_SPACED}{_FULL_WIDTH}]")
_HIDDEN = {ord(stop): 0xE100 + i for i, stop in enumerate(_SPACED + _FULL_WIDTH)}
_SHOWN = {hidden: stop for stop, hidden in _HIDDEN.items()}
_BRACKET = re.compile(r"\s*\([^()]*\)\s*$")
_IS_HIDDEN = re.compile("[\ue100-\ue1ff]")
_BEHIND_NAME = re.compile(rf"[{_CLOSING}]*(?:\s*$|\s+[\"“‘«„]?([^\W\d_]))")
"""What may stand behind a name at the end of a sentence."""
_BOUNDARY = re.compile(
    rf"(?<![{_SPACED}{_FULL_WIDTH}])(?P<stop>[{_SPACED}{_FULL_WIDTH}]++)"
    rf"(?P<closed>(?:[ \u00a0\u202f]?[»›”’)\]])*+[{_CLOSING}“«‹]*+)"
    rf"(?P<gap>[\s{_MARK}]*+)(?=\S)"
)
_NEXT = re.compile(r"[^\w\s]{0,4}([^\W_])")
_LOOKBEHIND = 24  # characters before a full stop that are searched for an abbreviation
_TOKEN = re.compile(r"[^\s(\[{«„“\"'’‘]*$")
_LETTERS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")
_ORDINAL = re.compile(r"(?:\d{1,2}\.?[-–/])?\d{1,2}|[ivx]{1,5}")
_LIST_NUMBER = re.compile(r"\s*\(?\w{1,3}")
_MAY_END = re.compile(r"\d\s?[гвr]$|т\.\s?[дп]$|(?<![\w.])[яèé]$")
"""Single letters that end sentences: "1999 г.", "и т. д.", "Это я."."""
_STOPPED = re.compile(rf"[{_SPACED}{_FULL_WIDTH}][{_CLOSING}“«‹{_MARK}]*$")
_CONTINUES_AFTER_QUOTE = re.compile("って|と")


def ordinals_have_stops(language: str) -> bool:
    """Whether the language writes ordinals as "3."."""
    return language in _ORDINALS


@functools.cache
def _abbreviations(language: str) -> frozenset[str]:
    """What stands between white space and the full stop of an abbreviation, in lower case."""
    return frozenset(f"{_TABLE['everywhere']} {_TABLE.get(language, '')}".split())


def split_sentences(text: str, language: str, names: Iterable[str] = ()) -> list[str]:
    """Split a text into its sentences, in order, each stripped; only white space between them is lost.

    Citation markers after a stop belong to the sentence before. A line end ends a sentence unless the next line starts
    in lower case. Ambiguous boundaries are not split. Idempotent on its output.

    Args:
        language: ISO 639-1 code; "" for an unknown language, which has no list of abbreviations.
        names: names that contain stops, such as "Who's Afraid of Virginia Woolf?", and are not split, with or without
            what they have in brackets at their end. A name may end a sentence where a capital follows.
    """
    if hidden := _with_hidden_stops(text, names):
        return [piece.translate(_SHOWN) for piece in split_sentences(hidden, language)]
    if language == "en":
        return sentences.split_sentences(text)
    masked = without_markers(text, _MARK)
    spans: list[tuple[int, int]] = []
    for start, end in chain.from_iterable(_sentences_in(masked, *line, language) for line in _lines(masked)):
        if spans and not has_word(masked[start:end]):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return [piece for start, end in spans if (piece := text[start:end].strip())]


def _with_hidden_stops(text: str, names: Iterable[str]) -> str:
    """The text with other characters for the stops of names; empty where there are none."""
    known = {one.strip() for name in names for one in (name, _BRACKET.sub("", name))}
    stopped = sorted((name for name in known if _STOP.search(name) and has_word(name)), key=len, reverse=True)
    if not stopped or _IS_HIDDEN.search(text):
        return ""
    unmarked = without_markers(text, " ")
    anywhere = re.compile("|".join(map(re.escape, stopped)), re.I)
    hidden = anywhere.sub(lambda found: _hide(found[0], _BEHIND_NAME.match(unmarked, found.end())), text)
    return hidden if hidden != text else ""


def _hide(name: str, behind: re.Match[str] | None) -> str:
    """A name with its stops hidden, but for those that end it where a sentence may end."""
    may_end = behind and (not behind[1] or behind[1].isupper())
    kept = len(name.rstrip(_SPACED + _FULL_WIDTH)) if may_end else len(name)
    return name[:kept].translate(_HIDDEN) + name[kept:]


def _lines(masked: str) -> Iterator[tuple[int, int]]:
    """Spans of lines, joined if the next one starts in lower case."""
    start = position = 0
    closed = True
    for line in masked.splitlines(keepends=True):
        following = _NEXT.match(line.lstrip())
        if closed or not (following and following[1].islower()):
            if position > start:
                yield start, position
            start = position
        position += len(line)
        closed = not line.strip() or bool(_STOPPED.search(line[-_LOOKBEHIND:].rstrip()))
    if position > start:
        yield start, position


def _sentences_in(masked: str, start: int, end: int, language: str) -> Iterator[tuple[int, int]]:
    checked, has_words = start, False
    for found in _BOUNDARY.finditer(masked, start, end):
        has_words = has_words or has_word(masked[checked : found.start()])
        checked = found.start()
        if has_words and _is_end(masked, start, found, language):
            yield start, found.end()
            start = checked = found.end()
            has_words = False
    yield start, end


def _is_end(masked: str, start: int, found: re.Match[str], language: str) -> bool:
    """Whether the sentence that starts at ``start`` ends at this stop."""
    following = _NEXT.match(masked, found.end())
    if found["stop"][-1] in _FULL_WIDTH:
        goes_on = following and following[1].islower()
        return not goes_on and not (found["closed"] and _CONTINUES_AFTER_QUOTE.match(masked, found.end()))
    if not found["gap"] or (following and following[1].islower()):
        return False
    return found["stop"] != "." or not _is_abbreviated(
        masked[max(start, found.start() - _LOOKBEHIND) : found.start()], language
    )


def _is_abbreviated(before: str, language: str) -> bool:
    """Whether the full stop after a text belongs to its last word: an abbreviation, initial or ordinal."""
    if _LIST_NUMBER.fullmatch(before):
        return True
    tail = before.rstrip(_MARK)
    if _MAY_END.search(tail):
        return False
    token = _TOKEN.search(tail)[0].casefold()  # type: ignore[index]
    ordinal = ordinals_have_stops(language) and _ORDINAL.fullmatch(token)
    return bool(ordinal or _LETTERS.fullmatch(token)) or token in _abbreviations(language)
