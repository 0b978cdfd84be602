"""Texts that lost capitals, punctuation or spaces in extraction, and repairing their dates and numbers."""

import functools
import re

from storm_pipeline.quantities.months import month_names

_LETTER = "[A-Za-zÀ-ÖØ-öø-ɏА-яЁё]"
_GLUED = re.compile(rf"(?<={_LETTER})(?=\d{{1,2}}\s?{_LETTER}|\d{{4}}\b)|(?<=\d)(?={_LETTER}{{3,}})")
_MIN_CHARS = 60
"""Shorter texts may lack punctuation anyway."""
_CHARACTERS_A_MARK = 400
"""A text with fewer punctuation marks than one per so many characters has lost them."""
_PUNCTUATION = re.compile(r"[.,;:!?](?=\s|$)|[%。、，؛।]")
_ORDINAL = re.compile(r"(?<=\d) (?=(?:st|nd|rd|th|er)\b)")


def repaired(text: str, language: str) -> str:
    """The text with months beside a number capitalised, and with a space between a word and a number.

    ``12 september 2022`` becomes ``12 September 2022``, and ``august2022`` becomes ``August 2022``. Lengths may change.

    Args:
        text: text of a source.
        language: ISO 639-1 code; English month names are always known.
    """
    apart = _ORDINAL.sub("", _GLUED.sub(" ", text))
    return _months(language).sub(lambda found: found[0][:1].upper() + found[0][1:], apart)


def is_degraded(text: str) -> bool:
    """Whether a text has almost no punctuation, so that percent signs and decimal points are missing too."""
    return len(text) >= _MIN_CHARS and len(_PUNCTUATION.findall(text)) < len(text) / _CHARACTERS_A_MARK


@functools.cache
def _months(language: str) -> re.Pattern[str]:
    names = "|".join(sorted({re.escape(name.lower()) for name in month_names(language)}, key=len, reverse=True))
    return re.compile(rf"(?<=\d )(?:{names})\b|(?<=\d\. )(?:{names})\b|\b(?:{names})(?=\.? \d)")
