"""Any text as LaTeX that typesets it literally, and which characters every format can hold."""

import re

from storm_pipeline.files import table_beside
from storm_pipeline.text.words import tidy

_MACROS: dict[str, str] = table_beside(__file__)
_SPECIAL = re.compile("|".join(map(re.escape, _MACROS)))
_LIGATURE = re.compile(r"(?<=([-',]))(?=\1)")
_NOT_IN_XML = re.compile("[\ufffe\uffff]")


def tex_text(text: str) -> str:
    r"""A text on one line, escaped.

    Its braces are macros, so that BibTeX, which counts braces whether escaped or not, finds them balanced. Repeated
    hyphens, apostrophes and commas are kept apart, which TeX would join to dashes and quotation marks.
    """
    return _LIGATURE.sub("{}", _SPECIAL.sub(lambda found: _MACROS[found[0]], text))


def clean(text: str) -> str:
    """A text on one line with only the characters that XML 1.0 allows.

    White space is collapsed; control characters, halves of surrogate pairs and the two code points that are no
    characters, U+FFFE and U+FFFF, are removed.
    """
    return tidy(_NOT_IN_XML.sub("", text))
