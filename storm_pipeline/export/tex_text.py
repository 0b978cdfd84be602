"""Any text as LaTeX that typesets it literally."""

import re

_MACROS = {
    "\\": r"\textbackslash{}",
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    "[": "{[}",
    "]": "{]}",
}
_SPECIAL = re.compile("|".join(map(re.escape, _MACROS)))
_LIGATURE = re.compile(r"(?<=([-',]))(?=\1)")


def tex_text(text: str) -> str:
    r"""A text on one line, escaped.

    Its braces are macros, so that BibTeX, which counts braces whether escaped or not, finds them balanced. Repeated
    hyphens, apostrophes and commas are kept apart, which TeX would join to dashes and quotation marks.
    """
    return _LIGATURE.sub("{}", _SPECIAL.sub(lambda found: _MACROS[found[0]], text))
