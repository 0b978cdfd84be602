"""What is known of each language: its name, spaces, scripts and direction, and its heading of references."""

from functools import cache

from storm_pipeline.files import table_beside

_TABLE = table_beside(__file__)
_SCRIPTS = {
    "zh": "CJK",
    "ja": "CJK FULLWIDTH HIRAGANA KATAKANA",
    "ko": "CJK HANGUL",
    "bn": "BENGALI",
    "sr": "CYRILLIC LATIN",
}
"""Scripts where CLDR has another name for them than Unicode, or a language has several."""
_WITHOUT_SPACES = frozenset({"zh", "ja", "th", "lo", "km", "my"})


def references_heading(language: str) -> str:
    """What the list of references is called in a language; ``References`` where that is not known here."""
    return str(_TABLE["references"].get(language, "References"))


@cache
def language_name(code: str) -> str:
    """The English name of a language, for prompts; the code itself if unknown."""
    from babel.core import Locale

    return str(Locale("en").languages.get(code, code))


@cache
def is_right_to_left(language: str) -> bool:
    """Whether a language, given as a BCP 47 code, is written from right to left; False if it is not known."""
    from babel.core import Locale, UnknownLocaleError

    try:
        return Locale.parse(language, sep="-").character_order == "right-to-left"
    except (UnknownLocaleError, ValueError):
        return False


def has_spaces(language: str) -> bool:
    """Whether words are separated by spaces."""
    return language not in _WITHOUT_SPACES


@cache
def scripts_of(language: str) -> frozenset[str]:
    """Names of the scripts that a language is written in, as Unicode names its letters."""
    from babel.core import Locale, get_global

    if language in _SCRIPTS:
        return frozenset(_SCRIPTS[language].split())
    _, _, script = str(get_global("likely_subtags").get(language, "und_Latn")).partition("_")
    return frozenset({str(Locale("en").scripts.get(script[:4], "Latin")).upper()})
