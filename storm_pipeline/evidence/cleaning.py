"""Cleans texts of pages: link marks, addresses, wrong character sets, lines without a sentence. Pure functions.

No list of words decides: a menu, a button or a heading is a line that neither ends with a stop nor is as long as a
sentence.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

import ftfy

from storm_pipeline.text.languages import length_in_words

_LINE = 8  # minimum words of a line that is kept without a final stop
_SENTENCE = range(6, 81)  # words of a sentence; longer runs without a stop are lists
_PROSE = 0.5  # minimum share of a text's words in sentences
_TARGET = r"\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"]*\")?\s*\)"  # the target of a link, and its title
_PICTURE = re.compile(rf"!\[[^\[\]]*\](?:{_TARGET})?|\[\\?\[[^\[\]]*\]\]{_TARGET}")
"""A picture with its description, or the mark of a note: ``[[93]](https://…)``."""
_LINK = re.compile(rf"\[([^\[\]]*)\]{_TARGET}")
_ADDRESS = re.compile(r"(?:\]?\()?<?(?:https?://|www\.)[^\s<>()\[\]]+[>)]?")
"""An address, or the rest of a link that was cut off within its address."""
_BREAK = re.compile(r"\n|(?<!\S)(?:#{1,6}|[=_~-]{3,})(?!\S)")
"""Separators of a text's lines, including marks of headings and rules within joined lines."""
_STOP = re.compile(r"(?:[.!?…؟۔।](?=[\"'”’»)\]]*(?:\s|$))|[。！？።។။])[\"'”’»)\]」』】》）]*")


@lru_cache(maxsize=4096)
def clean(text: str) -> str:
    """Return a text on one line without link marks, pictures, addresses and lines without a sentence.

    A line is kept up to its last stop, or whole if eight words or more follow it. If no line would be left, all are
    kept. Letters in a wrong character set are decoded again: "cafÃ©" becomes "café".
    """
    lines = [" ".join(line.split()) for line in _BREAK.split(_strip_marks(text))]
    kept = [part for line in lines if (part := _up_to_last_stop(line))]
    return " ".join(kept or filter(None, lines))


@lru_cache(maxsize=4096)
def has_sentences(text: str) -> bool:
    """Return whether half of a text's words or more are in sentences; menus, lists and tables have few.

    A sentence has six to eighty words and ends with a stop or a semicolon. In Thai and Lao, which have no stops, eight
    words without a space are a sentence.
    """
    lines = _BREAK.split(_strip_marks(text).replace("; ", ". "))
    lengths = (length_in_words(sentence) for line in lines for sentence in _sentences(line))
    return sum(length for length in lengths if length in _SENTENCE) >= _PROSE * sum(map(length_in_words, lines))


def _up_to_last_stop(line: str) -> str:
    end = max((stop.end() for stop in _STOP.finditer(line)), default=0)
    return line if length_in_words(line[end:]) >= _LINE else line[:end]


def _sentences(line: str) -> Iterator[str]:
    """Yield the parts that end with a stop, then the words of the rest that are as long as a line (without spaces)."""
    start = 0
    for stop in _STOP.finditer(line):
        yield line[start : stop.end()]
        start = stop.end()
    yield from (run for run in line[start:].split() if length_in_words(run) >= _LINE)


def _strip_marks(text: str) -> str:
    """Return the text without link marks, pictures, addresses and bold marks."""
    text = text if text.isascii() else ftfy.fix_encoding(text)
    text = _LINK.sub(r"\1", _PICTURE.sub(" ", text))
    return _ADDRESS.sub(" ", text).replace("**", "")
