"""Sentence splitting. Pure functions.

Boundaries come from pysbd's rules (English), which work for most Latin-script prose; full-width punctuation is handled
here. Only pysbd's offsets are used, so no character can get lost.
"""

import functools
import re
import threading
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import accumulate, chain, islice
from typing import Any

from storm_pipeline.files import table_beside
from storm_pipeline.text.markers import without_markers
from storm_pipeline.text.words import has_word, word_count

_CLOSERS = "\"'”’»›)]}」』】》〉）］"
_CJK_END = "。！？｡"
_SENTENCE_END = re.compile(rf"[.!?…．{_CJK_END}][{re.escape(_CLOSERS)}*_]*$")
_COMPLETE = re.compile(rf"[.!?…．؟۔।॥։።{_CJK_END}](?:[{re.escape(_CLOSERS)}“«‹*_]|[ \u00a0\u202f][»›])*$")
"""How sentences of any language end; German closes quotations with what opens them elsewhere."""
_SHORT = {name: "|".join(forms.split()) for name, forms in table_beside(__file__).items()}
_SOLID = re.compile(r"\S+")
_STOP = re.compile(r"[.!?…](?!\w)")
_SINGLE_QUOTE = re.compile(r"(?<!\w)['‘’‛‚](?!\s)")
_OPENING, _CLOSING = "([{（“„«‹「『", ")]}）”»›」』"
_PAIRED = re.compile(rf"[{re.escape(_OPENING + _CLOSING)}\"]")
_STOP_BEFORE_CAPITAL = re.compile(r"[.!?](?=\s[A-Z])")
_PLAIN_WORD = re.compile(r"(?:[^\W\d_]+-)*[^\W\d_]{2,}")
_YEAR_OR_CLOSER = re.compile(r"(?:(?:[a-z]|\d,)\s\d{4}s?|(?:[a-z]|[A-Z]\w|\d{4})[)\"”])$")
_CJK_BOUNDARY = re.compile(rf"[{_CJK_END}]+[{re.escape(_CLOSERS)}]*")
_PLAIN_BOUNDARY = re.compile(rf"(?<!\b\w\.)(?<![.!?…])[.!?…]++[{re.escape(_CLOSERS)}]*+(?=\s+[^\sa-z])")
_ABBREVIATION = re.compile(rf"(?:^|[\s(\[“\"])(?:{_SHORT['abbreviations']})\.$")
_DANGLING = re.compile(rf"(?:\s(?:{_SHORT['dangling_nouns']})|(?:^|\s)[(“\"]?(?:{_SHORT['dangling']}))\.$")
_LABELLED = re.compile(rf"\b(?:{_SHORT['labels']}) [A-Z]$")  # built in Stage A and Stage B
_ERA = re.compile(r"AD [0-9]")  # born c. AD 675
_HOUR = re.compile(r"\d\s?[ap]\.m\.$")
_ZONE = re.compile(r"(?:Pacific|Eastern|Central|Mountain|Atlantic|Greenwich|British|Coordinated|[A-Z]{1,4}T\b|UTC\b)")
_INITIALS = re.compile(r"(?:^|\s)[A-Z]\.(?:[\s-][A-Z]\.)*-[A-Z]\.$")  # G.-F. Rouelle
# A line break after the month separates it from the day.
_DAY_MISSING = re.compile(r"\b(?:as of|on|until)\s(?:Jan|Feb|Aug|Sept?|Oct|Nov|Dec)\.$")
# Parts of names, which go on in capitals: a sentence ends there only where a word follows that begins one.
_UNCERTAIN = re.compile(r"\b(?:Bros|[JS]r|[A-Z][a-z]+(?:us|um|is|a) sect)\.$")
_COMPANY = re.compile(rf"\b(?:{_SHORT['company']})\.$")
_COMPANY_GOES_ON = re.compile(rf"(?:{_SHORT['company_goes_on']})\b")
_BEGINS_SENTENCE = re.compile(rf"(?:{_SHORT['begins']})\b")
# Titles end so: "Jeopardy! (the game)".
_EXCLAIMED = re.compile(r"[!?]$")
_LIST_NUMBER = re.compile(r"\(?\w{1,3}[.)]$")
_import_lock = threading.Lock()
_REACH = 200
"""Characters before and behind a cut that are looked at: all of it would take time that grows with the square."""
_TAIL = 24  # more characters than the longest abbreviation or year that is looked for at the end of a text
_MOST_FOR_RULES = 4000  # characters of a part that pysbd's rules cut; its time grows with the square
_MOST_DOUBTS = 40  # short forms in a part that pysbd's rules cut; each costs a pass over all of it
_DOUBT = re.compile(r"\b\w{1,3}\.")


def split_sentences(text: str) -> list[str]:
    """Split a text into its sentences, in order, each stripped.

    Citation markers after a sentence's full stop belong to that sentence, with or without white space between; markers
    at the start of a line belong to the line, and a line of markers alone to the line before. A line end ends a
    sentence unless the next line starts in lower case. No character other than white space is lost or changed.
    ``text``: any text; markdown marks are ordinary characters here.
    """
    return [text[start:end].strip() for start, end in _sentence_spans(text)]


def truncate_sentences(text: str, budget: int, count: Callable[[str], int] | None = None) -> str:
    """The longest prefix of whole sentences within a budget; empty if the first sentence is too long.

    Args:
        budget: maximum length in units of ``count``, >= 0.
        count: length of a text; must not decrease when text is appended. Default: :func:`word_count`.
    """
    measure = count or word_count
    ends = [end for _, end in _sentence_spans(text)]
    kept = bisect_right(ends, budget, key=lambda end: measure(text[:end].strip()))
    return text[: ends[kept - 1]].strip() if kept else ""


def opening_of(text: str, budget: int) -> str:
    """The first sentences of a text within a budget of words; its first words if the first sentence is longer.

    So a text without sentence boundaries is not lost.
    """
    return truncate_sentences(text, budget) or " ".join(text.split()[:budget])


@functools.lru_cache(maxsize=4096)  # a text's lines are looked at for every prompt that shows it
def is_complete(sentence: str) -> bool:
    """Whether a sentence is complete.

    True if it has a word, ends in terminal punctuation (optionally followed by quotes, brackets and markers),
    does not end in an abbreviation or a date that must continue, and has no open round bracket.
    """
    plain = without_markers(sentence).strip()
    if not _COMPLETE.search(plain) or not has_word(plain):
        return False
    if _DANGLING.search(plain) or _DAY_MISSING.search(plain):
        return False
    return plain.count("(") + plain.count("（") <= plain.count(")") + plain.count("）")


def _sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each sentence; ends are where the next one begins or its line ends."""
    for line_start, line_end in _line_spans(text):
        line = text[line_start:line_end]
        cuts = [line_start + cut for cut in _boundaries(line)]
        yield from zip([line_start, *cuts], [*cuts, line_end], strict=True)


def _line_spans(text: str) -> list[tuple[int, int]]:
    """Spans of the lines that are not blank; soft-wrapped lines and lines of markers join the line before."""
    spans: list[tuple[int, int]] = []
    position, blank, worded = 0, False, False
    for line in text.splitlines(keepends=True):
        start, position = position, position + len(line)
        plain = without_markers(line).strip()
        if not line.strip():
            blank = True
            continue
        wrapped = plain[:1].islower() and not blank
        if wrapped and spans:
            before = text[max(spans[-1][0], spans[-1][1] - _REACH) : spans[-1][1]]
            wrapped = not _SENTENCE_END.search(without_markers(before).strip())
        if spans and (not plain or wrapped or not worded):
            spans[-1] = (spans[-1][0], position)
            worded = worded or bool(plain)
        else:
            spans.append((start, position))
            worded = bool(plain)
        blank = False
    return spans


@functools.lru_cache(maxsize=4096)
def _boundaries(line: str) -> tuple[int, ...]:
    """Offsets in the line at which a new sentence begins, the line's start excluded."""
    masked = without_markers(line, " ")
    positions = list(chain.from_iterable(range(*found.span()) for found in _SOLID.finditer(masked)))
    solid = "".join(masked.split())
    tight = re.sub(r"\s+([.!?。！？])(?=\s|$)", r"\1", " ".join(masked.split()))
    ends = {found.end() for found in _CJK_BOUNDARY.finditer(solid)}
    ends.update(_sentence_ends(tight))
    cuts: list[int] = []
    for end in sorted({_past_stray_stop(end, solid) for end in ends}):
        if not 0 < end < len(positions):
            continue
        start, after = positions[end - 1] + 1, positions[end]
        piece = masked[max(cuts[-1] if cuts else 0, start - _REACH) : start].strip()
        if _may_cut(piece, masked[start:after], masked[after : after + _REACH]):
            cuts.append(after)
    return tuple(cuts)


def _past_stray_stop(end: int, solid: str) -> int:
    """Move a cut past a stray second full stop, as in ``end. [1]. Next``."""
    return end + 1 if solid[end : end + 1] == "." and solid[end + 1 : end + 2].isupper() else end


def _sentence_ends(tight: str) -> list[int]:
    """Ends of the sentences of a line, counted in characters that are not white space."""
    ends: list[int] = []
    for part in _split_at_plain_ends(tight):
        done = ends[-1] if ends else 0
        own = _pysbd_ends(part) if _STOP.search(part[:-1]) else []
        ends += [done + end for end in own or [len(part) - part.count(" ")]]
    return ends


def _split_at_plain_ends(tight: str) -> Iterator[str]:
    """Split at unambiguous sentence ends first: pysbd is slow, and most ends are plain.

    An end is plain if the stop follows a word of two letters or more that is not an abbreviation, a year, a bracket or
    a quotation mark, a capital comes next, and no bracket or quotation mark is open.
    """
    start = 0
    for found in () if _SINGLE_QUOTE.search(tight) else _STOP_BEFORE_CAPITAL.finditer(tight):
        end = found.end()
        if _is_plain_end(tight[max(start, end - _REACH) : end - 1]) and (
            end - start > _MOST_FOR_RULES or _is_closed(tight[start:end])
        ):
            yield tight[start:end]
            start = end
    yield tight[start:]


def _is_plain_end(text: str) -> bool:
    """Whether a stop after the text certainly ends its last sentence."""
    word = text[text.rfind(" ") + 1 :]
    if _PLAIN_WORD.fullmatch(word):
        return word.casefold() not in _abbreviations()
    return bool(_YEAR_OR_CLOSER.search(text[-_TAIL:]) or _LABELLED.search(text[-_TAIL:]))


def _is_closed(text: str) -> bool:
    """Whether no bracket or quotation mark of the text is left open."""
    if not _PAIRED.search(text):
        return True
    opened, closed = (sum(map(text.count, marks)) for marks in (_OPENING, _CLOSING))
    return opened == closed and text.count('"') % 2 == 0


def _pysbd_ends(part: str) -> list[int]:
    """Ends of pysbd's sentences, not counting white space; by simple rules if pysbd alters the text."""
    solid = "".join(part.split())
    pieces = ["".join(piece.split()) for piece in _segmenter().processor(part).process() or ()] if _suits(part) else []
    if "".join(pieces) != solid:
        pieces = ["".join(piece.split()) for piece in _PLAIN_BOUNDARY.sub(r"\g<0>" + "\0", part).split("\0")]
        if "".join(pieces) != solid:
            return []
    return list(accumulate(map(len, pieces)))


def _suits(part: str) -> bool:
    """Whether pysbd's rules cut a text in little time."""
    return len(part) <= _MOST_FOR_RULES and sum(1 for _ in islice(_DOUBT.finditer(part), _MOST_DOUBTS)) < _MOST_DOUBTS


def _may_cut(piece: str, gap: str, rest: str) -> bool:
    """Whether a sentence may end between ``piece`` and ``rest``, which the white space ``gap`` separates."""
    if not _SENTENCE_END.search(piece) or rest[0] in _CLOSERS.replace('"', "").replace("'", ""):
        return False
    if gap and _is_within_name(piece, rest):
        return False
    if not gap:
        return piece.rstrip(_CLOSERS)[-1:] in _CJK_END and has_word(rest)
    tail = piece[-_TAIL:]
    if _LIST_NUMBER.match(piece) or _DANGLING.search(tail) or not has_word(rest) or not has_word(piece):
        return False
    if _INITIALS.search(tail) or (_HOUR.search(tail) and _ZONE.match(rest)):
        return False
    goes_on = rest[0].isdigit() or rest[0].islower() or rest[0] in "([§" or _ERA.match(rest)
    return not (_ABBREVIATION.search(tail) and goes_on)


def _is_within_name(piece: str, rest: str) -> bool:
    """Whether a stop at the end of ``piece`` belongs to a name that is not the end of its sentence."""
    if _UNCERTAIN.search(piece[-_TAIL:]):
        return not _BEGINS_SENTENCE.match(rest)
    if _COMPANY.search(piece[-_TAIL:]) and _COMPANY_GOES_ON.match(rest):
        return True
    goes_on = rest[0].islower() and piece.rstrip(_CLOSERS)[-1:] in _CJK_END
    return goes_on or (rest[0] in "(（" and bool(_EXCLAIMED.search(piece)))


@functools.cache
def _abbreviations() -> frozenset[str]:
    """The abbreviations of pysbd's rules, in lower case."""
    return frozenset(_segmenter().language_module.Abbreviation.ABBREVIATIONS)


@functools.cache
def _segmenter() -> Any:
    """The shared pysbd segmenter; only ``processor()`` is called, which keeps no state between calls."""
    with _import_lock, warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # pysbd's sources have invalid escapes
        warnings.simplefilter("ignore", DeprecationWarning)
        import pysbd
    return pysbd.Segmenter(language="en", clean=False)
