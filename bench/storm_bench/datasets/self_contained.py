"""Checks whether a sentence makes sense outside its source text. Pure functions on English text."""

import re
import tomllib
from pathlib import Path

from storm_pipeline.api import words

_PATTERNS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_BACK_REFERENCE = re.compile("".join(_PATTERNS["back_reference"]), re.I)
"""An opening that depends on the preceding sentence."""
_PERSONAL_PRONOUN = re.compile(r"\b(?:he|him|his|she|her|hers|himself|herself|(?<=consider )it)\b", re.I)
_ANTECEDENT = re.compile("".join(_PATTERNS["antecedent"]))
"""A possible antecedent: a name or a noun phrase, not a word capitalised only because it opens the sentence."""
_CONTEXT_REFERENCE = re.compile("".join(_PATTERNS["context_reference"]), re.I)
_FIRST_OR_SECOND_PERSON = re.compile("".join(_PATTERNS["first_or_second_person"]))
"""First or second person, whose speaker is lost out of context. A regnal I follows a name and does not match."""
_BREAKS_OFF = re.compile(r"(?:…|\.\.)[\s\"'”’)\]]*$")
_QUOTED = re.compile(r"[\"“„][^\"“”„]*[\"”“]")
_HALF_QUOTED = re.compile(r"(?<!\d)\"|[“”„]")  # an unpaired quotation mark; after a digit it means inches
_SHORTEST, _SHORTEST_OWN = 6, 4  # minimum words of a sentence that is informative, out of context and on its own page


def points_back(text: str) -> bool:
    """Whether a sentence opens with a reference to the text before it, or has an unresolved pronoun."""
    return bool(_BACK_REFERENCE.match(text)) or _has_unresolved_pronoun(text)


def stands_alone(text: str, *, own: bool = False) -> bool:
    """Whether a sentence makes sense alone, or on its own page, apart from what :func:`points_back` finds."""
    bare = _QUOTED.sub("", text)
    dependent = (
        _CONTEXT_REFERENCE.search(text)
        or _BREAKS_OFF.search(text)
        or _FIRST_OR_SECOND_PERSON.search(bare)
        or _HALF_QUOTED.search(bare)
    )
    return not dependent and len(words(text)) >= (_SHORTEST_OWN if own else _SHORTEST)


def in_context(text: str, before: str) -> str | None:
    """A sentence that makes sense alone: with ``before`` in front where it points back; None where neither helps."""
    if not stands_alone(text):
        return None
    return f"{before}: {text}" if points_back(text) else text


def _has_unresolved_pronoun(text: str) -> bool:
    """Whether a personal pronoun comes before any possible antecedent."""
    found = _PERSONAL_PRONOUN.search(text)
    return found is not None and not _ANTECEDENT.search(text[: found.start()])
