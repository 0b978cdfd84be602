"""Words of many languages that carry little topic: stop words, and words that deny or except something."""

import functools
import re

from storm_pipeline.files import table_beside
from storm_pipeline.languages.tables import language_name
from storm_pipeline.text.index_terms import STOP_WORDS

LATIN = ("en", "de", "fr", "es", "it", "pt", "pl", "nl", "sv", "da", "no", "tr")
"""Languages in Latin script that have a list."""
_TABLE = table_beside(__file__)
_DENIALS = {language: re.compile("|".join(parts), re.I) for language, parts in _TABLE["denials"].items()}


@functools.cache
def stop_words(language: str) -> frozenset[str]:
    """The stop words of a language in lower case; empty if there is no list.

    There are lists for English, German, French, Spanish, Italian, Portuguese, Polish, Russian, Arabic, Chinese,
    Japanese, Dutch, Swedish, Danish, Norwegian, Turkish and Korean.
    """
    if language == "en":
        return STOP_WORDS
    if language in _TABLE["stop_words"]:
        return frozenset(_TABLE["stop_words"][language].split())
    if language not in _TABLE["shipped"].split():
        return frozenset()
    from bm25s import stopwords

    return frozenset(word.casefold() for word in getattr(stopwords, f"STOPWORDS_{language_name(language).upper()}"))


def denials(text: str, language: str = "en") -> int:
    """How often a text denies or excepts something; by English words where those of its language are not known."""
    return len(_DENIALS.get(language, _DENIALS["en"]).findall(text))
