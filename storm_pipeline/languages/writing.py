"""How a language is written: capitals and spaces."""

_NOUNS_WITH_CAPITALS = frozenset({"de", "lb"})
_WITHOUT_SPACES = frozenset({"zh", "ja", "th", "lo", "km", "my"})


def capitalises_nouns(language: str) -> bool:
    """Whether every noun has a capital, so that a capital tells no name."""
    return language in _NOUNS_WITH_CAPITALS


def has_spaces(language: str) -> bool:
    """Whether spaces stand between words; where they do not, words cannot be told apart without a dictionary."""
    return language not in _WITHOUT_SPACES


def has_case(text: str) -> bool:
    """Whether a text has letters that come in capital and small (Latin, Greek, Cyrillic; not Arabic, Han, Hebrew)."""
    return text.lower() != text.upper()
