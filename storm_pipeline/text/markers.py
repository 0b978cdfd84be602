"""Citation markers in a text: ``[3]``, ``[1, 2]``, ``[1-3]``, ``[Source 2]``, ``[^1]``, ``[1, p. 5]``.

They are at the end of a clause. Within a clause only a single number that was shown is one, written as the others:
``the dam [3]``, not ``aged [5-8]``.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from storm_pipeline.text.identity import in_form
from storm_pipeline.text.words import tidy

_OPENING, _CLOSING = "[［【〔⟦", "]］】〕⟧"
MARKS = re.compile("[\ufde0-\ufde9]{1,10}\ufdea")  # a :func:`mark`
_HIDDEN = {ord(char): 0xFDD0 + i for i, char in enumerate(_OPENING + _CLOSING)}
"""Brackets that are not markers → characters in their place."""
_SHOWN = {hidden: char for char, hidden in _HIDDEN.items()}
_DIGITS = {ord(str(digit)): 0xFDE0 + digit for digit in range(10)}
_PLAIN_DIGITS = {reserved: digit for digit, reserved in _DIGITS.items()}
_RESERVED = re.compile("[\ufdd0-\ufdef]")
_BRACKETS = re.escape(_OPENING + _CLOSING)
_LABEL = r"(?:(?:sources?|refs?|citations?|cites?|snippets?|docs?|documents?|passages?)[\s_.:-]*)?[#^@]{0,2}"
_RANGE = rf"{_LABEL}(\d+)(?:\s*(?:[-–—‑−]|\bto\b)\s*{_LABEL}(\d+))?"
_ITEM = re.compile(_RANGE, re.I)
_ITEMS = re.compile(rf"{_RANGE}(?:\s*(?:(?:[,;、，；&]|\band\b)\s*)+{_RANGE})*", re.I)
# 3:0†source; 3, pp. 12–14; other words would be lost with the marker
_LOCATOR = re.compile(r"(?::\d+)?†[\w–-]{0,12}$|,\s*[^\W\d]{1,4}\.\s[\divxlc\s,.–-]+f{0,2}\.?$", re.I)
_BODY = rf"(?:[^{_BRACKETS}\n]|[\[［][^{_BRACKETS}\n]{{0,40}}[\]］]){{1,80}}"
_ANY_FORM = re.compile(
    rf"(?P<mark>{MARKS.pattern})|(?P<bracket>\^?\\?[{re.escape(_OPENING)}](?P<body>{_BODY})\\?[{re.escape(_CLOSING)}]"
    r"(?:\(\s*<?(?:(?:https?|ftp|file|mailto):|www\.|[/#.])(?:[^()\s]|\([^()\s]{0,200}\)){0,500}>?\s*\))?)"
)
_NESTED = re.compile(rf"[\\^]*[{_BRACKETS}]\^?")
_AROUND = " ;\t^\\\"'\u200b\u2060\ufeff"
_JOINED = re.compile(r"[\s,;、，；]*(?:(?:\band\b|&|[-–—])\s*)?")
_LONGEST_JOIN = 8  # characters
_CODE = re.compile(r"(?<!`)(`{1,4})([^`\n]{1,200})\1(?!`)|(?<![\w$])\$(?=\S)([^$\n]{1,200})(?<=\S)\$(?!\d)")
_ENDS = frozenset("|｜*_~`<—" + _OPENING + _CLOSING).union(chr(_HIDDEN[ord(char)]) for char in _CLOSING)
_ENDING = ("Pe", "Pf", "Pi", "Po", "Cf")
_GOES_ON = frozenset("/\\%&@#'’")
"""Punctuation directly after a bracket that continues the clause."""
_STOPPED = re.compile(r"[.!?…．؟۔।॥։።။។。！？｡][\"'”’»›)\]」』*_\s]{0,5}$")
_WRAPPED = re.compile(
    rf"[`_{{(]((?:{MARKS.pattern})+)[`_}})]|<([a-z]+)\b[^<>]{{0,100}}>\s*((?:{MARKS.pattern})+)\s*</\2>", re.I
)
_FOLLOWING = re.compile(r"(\s*)(\S?)")
_LINE_START = re.compile(r"(?:^|\n)[ \t>*_•-]{0,8}$")


class _Candidate(NamedTuple):
    """A part of a text in the form of a marker, at any place."""

    start: int
    end: int
    form: str  # ``mark`` or ``bracket``
    items: tuple[tuple[int, int], ...] = ()  # its numbers as ranges; none for a mark
    lead: int = -1  # start of the first candidate joined with it

    @property
    def is_single(self) -> bool:
        """Whether it is a single number."""
        return self.form == "mark" or (len(self.items) == 1 and self.items[0][0] == self.items[0][1])

    def is_within(self, shown: int | None) -> bool:
        """Return whether each of its numbers was shown; if their count is unknown, any number but 0."""
        most = 10**9 if shown is None else shown
        return all(1 <= number <= most for item in self.items for number in item)


def mark(number: int) -> str:
    """Return the mark that cites a number, in reserved characters; 0 is a citation of nothing shown."""
    return str(number).translate(_DIGITS) + "\ufdea"


def marked_number(citation: str) -> int:
    """Return the number of a :func:`mark`."""
    return int(citation[:-1].translate(_PLAIN_DIGITS))


def literal(text: str) -> str:
    """Hide the brackets of a text, so that they mark no citation; :func:`with_brackets` restores them."""
    return text.translate(_HIDDEN)


def with_brackets(text: str) -> str:
    """Restore the brackets that :func:`literal` hid."""
    return text.translate(_SHOWN)


def without_reserved(text: str) -> str:
    """Remove the characters of :func:`mark` and :func:`literal`, which occur in no real text."""
    return _RESERVED.sub("", text)


def mark_citations(text: str, shown: int) -> str:
    """Replace the markers of a text by a :func:`mark` for each citation; all else is unchanged.

    A marker whose number was not shown becomes ``mark(0)``; a range the numbers shown within it, and ``mark(0)`` for
    each end that is outside.

    ``shown``: how many numbers were shown, from 1.
    """
    pieces: list[str] = []
    at = 0
    for candidate in _with_spans(_markers(text, shown), text):
        gap = text[at : candidate.start]
        pieces.append("" if at and gap.strip() and _JOINED.fullmatch(gap) else gap)
        pieces.append(
            text[candidate.start : candidate.end]
            if candidate.form == "mark"
            else "".join(map(mark, _numbers(candidate, shown)))
        )
        at = candidate.end
    return _WRAPPED.sub(lambda match: match[1] or match[3], "".join((*pieces, text[at:])))


def without_markers(text: str, fill: str = "") -> str:
    """Remove the markers in brackets, whatever their numbers, or put ``fill`` in place of each of their characters."""
    if not _RESERVED.search(text) and not any(char in text for char in _OPENING):
        return text
    pieces, at = [], 0
    for candidate in _markers(text, None):
        pieces += [text[at : candidate.start], fill * (candidate.end - candidate.start)]
        at = candidate.end
    return "".join((*pieces, text[at:])) if pieces else text


def numbered_lines(texts: Mapping[int, str], last: int) -> str:
    """Return sources as ``[1] text`` lines; none can go on as another: numbers in brackets, to ``last``, lose them."""
    numbers, lines = set(map(str, range(1, last + 1))), []
    for number, text in texts.items():
        first, *others = without_markers(tidy(text)).split("[")
        parts = (other.partition("]") for other in others)
        line = (f"({name}){after}" if end and name in numbers else f"[{name}{end}{after}" for name, end, after in parts)
        lines.append(f"[{number}] {first}{''.join(line)}")
    return "\n".join(lines)


def _markers(text: str, shown: int | None) -> list[_Candidate]:
    """Return the candidates in positions of markers: at the end of a clause, or in a similar position."""
    options = list(_candidates(text, shown))
    ends = _keep_markers(text, options)
    spaced = {_is_spaced(text, candidate) for candidate in ends if candidate.form != "mark"} or {True, False}

    def may_cite(candidate: _Candidate) -> bool:
        after = text[candidate.end : candidate.end + 1]  # a word, separated in scripts with spaces between words
        is_before_word = after.isspace() or after in "《「『" or (after.isalpha() and after.lower() == after.upper())
        return (
            _is_spaced(text, candidate) in spaced
            and candidate.is_single
            and candidate.is_within(shown)
            and is_before_word
        )

    return _keep_markers(text, options, may_cite)


def _candidates(text: str, shown: int | None) -> Iterator[_Candidate]:
    """Yield, in order, the parts in the form of markers that can cite a number shown, outside code and formulas."""
    text, at = _without_code(text), 0
    before = _Candidate(-1, -1, "")
    while match := _ANY_FORM.search(text, at):
        candidate = _Candidate(*match.span(), "mark") if match["mark"] else _read(match, shown)
        if candidate:
            before = candidate._replace(lead=before.lead if _are_joined(text, before, candidate) else candidate.start)
            yield before
        at = match.end() if candidate else match.start() + 1


def _are_joined(text: str, candidate: _Candidate, following: _Candidate) -> bool:
    """Return whether only a comma or conjunction is between two candidates: ``[1], [2]``, ``[1] and [2]``."""
    gap = following.start - candidate.end
    return candidate.end >= 0 and gap < _LONGEST_JOIN and bool(_JOINED.fullmatch(text, candidate.end, following.start))


def _without_code(text: str) -> str:
    if "`" not in text and "$" not in text:
        return text
    return _CODE.sub(
        lambda match: match[0] if _ANY_FORM.fullmatch((match[2] or match[3]).strip()) else " " * len(match[0]), text
    )


def _read(match: re.Match[str], shown: int | None) -> _Candidate | None:
    """Return the candidate of a match; None if its content, or the text before it, is not of a citation."""
    core = _LOCATOR.sub("", _NESTED.sub(";", in_form(match["body"], "NFKC"))).strip(_AROUND)
    if not _ITEMS.fullmatch(core):
        return None
    items = tuple((_value(first), _value(last or first)) for first, last in _ITEM.findall(core))
    candidate = _Candidate(*match.span(), "bracket", items)
    before = match.string[max(0, candidate.start - 4) : candidate.start].rstrip("\\")
    numbers = [number for item in items for number in item]
    if 0 in numbers and (not candidate.is_single or before[-1:].isalnum()):
        return None  # [0, 1], a[0]
    if max(numbers) > max(999, shown or 0):
        return None  # [1999]
    last = before.rstrip()[-1:]
    is_operand = last and last not in "|~>^" and unicodedata.category(last) == "Sm"  # x = [1, 2]
    return None if is_operand else candidate


def _value(digits: str) -> int:
    """Return the value of decimal digits in any script; more than nine digits are out of range anyway."""
    return int(digits) if len(digits) <= 9 else 10**9


def _keep_markers(
    text: str, options: Sequence[_Candidate], is_kept: Callable[[_Candidate], bool] = lambda _: False
) -> list[_Candidate]:
    """Return the candidates at the ends of clauses, those before markers, and those that ``is_kept`` accepts."""
    kept: list[_Candidate] = []
    for candidate in reversed(options):
        if candidate.form == "mark" or _ends_clause(text, candidate, kept[-1] if kept else None) or is_kept(candidate):
            kept.append(candidate)
    return kept[::-1]


def _is_spaced(text: str, candidate: _Candidate) -> bool:
    return candidate.start == 0 or text[candidate.start - 1].isspace()


def _ends_clause(text: str, candidate: _Candidate, marker: _Candidate | None) -> bool:
    """Return whether a clause ends after a candidate: in the text, or in the marker after it."""
    if marker and _are_joined(text, candidate, marker):
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


def _with_spans(markers: Sequence[_Candidate], text: str) -> list[_Candidate]:
    """Return the markers, with two joined by a dash as one range: ``[1]–[3]``."""
    made: list[_Candidate] = []
    for candidate in markers:
        is_span = made and text[made[-1].end : candidate.start].strip() in ("-", "–", "—")
        if is_span and all(end.is_single and end.items for end in (made[-1], candidate)):
            made[-1] = made[-1]._replace(end=candidate.end, items=((made[-1].items[0][0], candidate.items[0][0]),))
        else:
            made.append(candidate)
    return made


def _numbers(candidate: _Candidate, shown: int) -> Iterator[int]:
    """Yield the numbers that a marker cites: those shown, and 0 for each end of a range that was not shown."""
    for ends in candidate.items:
        invented = (0 for end in dict.fromkeys(ends) if not 1 <= end <= shown)
        yield from chain(invented, range(max(min(ends), 1), min(max(ends), shown) + 1))
