"""What stands above and below the line, in pages and files: exponents and indices stay, marks of notes do not."""

_RAISED = str.maketrans("0123456789+-−–=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ⁿⁱ")
_LOWERED = str.maketrans("0123456789+-−–=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₋₌₍₎")
_EXPONENT = frozenset("0123456789+-−–=()ni")
_DIGITS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_MARK = frozenset("0123456789*†‡§¶,–- \n[]()")
_ENDS_PROSE = ".,;:!?”’\"'»)]"


def raised_text(text: str) -> str:
    """A superscript as text: ``⁶`` and ``ⁿ⁺¹``, ``^(2x)`` where Unicode lacks a character, ``st`` as it is."""
    own = text.strip()
    if " " in own and any(map(str.isalpha, own)):  # words: the mark was not closed
        return text
    has_value = own.lstrip("+-−–") in {"n", "i"} or any(map(str.isdecimal, own))
    if has_value and _EXPONENT.issuperset(own):
        return text.translate(_RAISED)
    is_mixed = any(map(str.isdecimal, own)) and any(map(str.isalpha, own))
    return text.replace(own, f"^({own})") if is_mixed else text.translate(_DIGITS)


def lowered_text(text: str) -> str:
    """A subscript as text: its digits and signs as Unicode's subscripts, letters as they are."""
    return text.translate(_LOWERED)


def is_note_mark(raised: str, before: str, after: str = "") -> bool:
    """Whether a superscript is the mark of a note: in brackets, or digits and signs behind a word or at a beginning.

    Behind a number or a short word, digits may be an exponent, and before a letter or a slash they begin a nuclide
    (``¹⁴C``) or a fraction: there they are no mark.

    Args:
        before: the text before it on its line.
        after: the text behind it.
    """
    if raised.strip()[:1] == "[" and raised.strip()[-1:] == "]":
        return True
    if not can_be_note_mark(raised) or after[:1].isalnum() or after.startswith(("/", "⁄")):
        return False
    last = before.rstrip()
    return not last or last[-1] in _ENDS_PROSE or (len(last) >= 4 and last[-4:].isalpha())


def can_be_note_mark(raised: str) -> bool:
    """Whether a text can be the mark of a note, if it stands above the line."""
    return raised.strip() != "" and _MARK.issuperset(raised)
