"""Texts that lost capitals, punctuation or spaces in extraction, and repairing their dates and numbers."""

import functools
import re

from storm_pipeline.quantities.months import month_names

_LETTER = "[A-Za-zÀ-ÖØ-öø-ɏА-яЁё]"
_AFTER_A_WORD = re.compile(rf"\d(?<={_LETTER}\d)(?=\d?\s?{_LETTER}|\d{{3}}\b)")
_BEFORE_A_WORD = re.compile(rf"\d(?={_LETTER}{{3,}})")
"""A digit glued to a word. Patterns that start with a character class are fast: few characters are tried."""
_MIN_CHARS = 60  # shorter texts may lack punctuation anyway
_CHARACTERS_A_MARK = 400  # a text with fewer punctuation marks than one per so many characters has lost them
_PUNCTUATION = re.compile(r"[.,;:!?](?=\s|$)|[%。、，؛।]")
_SPLIT = re.compile(rf"(?<!{_LETTER})({_LETTER}{{2,}})[-\u00ad] ({_LETTER}{{2,}})")
"""A word that was divided at the end of a line; tried once a word, so that long words take linear time."""
_ORDINAL = re.compile(r"(?<=\d) (?=(?:st|nd|rd|th|er)\b)")


def repaired(text: str, language: str) -> str:
    """The text with months beside a number capitalised, divided months joined, and a space between word and number.

    ``12 september 2022`` becomes ``12 September 2022``, ``14 NOV 2025`` becomes ``14 Nov 2025``, ``Janu- ary 1``
    becomes ``January 1``, and ``august2022`` becomes ``August 2022``. Lengths may change.

    Args:
        text: text of a source.
        language: ISO 639-1 code; English month names are always known.
    """
    apart = _ORDINAL.sub("", _BEFORE_A_WORD.sub(r"\g<0> ", _AFTER_A_WORD.sub(r" \g<0>", text)))
    names, pattern = _months(language)
    apart = _SPLIT.sub(lambda found: whole if (whole := found[1] + found[2]).lower() in names else found[0], apart)
    if not any(name in apart for name in names):
        return apart
    return pattern.sub(lambda found: found[0].capitalize(), apart)


def is_degraded(text: str) -> bool:
    """Whether a text has almost no punctuation, so that percent signs and decimal points are missing too."""
    return len(text) >= _MIN_CHARS and len(_PUNCTUATION.findall(text)) < len(text) / _CHARACTERS_A_MARK


@functools.cache
def _months(language: str) -> tuple[frozenset[str], re.Pattern[str]]:
    """Months in lower and upper case, and the pattern that finds them beside a number."""
    cased = {name for month in month_names(language) for name in (month.lower(), month.upper())}
    names = "|".join(sorted(map(re.escape, cased), key=len, reverse=True))
    pattern = re.compile(rf"(?<=\d )(?:{names})\b|(?<=\d\. )(?:{names})\b|\b(?:{names})(?=\.? \d)")
    return frozenset(cased), pattern
