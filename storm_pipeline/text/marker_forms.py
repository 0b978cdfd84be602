"""The forms in which models and authors write citation markers, and the numbers in them. Pure functions."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace

from storm_pipeline.text.identity import in_form

OPENING, CLOSING = "[［【〔⟦", "]］】〕⟧"
MARKS = re.compile("[\ufde0-\ufde9]+\ufdea")  # a :func:`storm_pipeline.text.markers.mark`
HIDDEN = {ord(char): 0xFDD0 + i for i, char in enumerate(OPENING + CLOSING)}
"""Brackets that are not markers → characters in their place."""
WEAK = ("labelled", "curly", "round", "angle")
"""Forms that are markers only in replies without other forms, if every occurrence ends a clause."""
_BRACKETS = re.escape(OPENING + CLOSING)
_NOUN = (
    r"(?:sources?|refs?|references?|citations?|cites?|snippets?|documents?|docs?|passages?|results?|webpages?|"
    r"sentences?|id|no|see|cf)(?![^\W\d_])"
)
_LABEL = rf"(?:{_NOUN}[\s_.:;-]*){{0,2}}[#^@]{{0,2}}"
_RANGE = rf"{_LABEL}(\d+)(?:\s*(?:[-–—‑−]|\bto\b)\s*{_LABEL}(\d+))?"
_ITEM = re.compile(_RANGE, re.I)
_ITEMS = re.compile(rf"{_RANGE}(?:\s*(?:(?:[,;、，；&]|\band\b)\s*)+{_RANGE})*\s*\.?", re.I)
_BEHIND = re.compile(
    rf"""(?ix) (?::\d+)? †.*  # 3:0†source
    | (?:[,:;]\s*|\s(?=[(]|[^\W\d_]{{1,4}}\.)) \(? (?!{_NOUN}|and\b|to\b)  # , p. 2
      (?:[^\W\d_]{{1,12}}\.?|§+) \s?\d[\w.]* (?:\s*[,–—-]\s*\w{{0,2}}\d+)* \)?
    | ,\s*["“„«].*  # , "words"
    | (?<=\d)\s*:\s*[^\d\s].*  # : the title"""
)
"""Text that may follow a marker's numbers: a place in the source, or its title."""
_ANY_LABEL = re.compile(r"[^\W\d_]{1,20}[\s_.:#-]{0,2}(\d{1,3})")
_BODY = rf"(?:[^{_BRACKETS}\n]|\\?[\[［][^{_BRACKETS}\n]{{0,40}}[\]］]){{1,80}}"
RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_RUN = rf"[{RAISED}]+(?:(?:[⁻˒,]|⁾⁽)[{RAISED}]+)*"
_TAGS = r"ref|refs|reference|cit|cite|citation|source|passage|doc|document|a"
_BRACKET = (
    rf"\\?[{re.escape(OPENING)}](?P<in_bracket>{_BODY})\\?[{re.escape(CLOSING)}]"
    r"(?:\(\s*<?(?:(?:https?|ftp|file|mailto):|www\.|[/#.])(?:[^()\s]|\([^()\s]{0,200}\)){0,500}>?(?:\s+[\"'][^\"'()\n]{0,200}[\"'])?\s*\))?"
)
ANY_FORM = re.compile(
    rf"""(?ix)
    (?P<mark>{MARKS.pattern})
    | (?P<bracket>\^?{_BRACKET})
    | (?P<raised> <sup\b[^<>]{{0,80}}>(?P<in_sup>[^<>]{{1,80}})</sup> | ⁽?(?P<in_run>{_RUN})⁾?
        | \$?\^\{{(?P<in_power>[^{{}}\n]{{1,40}})\}}\$? | \$?\^(?P<in_caret>\d{{1,3}}(?:,\d{{1,3}}){{0,9}})(?:\^|\$)?)
    | (?P<element> <(?P<tag>{_TAGS})\b[^<>]{{0,100}}>(?P<in_element>[^<>]{{1,80}})</(?P=tag)>
        | <(?:{_TAGS})\s[^<>=]{{0,40}}=\s*["']?(?P<in_attribute>[^<>"'=]{{1,40}})["']?\s*(?:/>|></[a-z]{{1,10}}>))
    | (?P<command> ~?\\(?:[a-z]{{0,8}}cite[a-z]{{0,4}}|textsuperscript|footnote(?:mark)?|ref)\*?
        (?:\[[^\[\]\n]{{0,40}}\]){{0,2}}\{{(?P<in_command>[^{{}}\n]{{1,60}})\}})
    | (?P<round> [(（](?P<in_round>[^()（）\n]{{1,80}})[)）])
    | (?P<curly> \{{(?P<in_curly>[^{{}}\n]{{1,60}})\}})
    | (?P<angle> <(?P<in_angle>[^<>\n/=]{{1,40}})>)"""
)
IN_BRACKETS = re.compile(rf"(?P<mark>{MARKS.pattern})|(?P<bracket>{_BRACKET})")
"""The forms that count in texts whose numbers have an unknown meaning."""
_NESTED = re.compile(rf"[\\^]*[{_BRACKETS}]\^?")
_AROUND = " ;\t^\\\"'\u200b\u2060\ufeff"
_UNIT = re.compile(r"(?<![^\W\d_])[^\W\d_]{1,2}$")
_BASE = re.compile(r"(?<![\d.,])(?:\d|10)$")
_OPENED = ("(", *OPENING, *(chr(HIDDEN[ord(char)]) for char in OPENING))
JOINED = re.compile(r"[\s,;、，；]*(?:(?:\band\b|&|[-–—])\s*)?")
_LONGEST_JOIN = 8  # characters
_CODE = re.compile(r"(?<!`)(`{1,4})([^`\n]{1,200})\1(?!`)|(?<![\w$])\$(?=\S)([^$\n]{1,200})(?<=\S)\$(?!\d)")
_SPANNED = re.compile(
    r"""(?ix) <(?P<tag>cite|citation|ref|source|co)\s?(?:[^<>=]{0,40}=|:)
    \s*["']?(?P<numbers>\d[\d,;\s-]{0,40})[^<>]{0,40}> (?P<text>[^<>]*[^\W\d_][^<>]*) </(?P=tag)\b[^<>]{0,40}>"""
)
"""Text between tags that cite: ``<cite index="2-1,5-3">…</cite>`` (document and sentence), ``<co: 2,5>…</co: 2,5>``."""
_NUMBER = re.compile(r"(?:^|[,;])\s*(\d{1,3})")
_CARD = re.compile(
    r"<(?P<tag>[\w:.-]{1,40})\b[^<>]{0,200}cit[^<>]{0,200}>\s*(?:<(?P<inner>\w{1,20})[^<>]{0,100}>)?\s*(?P<number>\d{1,3})"
    r"\s*(?:</(?P=inner)>)?\s*</(?P=tag)>",
    re.I,
)
"""An element about a citation that holds its number alone, or within another element."""
_DEFINITION = re.compile(r"^[ \t]{0,3}\[\^\d{1,3}\]:[^\n]*(?:\n|\Z)", re.M)
"""The definition of a footnote: ``[^2]: title``."""
_CITE_TAG = re.compile(r"\[/?cite_?(?:start|end)\]\s?|\[/cite\]", re.I)


@dataclass(frozen=True)
class Candidate:
    """A part of a text in the form of a marker, at any place."""

    start: int
    end: int
    form: str  # the group of ANY_FORM, or "labelled"
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


def with_tags_as_markers(text: str) -> str:
    """Replace citing tags in a reply by markers after the tagged text, and remove definitions of footnotes."""
    text = text.replace("&#91;", "[").replace("&#93;", "]")
    if "[^" in text:
        text = _DEFINITION.sub("", text)
    if "<" in text:
        text = _CARD.sub(r"[\g<number>]", _SPANNED.sub(_with_marker, text))
    return _CITE_TAG.sub("", text)


def _with_marker(match: re.Match[str]) -> str:
    return match["text"] + "".join(f"[{number}]" for number in _NUMBER.findall(match["numbers"]))


def candidates(text: str, form: re.Pattern[str], shown: int | None) -> Iterator[Candidate]:
    """Yield, in order, the parts of a text that have the form of markers and can cite a number shown.

    Excludes code, formulas, years, exponents, and intervals from 0 or after an operator.
    """
    text, at = _without_code(text), 0
    before = Candidate(-1, -1, "")
    while match := form.search(text, at):
        kind = str(match.lastgroup)
        candidate = Candidate(*match.span(), kind) if kind == "mark" else _read(match, kind, shown)
        if candidate:
            before = replace(candidate, lead=before.lead if are_joined(text, before, candidate) else candidate.start)
            yield before
        at = match.end() if candidate else match.start() + 1


def are_joined(text: str, first: Candidate, second: Candidate) -> bool:
    """Return whether only a comma or conjunction is between two candidates: ``[1], [2]``, ``[1] and [2]``."""
    gap = second.start - first.end
    return first.end >= 0 and gap < _LONGEST_JOIN and bool(JOINED.fullmatch(text, first.end, second.start))


def _without_code(text: str) -> str:
    if "`" not in text and "$" not in text:
        return text
    return _CODE.sub(lambda m: m[0] if ANY_FORM.fullmatch((m[2] or m[3]).strip()) else " " * len(m[0]), text)


def _read(match: re.Match[str], form: str, shown: int | None) -> Candidate | None:
    """Return the candidate of a match; None if its content is not a citation."""
    inner = next(text for name, text in match.groupdict().items() if name.startswith("in_") and text)
    if form == "raised":
        inner = _on_the_line(inner, shown)
    inner = in_form(inner, "NFKC")
    core = _BEHIND.sub("", _NESTED.sub(";", inner)).strip(_AROUND)
    items: tuple[tuple[int, int], ...] = ()
    if _ITEMS.fullmatch(core):
        items = tuple((_value(first), _value(last or first)) for first, last in _ITEM.findall(core))
        if form == "round" and (core[0].isalpha() or _NESTED.search(inner)):
            form = "element"  # (Source 1), (see [1])
    elif form == "bracket" and (labelled := _ANY_LABEL.fullmatch(inner.strip())):
        form, items = "labelled", ((_value(labelled[1]),) * 2,)
    candidate = Candidate(*match.span(), form, items)
    return candidate if items and _may_cite(candidate, match.string, shown) else None


def _may_cite(candidate: Candidate, text: str, shown: int | None) -> bool:
    """Return whether the numbers were shown, and the text before them does not make them an index or a formula."""
    before = text[max(0, candidate.start - 4) : candidate.start].rstrip("\\")
    numbers = [number for item in candidate.items for number in item]
    if 0 in numbers and (not candidate.is_single or before[-1:].isalnum()):
        return False  # [0, 1], a[0]
    if max(numbers) > max(999, shown or 0):
        return False  # [1999]
    if candidate.form == "raised" and before[-1:] in _OPENED:
        return False
    if candidate.form == "raised" and (_BASE.search(before) or (max(numbers) in (2, 3) and _UNIT.search(before))):
        return False  # 10⁶, km²
    if candidate.form != "bracket" and not candidate.is_within(shown):
        return False
    last = before.rstrip()[-1:]
    return not (last and last not in "|~>^" and unicodedata.category(last) == "Sm")  # x = [1, 2]


def _on_the_line(raised: str, shown: int | None) -> str:
    """Return superscript digits as plain ones; a number greater than all shown is split into its digits."""
    plain = in_form(raised.replace("⁻", "-").replace("⁾⁽", ",").replace("˒", ","), "NFKC")
    return ",".join(plain) if plain.isdecimal() and shown and _value(plain) > shown else plain


def _value(digits: str) -> int:
    """Return the value of decimal digits in any script; more than nine digits are out of range anyway."""
    return int(digits) if len(digits) <= 9 else 10**9
