"""What kind of thing a page is about, by its first sentence: people, places and works get sections of their own."""

import re

from storm_pipeline.files import table_beside
from storm_pipeline.text.words import word_count

KINDS = ("Places", "People", "Works")
"""In the order of their sections."""
_FEW = 16  # words from which readers call a definition worth telling as often as other sentences, or more often
_SUBJECT = 300  # characters of a page in which its verb is looked for
_TABLE = table_beside(__file__)
_IS = re.compile(r"\b(?:is|are|was|were) (?:an?|the|one of the)\b")
_OFFICE = re.compile("".join(_TABLE["office"]))
"""What somebody was, without an article: somebody was President of France."""
_ARE = re.compile(r"[A-Z][\w’'-]*(?: [\w’'-]+){0,3} are(?= [a-z])")  # larks are passerine birds
_END = re.compile(_TABLE["end"])
"""What ends the words that say what a page's subject is."""
_STATE = re.compile(r"(?:[\w.-]+ )*state (?:in|located|bordering) ")  # of a federation
_LIVES = re.compile(r"[.!?] (?:He|She|His|Her)\b")
_TRADE = re.compile("".join(_TABLE["trade"]))
"""What somebody was: an Italian scholar and poet."""
_NO_TRADE = re.compile("".join(_TABLE["no_trade"]))
_FIGURE = re.compile(r"\b(?:deity|gods?|goddess|myth\w*|legend\w*|fictional|character)\b", re.I)
_DEFINES = re.compile("".join(_TABLE["defines"]))
_TELLS = re.compile(_TABLE["tells"])
"""A superlative, a number or year, a cause, a beginning: what a reader could not have thought."""
_KINDS = {kind: re.compile(rf"\b(?:{pattern})$", re.I) for kind, pattern in _TABLE["kinds"].items()}


def kind_word(text: str) -> str:
    """The last word of what a page's opening says its subject is: country; empty if it says nothing of it."""
    verb = _IS.search(text[:_SUBJECT]) or _ARE.match(text)
    return _what(text[verb.end() :].strip()).rpartition(" ")[2].casefold() if verb else ""


def tells(text: str) -> bool:
    """Whether a sentence has more than general words: a year, a number, a superlative, a cause or a beginning."""
    return _TELLS.search(text) is not None


def defines(text: str) -> bool:
    """Whether a sentence says what something is: is a, is the; not "is one of the few places where"."""
    return _DEFINES.search(text[:_SUBJECT]) is not None


def only_defines(opening: str) -> bool:
    """Whether the first sentence of a page only says what its subject is, in a few words."""
    return defines(opening) and not tells(opening) and word_count(opening) < _FEW


def _what(said: str) -> str:
    end = _END.search(said)
    return said[: end.start()] if end else said


def kind_of(text: str) -> str:
    """``People``, ``Places`` or ``Works``, as the page's opening says; empty if it is about anything else."""
    if _OFFICE.match(text):
        return KINDS[1]
    verb = _IS.search(text[:_SUBJECT])
    if verb is None:
        return ""
    said = text[verb.end() :].strip()
    what = _what(said)
    found = next((kind for kind, pattern in _KINDS.items() if pattern.search(what)), "")
    found = KINDS[0] if _STATE.match(said) else found
    if found == "Works" and verb[0].endswith("the"):
        return ""  # an art: the painting of a period
    lived = (_TRADE.match(what) and not _NO_TRADE.search(what)) or (
        _LIVES.search(said[:_SUBJECT]) and not verb[0].startswith(("are", "were"))
    )
    return found or ("People" if lived and not _FIGURE.search(said.partition(". ")[0]) else "")
