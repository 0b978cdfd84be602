"""Shortens a sentence by deletions only: what is left keeps its words and their order."""

import re

from storm_pipeline.files import table_beside
from storm_pipeline.languages import stem_set
from storm_pipeline.text.words import word_count

_PATTERNS = table_beside(__file__)
_LONG = 34  # words above which a sentence loses a clause at its end
_CONNECTIVE = re.compile("".join(_PATTERNS["connective"]))
_INNER = re.compile(r",? \b(?:thus|therefore|moreover|furthermore)\b,?(?= )")
_ALSO = re.compile(r"\b(is|are|was|were|has|have|had|can|may) also\b")
_CONVERSION = re.compile("".join(_PATTERNS["conversion"]))
"""A measure in other units, in brackets."""
_SHORT_FORM = re.compile(r" \([A-Z]{2,6}s?\)")
_ASIDE = re.compile(
    r" ?\((?:[^()]*[;:/ˈˌəɪʊɛɔæʌθðʃʒŋ][^()]*|lit[. ][^()]*|[^()A-Za-z0-9]*|see [^()]*|[Ii][Pp][Aa][^()]*)\)"
)
"""A pronunciation, a name in other scripts, a translation, or empty brackets."""
_LAST_CLAUSE = re.compile(
    r", (?:which|where|whose|with|including|although|though|while|whereas|making|leading to) [^,;]+(?:, [^,;]+)*\.$"
)


def shortened(text: str, following: str = "") -> str:
    """The sentence without what an encyclopedia can do without.

    That is: a connective at its opening, asides in brackets, measures in other units; and of a long sentence a clause
    at the end that only adds to it. ``following``: the sentence that comes after it; a clause stays whose words that
    one takes up.
    """
    text = re.sub(r",(?: ?,)+(?! where\b)", ",", _CONVERSION.sub("", _ASIDE.sub("", text)))
    if found := _CONNECTIVE.match(text):
        text = found["first"].upper() + text[found.end() :]
    text = re.sub(r" {2,}", " ", re.sub(r" +([,.;:])", r"\1", _INNER.sub("", text))).strip()
    if word_count(text) > _LONG and (clause := _shortest_clause(text)) is not None:
        left = text[: clause.start()] + "."
        return text if (stem_set(clause[0]) - stem_set(left)) & stem_set(following) else left
    return text


def taken_out(text: str) -> str:
    """The sentence without what only its neighbours explain or use: "also", and abbreviations in brackets."""
    return _ALSO.sub(r"\1", _SHORT_FORM.sub("", text))


def _shortest_clause(text: str) -> re.Match[str] | None:
    """The last such clause that leaves at least half of the sentence."""
    found = None
    start = 0
    while match := _LAST_CLAUSE.search(text, start):
        found, start = match, match.start() + 1
    return found if found and 2 * word_count(text[: found.start()]) >= word_count(text) else None
