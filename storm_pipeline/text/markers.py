"""Citation markers in a text: forms of :mod:`storm_pipeline.text.marker_forms` at the end of a clause. Pure functions.

Within a clause, only a single number that was shown is a marker, in the form of the others: ``the dam [3]``, not ``aged
[5-8]``.
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
"""Punctuation directly after a bracket that continues the clause."""
_STOPPED = re.compile(r"[.!?…．؟۔।॥։።។။。！？｡][\"'”’»›)\]」』*_\s]{0,5}$")
_WRAPPED = re.compile(
    rf"[`_{{]((?:{MARKS.pattern})+)[`_}}]|<([a-z]+)\b[^<>]{{0,100}}>\s*((?:{MARKS.pattern})+)\s*</\2>", re.I
)
_FOLLOWING = re.compile(r"(\s*)(\S?)")
_LINE_START = re.compile(r"(?:^|\n)[ \t>*_•-]{0,8}$")


def mark(number: int) -> str:
    """Return the mark that cites a number, in reserved characters; 0 is a citation of nothing shown."""
    return str(number).translate(_DIGITS) + "\ufdea"


def marked_number(citation: str) -> int:
    """Return the number of a :func:`mark`."""
    return int(citation[:-1].translate(_PLAIN_DIGITS))


def literal(text: str) -> str:
    """Hide the brackets of a text, so that they mark no citation; :func:`with_brackets` restores them."""
    return text.translate(HIDDEN)


def with_brackets(text: str) -> str:
    """Restore the brackets that :func:`literal` hid."""
    return text.translate(_SHOWN)


def without_reserved(text: str) -> str:
    """Remove the characters of :func:`mark` and :func:`literal`, which occur in no real text."""
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
    for marker in _with_spans(_markers(text, ANY_FORM, shown, is_reply=is_reply), text):
        gap = text[at : marker.start]
        pieces.append("" if at and gap.strip() and JOINED.fullmatch(gap) else gap)
        pieces.append(
            text[marker.start : marker.end] if marker.form == "mark" else "".join(map(mark, _numbers(marker, shown)))
        )
        at = marker.end
    return _WRAPPED.sub(lambda match: match[1] or match[3], "".join((*pieces, text[at:])))


def without_markers(text: str, fill: str = "") -> str:
    """Remove the markers in brackets, whatever their numbers, or put ``fill`` in place of each of their characters."""
    if not _RESERVED.search(text) and not any(char in text for char in OPENING):
        return text
    pieces, at = [], 0
    for marker in _markers(text, IN_BRACKETS, None):
        pieces += [text[at : marker.start], fill * (marker.end - marker.start)]
        at = marker.end
    return "".join((*pieces, text[at:])) if pieces else text


def _markers(text: str, form: re.Pattern[str], shown: int | None, *, is_reply: bool = False) -> list[Candidate]:
    options = list(candidates(text, form, shown))
    placed = _in_position(text, [candidate for candidate in options if candidate.form not in WEAK], shown)
    if any(candidate.form not in ("raised", "mark") for candidate in placed):
        placed = [c for c in placed if text[c.start] not in RAISED]  # 1904³ in a text that cites by [1]
    if placed or not is_reply:
        return placed
    each = ([candidate for candidate in options if candidate.form == weak] for weak in WEAK)
    return next((group for group in each if group and _at_clause_ends(text, group) == group), [])


def _in_position(text: str, options: Sequence[Candidate], shown: int | None) -> list[Candidate]:
    """Return the candidates in positions of markers: at the end of a clause, or in a similar position."""
    ends = _at_clause_ends(text, options)
    spaced = {_is_spaced(text, c) for c in ends if c.form not in ("mark", "raised")} or {True, False}

    def is_similar(c: Candidate) -> bool:
        is_alike = c.form == "raised" or _is_spaced(text, c) in spaced
        after = text[c.end : c.end + 1]  # a word, separated in scripts with spaces between words
        is_before_word = after.isspace() or after in "《「『" or (after.isalpha() and after.lower() == after.upper())
        return is_alike and c.is_single and c.is_within(shown) and is_before_word

    return _at_clause_ends(text, options, is_similar)


def _at_clause_ends(
    text: str, options: Sequence[Candidate], is_kept: Callable[[Candidate], bool] = lambda _: False
) -> list[Candidate]:
    """Return the candidates at the ends of clauses, those before markers, and those that ``is_kept`` accepts."""
    kept: list[Candidate] = []
    for candidate in reversed(options):
        if candidate.form == "mark" or _ends_clause(text, candidate, kept[-1] if kept else None) or is_kept(candidate):
            kept.append(candidate)
    return kept[::-1]


def _is_spaced(text: str, candidate: Candidate) -> bool:
    return candidate.start == 0 or text[candidate.start - 1].isspace()


def _ends_clause(text: str, candidate: Candidate, marker: Candidate | None) -> bool:
    """Return whether a clause ends after a candidate: in the text, or in the marker after it."""
    if marker and are_joined(text, candidate, marker):
        return candidate.is_single or not text[candidate.end : marker.start].isspace()  # aged [5-8] [2]
    after = text[candidate.end : candidate.end + 1]
    if after and after in ")）" and not candidate.is_single:  # (95% CI [1, 3]) was
        following = _FOLLOWING.match(text, candidate.end + 1)[2]  # type: ignore[index]
        return not following.isalnum() or following.isupper()
    if not after or _is_ending(after) or (after in "'’" and not text[candidate.end + 1 : candidate.end + 2].isalpha()):
        return True
    is_stopped = bool(_STOPPED.search(text[max(0, candidate.lead - 6) : candidate.lead]))
    if not after.isspace():
        before = text[candidate.lead - 1]
        begins = (after.isalpha() and not after.islower()) or (after.isdigit() and before in "。！？｡")
        return is_stopped and not before.isspace() and begins
    gap, following = _FOLLOWING.match(text, candidate.end).groups()  # type: ignore[union-attr]
    if following.islower():
        return False
    begins = following.isupper() and bool(_LINE_START.search(text[max(0, candidate.lead - 10) : candidate.lead]))
    is_word = following.isalnum() or following in "([{（“„«\"'‘"
    return "\n" in gap or is_stopped or begins or not is_word


def _is_ending(char: str) -> bool:
    """Return whether a character directly after a bracket ends its clause: punctuation and marks, in any script."""
    return char in _ENDS or (unicodedata.category(char) in _ENDING and char not in _GOES_ON)


def _with_spans(markers: Sequence[Candidate], text: str) -> list[Candidate]:
    """Return the markers, with two joined by a dash as one range: ``[1]–[3]``."""
    made: list[Candidate] = []
    for candidate in markers:
        is_span = made and text[made[-1].end : candidate.start].strip() in ("-", "–", "—")
        if is_span and all(end.is_single and end.items for end in (made[-1], candidate)):
            made[-1] = replace(made[-1], end=candidate.end, items=((made[-1].items[0][0], candidate.items[0][0]),))
        else:
            made.append(candidate)
    return made


def _numbers(marker: Candidate, shown: int) -> Iterator[int]:
    """Yield the numbers that a marker cites: those shown, and 0 for each end of a range that was not shown."""
    for ends in marker.items:
        invented = (0 for end in dict.fromkeys(ends) if not 1 <= end <= shown)
        yield from chain(invented, range(max(min(ends), 1), min(max(ends), shown) + 1))
