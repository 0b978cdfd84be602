r"""LaTeX: a document that holds its references and compiles by itself.

``pdflatex`` (texts in Latin script), ``lualatex``, ``xelatex`` and ``tectonic`` take it, with ``bibtex`` in between.
"""

from collections.abc import Iterator

from storm_pipeline.export.bibtex import bibtex_text
from storm_pipeline.export.manuscript import Cited, HeadingBlock, Manuscript
from storm_pipeline.export.tex_text import tex_text

_HEADINGS = ("section", "subsection", "subsubsection", "paragraph", "subparagraph", "subparagraph")
_PREAMBLE = r"""\documentclass{article}
\usepackage{iftex}
\ifPDFTeX
  \usepackage[utf8]{inputenc}
  \usepackage[T1]{fontenc}
\else
  \usepackage{fontspec}
\fi
\usepackage{textcomp}
\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
\PassOptionsToPackage{hyphens}{url}
\usepackage[numbers,sort&compress]{natbib}
\usepackage[hidelinks]{hyperref}
"""


def write(manuscript: Manuscript) -> bytes:
    r"""The document: a sentence a line, with ``\cite`` behind it; a paragraph between empty lines."""
    return "\n".join(_lines(manuscript)).encode()


def _lines(manuscript: Manuscript) -> Iterator[str]:
    if manuscript.references:
        yield r"\begin{filecontents*}[overwrite]{\jobname.bib}"
        yield bibtex_text(manuscript) + r"\end{filecontents*}"
    yield _PREAMBLE
    yield rf"\title{{{tex_text(manuscript.title)}}}"
    yield r"\author{}"
    yield rf"\date{{{tex_text(manuscript.provenance)}}}"
    yield "\\begin{document}\n\\maketitle"
    for block in manuscript.blocks:
        if isinstance(block, HeadingBlock):
            yield f"\n\\{_HEADINGS[block.level - 1]}{{{tex_text(block.text)}}}"
        else:
            yield ""
            yield from (_sentence(sentence, manuscript) for sentence in block.sentences)
    yield ""
    if manuscript.references:
        yield rf"\renewcommand{{\refname}}{{{tex_text(manuscript.references_heading)}}}"
        yield "\\sloppy\n\\bibliographystyle{unsrtnat}\n\\bibliography{\\jobname}"
    yield "\n\\end{document}\n"


def _sentence(sentence: Cited, manuscript: Manuscript) -> str:
    keys = ",".join(manuscript.references[number - 1].key for number in sentence.numbers)
    return tex_text(sentence.text) + (rf"~\cite{{{keys}}}" if keys else "")
