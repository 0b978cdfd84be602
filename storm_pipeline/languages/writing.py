"""Orthography of languages: capitals and spaces."""

_NOUNS_WITH_CAPITALS = frozenset({"de", "lb"})
_WITHOUT_SPACES = frozenset({"zh", "ja", "th", "lo", "km", "my"})


def capitalises_nouns(language: str) -> bool:
    """Whether all nouns are capitalised, so that a capital does not indicate a name."""
    return language in _NOUNS_WITH_CAPITALS


def has_spaces(language: str) -> bool:
    """Whether words are separated by spaces; if not, they cannot be segmented without a dictionary."""
    return language not in _WITHOUT_SPACES


def has_case(text: str) -> bool:
    """Whether a text has letters with upper and lower case (Latin, Greek, Cyrillic; not Arabic, Han, Hebrew)."""
    return text.lower() != text.upper()
