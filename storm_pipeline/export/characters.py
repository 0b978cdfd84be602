"""Which characters of a text every format can hold."""

import re

from storm_pipeline.text.words import tidy

_NOT_IN_XML = re.compile("[\ufffe\uffff]")


def clean(text: str) -> str:
    """A text on one line with only the characters that XML 1.0 allows.

    White space is collapsed; control characters, halves of surrogate pairs and the two code points that are no
    characters, U+FFFE and U+FFFF, are removed.
    """
    return tidy(_NOT_IN_XML.sub("", text))
