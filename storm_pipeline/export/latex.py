r"""LaTeX: a document that holds its references and compiles by itself.

``pdflatex`` (texts in Latin script), ``lualatex``, ``xelatex`` and ``tectonic`` take it, with ``bibtex`` in between.
"""

import string
from collections.abc import Iterator

from storm_pipeline.export.bibtex import bibtex_text
from storm_pipeline.export.entries import Run
from storm_pipeline.export.manuscript import Cited, HeadingBlock, Manuscript
from storm_pipeline.export.notes import Cite
from storm_pipeline.export.pages import as_it_stands
from storm_pipeline.export.tex_text import tex_text
from storm_pipeline.references.citations import locator

_IN_URLS = frozenset(f"{string.ascii_letters}{string.digits}_.:/?=&+~()@,;!*'-")  # what LaTeX takes as it is
_HEADINGS = ("section", "subsection", "subsubsection", "paragraph", "subparagraph", "subparagraph")


def write(manuscript: Manuscript) -> bytes:
    r"""The document: a sentence a line, with ``\cite`` behind it; a paragraph between empty lines."""
    return "\n".join(_lines(manuscript)).encode()


def _lines(manuscript: Manuscript) -> Iterator[str]:
    if manuscript.references:
        yield r"\begin{filecontents*}[overwrite]{\jobname.bib}"
        yield bibtex_text(manuscript) + r"\end{filecontents*}"
    yield as_it_stands("preamble.tex")
    if manuscript.note_place == "endnotes":
        yield r"\IfFileExists{endnotes.sty}{\usepackage{endnotes}}{\let\endnote\footnote\let\theendnotes\relax}"
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
    if manuscript.note_place:
        yield "\\theendnotes\n\\nocite{*}" if manuscript.note_place == "endnotes" else r"\nocite{*}"
    if manuscript.references:
        yield rf"\renewcommand{{\refname}}{{{tex_text(manuscript.references_heading)}}}"
        yield "\\sloppy\n\\bibliographystyle{unsrtnat}\n\\bibliography{\\jobname}"
    yield "\n\\end{document}\n"


def _sentence(sentence: Cited, manuscript: Manuscript) -> str:
    if manuscript.note_place:
        command = manuscript.note_place.removesuffix("s")
        notes = (f"\\{command}{{{''.join(map(_run, manuscript.notes[mark - 1]))}}}" for mark in sentence.marks)
        return tex_text(sentence.text) + r"\textsuperscript{,}".join(notes)
    if not any(cite.pages for cite in sentence.cites):
        keys = ",".join(manuscript.references[number - 1].key for number in sentence.numbers)
        return tex_text(sentence.text) + (rf"~\cite{{{keys}}}" if keys else "")
    return f"{tex_text(sentence.text)}~{''.join(_cite(cite, manuscript) for cite in sentence.cites)}"


def _cite(cite: Cite, manuscript: Manuscript) -> str:
    pages = f"[{locator(cite.pages).replace(' ', '~', 1).replace('–', '--')}]" if cite.pages else ""
    return rf"\cite{pages}{{{manuscript.references[cite.number - 1].key}}}"


def _run(run: Run) -> str:
    text = tex_text(run.text)
    if run.href:
        return rf"\url{{{run.href}}}" if run.text == run.href and _IN_URLS.issuperset(run.href) else text
    return rf"\emph{{{text}}}" if run.italic else text
