"""Whether a sentence makes sense outside the text that it is taken from. Pure functions on English text."""

import re

from storm_pipeline.text.words import word_count

_OPENS_BACK = re.compile(
    r"(?:it|its|they|their|he|his|she|her|these|those|this|that|such|both|also|additionally|however|moreover|"
    r"furthermore|therefore|thus|instead|consequently|in addition|as a result)\b",
    re.I,
)
"""An opening that leans on a sentence which need not stand before it any more."""
_SOMEBODY = re.compile(r"\b(?:he|him|his|she|her|hers|himself|herself)\b", re.I)
_PRESENTED = re.compile(
    r"\b(?:[Tt]he|[Aa]n?|[Ee]very|[Ee]ach|[Oo]ne|[Ww]ho(?:ever)?)\b|"
    r"\b(?!(?:After|All|Although|And|As|At|Because|Before|Born|But|By|Despite|During|Even|First|Following|For|From|If|In|"
    r"Into|Known|Later|Like|Next|Now|On|Once|Only|Or|Out|Over|Since|So|Some|Soon|Still|Then|There|Though|Through|To|"
    r"Under|Unlike|Until|Upon|When|Where|While|With|Within|Without|Yet|\w+ing)\b)[A-Z]"
)
"""A name, or who or what is spoken of; not a word that has its capital for opening a sentence."""
_LEANS = re.compile(
    r"\b(?:that|this|these|those|the same) (?:century|decade|year|time|period|era|day|event)s?\b|"
    r"\bthe (?:latter|former)\b|\brespectively\b|\b(?:figure|fig\.|table|appendix) \d+[a-z]?\b",
    re.I,
)
_SPEAKS = re.compile(
    r"\b(?:[Ww]e|[Oo]urs?|[Yy]ou|[Yy]ours?|[Mm]y|[Mm]yself|[Oo]urselves|I['’](?:m|ve|d|ll))\b|"
    r"(?:^|(?<!\S)(?:[a-z,;]+|After|Although|And|As|Because|Before|But|If|Since|So|Then|Though|When|While) )I(?= [a-z])"
)
"""The first or second person: nobody knows any more who speaks. The I of a king is behind his name."""
_BREAKS_OFF = re.compile(r"(?:…|\.\.)[\s\"'”’)\]]*$")
_QUOTED = re.compile(r"[\"“„][^\"“”„]*[\"”“]")
_HALF_QUOTED = re.compile(r"(?<!\d)\"|[“”„]")
"""A quotation mark without its other one, which stands in another sentence; behind a digit it means inches."""
_SHORTEST = 6
"""Words below which a sentence taken out of its text says too little."""


def points_back(text: str) -> bool:
    """Whether a sentence opens with what was said before it, or speaks of a man or a woman whom it has not named."""
    return bool(_OPENS_BACK.match(text)) or _is_of_nobody(text)


def stands_alone(text: str) -> bool:
    """Whether a sentence, but for whom or what it points back to, makes sense without its text and its writer."""
    bare = _QUOTED.sub("", text)
    lacks = _LEANS.search(text) or _BREAKS_OFF.search(text) or _SPEAKS.search(bare) or _HALF_QUOTED.search(bare)
    return not lacks and word_count(text) >= _SHORTEST


def _is_of_nobody(text: str) -> bool:
    """Whether a pronoun of a person comes before any name, and before anybody is presented."""
    found = _SOMEBODY.search(text)
    return found is not None and not _PRESENTED.search(text[: found.start()])
