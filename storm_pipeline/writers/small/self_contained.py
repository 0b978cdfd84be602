"""Checks whether a sentence makes sense outside its source text. Pure functions on English text."""

import re

from storm_pipeline.text.words import word_count

_BACK_REFERENCE = re.compile(
    r"(?:it|its|they|their|he|his|she|her|these|those|this|that|such|both|also|another|others?|additionally|however|"
    r"moreover|furthermore|therefore|thus|instead|then|there|here|one of (?:these|them|its|his|her)|consequently|"
    r"in addition|as a result|more generally|at (?:the|that|this) (?:same )?time|for example|for instance|"
    r"(?:after|before|by|despite|during|following|for|from|in|since|through|under|with) "
    r"(?:this|these|that(?! of)|those(?! (?:of|who)))|by [a-z]+,? (?:it|they))\b",
    re.I,
)
"""An opening that depends on the preceding sentence."""
_PERSONAL_PRONOUN = re.compile(r"\b(?:he|him|his|she|her|hers|himself|herself|(?<=consider )it)\b", re.I)
_ANTECEDENT = re.compile(
    r"\b(?:[Tt]he|[Aa]n?|[Ee]very|[Ee]ach|[Oo]ne|[Ww]ho(?:ever)?)\b|"
    r"\b(?!(?:After|All|Although|And|As|At|Because|Before|Born|But|By|Despite|During|Even|First|Following|For|From|If|In|"
    r"Into|Known|Later|Like|Next|Now|On|Once|Only|Or|Out|Over|Since|So|Some|Soon|Still|Then|There|Though|Through|To|"
    r"Under|Unlike|Until|Upon|When|Where|While|With|Within|Without|Yet|\w+ing)\b)[A-Z]"
)
"""A possible antecedent: a name or a noun phrase, not a word capitalised only because it opens the sentence."""
_CONTEXT_REFERENCE = re.compile(
    r"\b(?:that|this|these|those|the same) (?:century|decade|year|time|period|era|day|event)s?\b|"
    r"\bthe (?:latter|former|following)\b|\bat the time\b(?! of)|\brespectively\b|\bherein\b|"
    r"\b(?:figure|fig\.|table|appendix) \d+[a-z]?\b|\bsee (?:also )?(?-i:[A-Z])",
    re.I,
)
_FIRST_OR_SECOND_PERSON = re.compile(
    r"\b(?:[Ww]e|[Oo]urs?|[Yy]ou|[Yy]ours?|[Mm]y|[Mm]yself|[Oo]urselves|I['’](?:m|ve|d|ll))\b|"
    r"(?:^|(?<!\S)(?:[a-z,;]+|After|Although|And|As|Because|Before|But|If|Since|So|Then|Though|When|While) )I(?= [a-z])"
)
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
    return not dependent and word_count(text) >= (_SHORTEST_OWN if own else _SHORTEST)


def in_context(text: str, before: str) -> str | None:
    """A sentence that makes sense alone: with ``before`` in front where it points back; None where neither helps."""
    if not stands_alone(text):
        return None
    return f"{before}: {text}" if points_back(text) else text


def _has_unresolved_pronoun(text: str) -> bool:
    """Whether a personal pronoun comes before any possible antecedent."""
    found = _PERSONAL_PRONOUN.search(text)
    return found is not None and not _ANTECEDENT.search(text[: found.start()])
