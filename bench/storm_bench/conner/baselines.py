"""The reference-based measures that the paper compares validity with (Table 10): exact match and F1 of words.

Words are compared as SQuAD's evaluation does: lower-case, without punctuation, without articles.
"""

import re
from collections import Counter

_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_MARK = re.compile(r"[^\w\s]")


def exact_match(answer: str, truth: str) -> float:
    """1 where both have the same words in the same order, else 0."""
    return float(_words(answer) == _words(truth))


def word_f1(answer: str, truth: str) -> float:
    """Harmonic mean of precision and recall of words, in [0, 1]; two texts without a word are equal (1)."""
    own, wanted = _words(answer), _words(truth)
    if not own or not wanted:
        return float(own == wanted)
    shared = (Counter(own) & Counter(wanted)).total()
    return 2 * shared / (len(own) + len(wanted))


def _words(text: str) -> list[str]:
    return _ARTICLE.sub(" ", _MARK.sub("", text.lower())).split()
