"""Citation markers in a text: forms of :mod:`storm_pipeline.text.marker_forms` at the end of a clause. Pure functions.

Within a clause only a single number that was shown is one, written as the others: ``the dam [3]``, not ``aged [5-8]``.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from storm_pipeline.text.marker_forms import (
    ANY_FORM,
    CLOSING,
    HIDDEN,
    IN_BRACKETS,
    JOINED,
    MARKS,
    OPENING,
    RAISED,
    WEAK,
    Candidate,
    are_joined,
    candidates,
    with_tags_as_markers,
)

_SHOWN = {hidden: char for char, hidden in HIDDEN.items()}
_DIGITS = {ord(str(digit)): 0xFDE0 + digit for digit in range(10)}
_PLAIN_DIGITS = {reserved: digit for digit, reserved in _DIGITS.items()}
_RESERVED = re.compile("[\ufdd0-\ufdef]")
_ENDS = frozenset("|｜*_~`<—" + OPENING + CLOSING).union(chr(HIDDEN[ord(char)]) for char in CLOSING)
_ENDING = ("Pe", "Pf", "Pi", "Po", "Cf")
_GOES_ON = frozenset("/\\%&@#'’")
"""Punctuation directly behind a bracket after which the clause goes on."""
_STOPPED = re.compile(r"[.!?…．؟۔।॥։።។။。！？｡][\"'”’»›)\]」』*_\s]{0,5}$")
_WRAPPED = re.compile(
    rf"[`_{{]((?:{MARKS.pattern})+)[`_}}]|<([a-z]+)\b[^<>]{{0,100}}>\s*((?:{MARKS.pattern})+)\s*</\2>", re.I
)
_FOLLOWING = re.compile(r"(\s*)(\S?)")
_LINE_START = re.compile(r"(?:^|\n)[ \t>*_•-]{0,8}$")


def mark(number: int) -> str:
    """Return the citation of what was shown under a number, in characters of no text; 0 cites nothing shown."""
    return str(number).translate(_DIGITS) + "\ufdea"


def marked_number(found: str) -> int:
    """Return the number of a :func:`mark`."""
    return int(found[:-1].translate(_PLAIN_DIGITS))


def literal(text: str) -> str:
    """Hide the brackets of a text, so that they mark no citation; :func:`with_brackets` restores them."""
    return text.translate(HIDDEN)


def with_brackets(text: str) -> str:
    """Restore the brackets that :func:`literal` hid."""
    return text.translate(_SHOWN)


def without_reserved(text: str) -> str:
    """Remove the characters of :func:`mark` and :func:`literal`, which Unicode assigns to no text."""
    return _RESERVED.sub("", text)


def marked(text: str, shown: int, *, is_reply: bool = False) -> str:
    """Replace the markers of a text by a :func:`mark` for each citation; all else is unchanged.

    A marker whose number was not shown becomes ``mark(0)``; a range the numbers shown within it, and ``mark(0)`` for
    each end that is outside.

    Args:
        shown: how many numbers were shown, from 1.
        is_reply: a whole reply, in which ``(1)``, ``{1}`` or ``[Quelle 1]`` may be markers if it has no others.
    """
    text = with_tags_as_markers(text) if is_reply else text
    pieces: list[str] = []
    at = 0
    for one in _with_spans(_markers(text, ANY_FORM, shown, is_reply=is_reply), text):
        gap = text[at : one.start]
        pieces.append("" if at and gap.strip() and JOINED.fullmatch(gap) else gap)
        pieces.append(text[one.start : one.end] if one.form == "mark" else "".join(map(mark, _numbers(one, shown))))
        at = one.end
    return _WRAPPED.sub(lambda found: found[1] or found[3], "".join((*pieces, text[at:])))


def without_markers(text: str, fill: str = "") -> str:
    """Remove the markers in brackets, whatever their numbers, or put ``fill`` in place of each of their characters."""
    if not _RESERVED.search(text) and not any(char in text for char in OPENING):
        return text
    pieces, at = [], 0
    for one in _markers(text, IN_BRACKETS, None):
        pieces += [text[at : one.start], fill * (one.end - one.start)]
        at = one.end
    return "".join((*pieces, text[at:])) if pieces else text


def _markers(text: str, form: re.Pattern[str], shown: int | None, *, is_reply: bool = False) -> list[Candidate]:
    found = list(candidates(text, form, shown))
    standing = _standing(text, [one for one in found if one.form not in WEAK], shown)
    if any(one.form not in ("raised", "mark") for one in standing):
        standing = [one for one in standing if text[one.start] not in RAISED]  # 1904³ in a text that cites by [1]
    if standing or not is_reply:
        return standing
    each = ([one for one in found if one.form == weak] for weak in WEAK)
    return next((own for own in each if own and _kept(text, own) == own), [])


def _standing(text: str, found: Sequence[Candidate], shown: int | None) -> list[Candidate]:
    """Return the candidates in places of markers: at the end of a clause, or in places like those."""
    ends = _kept(text, found)
    spaced = {_is_spaced(text, one) for one in ends if one.form not in ("mark", "raised")} or {True, False}

    def may_stand(one: Candidate) -> bool:
        is_alike = one.form == "raised" or _is_spaced(text, one) in spaced
        after = text[one.end : one.end + 1]  # a word, which is not glued to it where scripts put spaces between words
        is_before_word = after.isspace() or after in "《「『" or (after.isalpha() and after.lower() == after.upper())
        return is_alike and one.is_single and one.is_within(shown) and is_before_word

    return _kept(text, found, may_stand)


def _kept(
    text: str, found: Sequence[Candidate], is_kept: Callable[[Candidate], bool] = lambda _: False
) -> list[Candidate]:
    """Return the candidates at the ends of clauses, those that markers follow, and others that are to be kept."""
    kept: list[Candidate] = []
    for one in reversed(found):
        if one.form == "mark" or _ends_clause(text, one, kept[-1] if kept else None) or is_kept(one):
            kept.append(one)
    return kept[::-1]


def _is_spaced(text: str, one: Candidate) -> bool:
    return one.start == 0 or text[one.start - 1].isspace()


def _ends_clause(text: str, one: Candidate, marker: Candidate | None) -> bool:
    """Return whether a clause ends behind a candidate: in the text, or in the marker that follows it."""
    if marker and are_joined(text, one, marker):
        return one.is_single or not text[one.end : marker.start].isspace()  # aged [5-8] [2]
    after = text[one.end : one.end + 1]
    if after and after in ")）" and not one.is_single:  # (95% CI [1, 3]) was
        following = _FOLLOWING.match(text, one.end + 1)[2]  # type: ignore[index]
        return not following.isalnum() or following.isupper()
    if not after or _is_ending(after) or (after in "'’" and not text[one.end + 1 : one.end + 2].isalpha()):
        return True
    is_stopped = bool(_STOPPED.search(text[max(0, one.lead - 6) : one.lead]))
    if not after.isspace():
        before = text[one.lead - 1]
        begins = (after.isalpha() and not after.islower()) or (after.isdigit() and before in "。！？｡")
        return is_stopped and not before.isspace() and begins
    gap, following = _FOLLOWING.match(text, one.end).groups()  # type: ignore[union-attr]
    if following.islower():
        return False
    begins = following.isupper() and bool(_LINE_START.search(text[max(0, one.lead - 10) : one.lead]))
    is_word = following.isalnum() or following in "([{（“„«\"'‘"
    return "\n" in gap or is_stopped or begins or not is_word


def _is_ending(char: str) -> bool:
    """Return whether a character directly behind a bracket ends its clause: punctuation and marks, in any script."""
    return char in _ENDS or (unicodedata.category(char) in _ENDING and char not in _GOES_ON)


def _with_spans(found: Sequence[Candidate], text: str) -> list[Candidate]:
    """Return the markers, those that a dash joins as one range: ``[1]–[3]``."""
    made: list[Candidate] = []
    for one in found:
        is_span = made and text[made[-1].end : one.start].strip() in ("-", "–", "—")
        if is_span and all(own.is_single and own.items for own in (made[-1], one)):
            made[-1] = replace(made[-1], end=one.end, items=((made[-1].items[0][0], one.items[0][0]),))
        else:
            made.append(one)
    return made


def _numbers(one: Candidate, shown: int) -> Iterator[int]:
    """Yield the numbers shown that a marker cites, and 0 for each end of a range that was not."""
    for ends in one.items:
        invented = (0 for end in dict.fromkeys(ends) if not 1 <= end <= shown)
        yield from chain(invented, range(max(min(ends), 1), min(max(ends), shown) + 1))
