"""Orthography of languages: capitals and spaces."""

_NOUNS_WITH_CAPITALS = frozenset({"de", "lb"})
_SCRIPTS = {
    **dict.fromkeys(("ru", "uk", "be", "bg", "mk"), frozenset({"CYRILLIC"})),
    "sr": frozenset({"CYRILLIC", "LATIN"}),
    **dict.fromkeys(("ar", "fa", "ur"), frozenset({"ARABIC"})),
    "zh": frozenset({"CJK"}),
    "ja": frozenset({"CJK", "HIRAGANA", "KATAKANA", "FULLWIDTH"}),
    "ko": frozenset({"HANGUL", "CJK"}),
    "el": frozenset({"GREEK"}),
    "he": frozenset({"HEBREW"}),
    "hi": frozenset({"DEVANAGARI"}),
    "bn": frozenset({"BENGALI"}),
    "ta": frozenset({"TAMIL"}),
    "te": frozenset({"TELUGU"}),
    "th": frozenset({"THAI"}),
    "lo": frozenset({"LAO"}),
    "km": frozenset({"KHMER"}),
    "my": frozenset({"MYANMAR"}),
    "hy": frozenset({"ARMENIAN"}),
    "ka": frozenset({"GEORGIAN"}),
    "am": frozenset({"ETHIOPIC"}),
}
"""Of languages that are not written in Latin letters."""
_WITHOUT_SPACES = frozenset({"zh", "ja", "th", "lo", "km", "my"})


def capitalises_nouns(language: str) -> bool:
    """Whether all nouns are capitalised, so that a capital does not indicate a name."""
    return language in _NOUNS_WITH_CAPITALS


def has_spaces(language: str) -> bool:
    """Whether words are separated by spaces; if not, they cannot be segmented without a dictionary."""
    return language not in _WITHOUT_SPACES


def scripts_of(language: str) -> frozenset[str]:
    """Names of the scripts that a language is written in, as Unicode names its letters."""
    return _SCRIPTS.get(language, frozenset({"LATIN"}))
