"""Detection of a text's language by py3langid's model (in its wheel, BSD-3-Clause), and data on languages."""

import threading
from functools import cache, lru_cache
from typing import Any

from storm_pipeline.errors import AssetError
from storm_pipeline.text.files import table_beside

_SAMPLE = 2000  # maximum characters examined
_LEAST = 0.4  # minimum probability of a language
_NO_LANGUAGE = "zxx"  # numbers, code, addresses
_loading = threading.Lock()
_TABLE = table_beside(__file__)
_SCRIPTS = {
    "zh": "CJK",
    "ja": "CJK FULLWIDTH HIRAGANA KATAKANA",
    "ko": "CJK HANGUL",
    "bn": "BENGALI",
    "sr": "CYRILLIC LATIN",
}
"""Scripts that CLDR and Unicode name differently, or of languages with several."""
_WITHOUT_SPACES = frozenset({"zh", "ja", "th", "lo", "km", "my"})


def references_heading(language: str) -> str:
    """Return the heading of the list of references in a language; ``References`` if unknown."""
    return str(_TABLE["references"].get(language, "References"))


@cache
def language_name(code: str) -> str:
    """Return the English name of a language, for prompts; the code itself if unknown."""
    from babel.core import Locale

    return str(Locale("en").languages.get(code, code))


@cache
def is_right_to_left(language: str) -> bool:
    """Return whether a language, as a BCP 47 code, is written from right to left; False if unknown."""
    from babel.core import Locale, UnknownLocaleError

    try:
        return Locale.parse(language, sep="-").character_order == "right-to-left"
    except (UnknownLocaleError, ValueError):
        return False


def has_spaces(language: str) -> bool:
    """Return whether a language separates words by spaces."""
    return language not in _WITHOUT_SPACES


@cache
def scripts_of(language: str) -> frozenset[str]:
    """Return the Unicode names of the scripts of a language."""
    from babel.core import Locale, get_global

    if language in _SCRIPTS:
        return frozenset(_SCRIPTS[language].split())
    _, _, script = str(get_global("likely_subtags").get(language, "und_Latn")).partition("_")
    return frozenset({str(Locale("en").scripts.get(script[:4], "Latin")).upper()})


def detect(text: str) -> str:
    """Return the ISO 639-1 code of the main language of a text's first 2000 characters; "" if it is uncertain.

    Raises AssetError: py3langid could not unpack its model (68 MB) in the folder for temporary files.
    """
    return _detected(text[:_SAMPLE].strip())


@lru_cache(maxsize=4096)
def _detected(text: str) -> str:
    with _loading:
        identifier = _identifier()
    language, probability = identifier.classify(text)
    return language if probability >= _LEAST and language != _NO_LANGUAGE else ""


@cache
def _identifier() -> Any:
    """Load the identifier, once; it takes half a second and 100 MB and is immutable."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    try:
        identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    except OSError as error:
        message = f"cannot unpack the language detector to a temporary file: {error.strerror}"
        raise AssetError(f"{message}; make room there, or set TMPDIR") from error
    # Codes of three letters are varieties such as Wu, or small languages; "nn" is Norwegian too.
    codes = {code for code in identifier.labels if len(code) == 2} - {"nn"}
    identifier.set_languages(codes | {_NO_LANGUAGE})
    return identifier
