"""Any text as LaTeX that typesets it literally, and which characters every format can hold."""

from storm_pipeline.files import table_beside
from storm_pipeline.text.words import tidy

_MACROS = str.maketrans(table_beside(__file__))


def tex_text(text: str) -> str:
    r"""A text on one line, escaped.

    Its braces are macros, so that BibTeX, which counts braces whether escaped or not, finds them balanced. Repeated
    hyphens, apostrophes and commas are kept apart, which TeX would join to dashes and quotation marks.
    """
    text = text.translate(_MACROS)
    for sign in "-',":
        while sign * 2 in text:
            text = text.replace(sign * 2, f"{sign}{{}}{sign}")
    return text


def clean(text: str) -> str:
    """A text on one line with only the characters that XML 1.0 allows.

    White space is collapsed; control characters, halves of surrogate pairs and the two code points that are no
    characters, U+FFFE and U+FFFF, are removed.
    """
    return tidy(text.replace("\ufffe", "").replace("\uffff", ""))
