"""Signs, exact and cheap, that other words for a sentence say something else. Pure functions on English text.

Likeness of meaning, by which support is judged, hardly sees a *not*, and takes praise for more of the same.
"""

import re

from storm_pipeline.references.support import numbers

_DENIAL = re.compile(
    r"\bnot\b(?! only\b)|\b\w+n['’]t\b|\b(?:are|ca|did|do|does|had|has|have|is|should|was|were|would)nt\b|"
    r"\bno\b(?!\. ?\d)|\b(?:never|none|nobody|nothing|nowhere|neither|without|cannot|hardly|impossible|unable|"
    r"lack(?:s|ed|ing)?|absen(?:t|ce)|except(?:ing)?|unless|fail(?:s|ed|ing|ure)?|"
    r"un(?:available|certain|clear|common|known|likely|related))\b",
    re.I,
)
_TURN = re.compile(
    r"\b(?:although|but|despite|except|formerly|however|originally|rather|though|unless|until|whereas|yet)\b", re.I
)
_PRAISE = re.compile(
    r"\b(?:captivating|crucial(?:ly)?|fascinating|iconic|importan(?:t|tly|ce)|impressive|influential|instrumental|"
    r"invaluable|legendary|masterful|notabl[ey]|pivotal|poignant|profound(?:ly)?|prominent(?:ly)?|remarkabl[ey]|"
    r"renowned|significan(?:t|tly|ce)|stunning|testament|unparalleled|vital|widely recogni[sz]ed)\b",
    re.I,
)


def says_the_same(new: str, old: str, *, known: str) -> bool:
    """Whether nothing shows that ``new`` says something else than ``old``.

    It denies as often, praises only what is praised, asks nothing, and has no number of its own.

    Args:
        new: other words for a sentence.
        old: the sentence.
        known: text whose numbers ``new`` may have too.
    """
    return (
        denials(new) == denials(old)
        and (not _PRAISE.search(new) or bool(_PRAISE.search(old)))
        and not new.rstrip("\"'”’ ").endswith("?")
        and numbers(new) <= numbers(old) | numbers(known)
    )


def denials(text: str) -> int:
    """How often a text denies or excepts something."""
    return len(_DENIAL.findall(text))


def can_be_cut(text: str) -> bool:
    """Whether the first part of a sentence is true without the rest: nothing in it turns or limits the other."""
    return not _TURN.search(text)
