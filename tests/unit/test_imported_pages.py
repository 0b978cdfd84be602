"""Articles read from Word files and HTML pages, whose references are notes."""

import io
import zipfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import docx
import pytest
from articles import article, citing, section, sentence, source
from export_readers import sentence_table
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from imported_cases import DAM, LAKE, cited_articles, cites_all, passages, read_markdown, require_same, rows

from storm_pipeline.errors import DatasetError
from storm_pipeline.output.articles import AvailablePages, Reference, read_article
from storm_pipeline.output.articles.html_and_docx import page_article
from storm_pipeline.output.articles.markdown import markdown_article
from storm_pipeline.output.articles.markdown_blocks import HeadingNode, TextBlock, markdown_blocks, without_title
from storm_pipeline.output.export import export
from storm_pipeline.output.render.markdown import to_markdown
from storm_pipeline.text.files import zip_files
from storm_pipeline.types import Article, Snippet

ORRIN, FALK = source("orrin", "Lake Orrin lies in the hills."), source("falk", "Dag Falk was a lawyer.")
WRITTEN = article(
    section(
        "History", sentence("It lies in [high] hills.", ORRIN), "Nobody says so.", sentence("He was.", FALK, ORRIN)
    ),
    section("Law", sentence("Falk was a lawyer.", FALK), below=(section("Letters", sentence("He wrote.", ORRIN)),)),
    lead=(sentence("Lake Orrin is a lake.", ORRIN),),
    sources=(ORRIN, FALK),
)
PAGES = AvailablePages(Reference(own.url, own.title, own.snippets[0].text) for own in (ORRIN, FALK))


def told(own: Article) -> list[tuple[str, tuple[str, ...]]]:
    return [(text, tuple(sorted(ids))) for text, ids in sentence_table(own)]


def read(folder: Path, name: str, content: bytes) -> Article:
    (folder / name).write_bytes(content)
    return read_article(folder / name, "A file", PAGES)


def test_our_word_files_are_read_as_they_were_written(tmp_path: Path) -> None:
    own = read(tmp_path, "a.docx", export(WRITTEN, "docx"))
    assert own.title == WRITTEN.title
    assert told(own) == told(WRITTEN)
    assert [one.heading for one in own.sections] == ["History", "Law"]
    assert own.sections[1].subsections[0].heading == "Letters"


@pytest.mark.parametrize("kind", ["footnote", "endnote"])
def test_word_files_with_notes_are_read_as_they_were_written(tmp_path: Path, kind: str) -> None:
    lines = (sentence("It lies there.", ORRIN), "Nobody says so.", sentence("He was.", FALK), sentence("So.", ORRIN))
    written = article(section("Law", *lines), sources=(ORRIN, FALK))
    with zipfile.ZipFile(io.BytesIO(export(written, "docx", citation_style="chicago-notes"))) as archive:
        parts = {name: archive.read(name).replace(b"footnote", kind.encode()) for name in archive.namelist()}
    unseen = b"</w:pPr><w:r><w:rPr><w:vanish/></w:rPr><w:t>https://who.int/x </w:t></w:r>"
    parts["word/footnotes.xml"] = parts["word/footnotes.xml"].replace(b"</w:pPr>", unseen)
    data = zip_files((name.replace("footnote", kind), content) for name, content in parts.items())
    own = read(tmp_path, "a.docx", data)
    assert told(own)[:4] == told(written)


def test_our_pages_hold_the_passages_that_they_cite(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(WRITTEN.to_html(), "utf-8")
    own = read_article(tmp_path / "a.html", "A file", AvailablePages())
    assert told(own) == told(WRITTEN)
    assert {one.id: [snippet.text for snippet in one.snippets] for one in own.sources} == {
        ORRIN.id: ["Lake Orrin lies in the hills."],
        FALK.id: ["Dag Falk was a lawyer."],
    }


PANDOC = """<p>It lies there.<a href="#fn1" class="footnote-ref" id="fnref1"><sup>1</sup></a> It is [deep].</p>
<h1>Law</h1><h2>Law</h2><p>Falk came.<a href="#fn2" id="fnref2"><sup>2</sup></a></p><section><hr><ol><li id="fn1"><p><a
href="https://example.org/orrin">Orrin</a><a href="#fnref1">↩</a></p></li><li id="fn2"><p>https://example.org/falk<a
href="#fnref2">↩</a></p></li></ol></section>"""
NUMBERED = """<article><h2>Law</h2><p>It lies there [1]. It is deep.</p><p>Falk came [2].</p><h2>References</h2>
<p>[1] Orrin https://example.org/orrin</p><p>[2] Falk https://example.org/falk</p></article><footer>Us</footer>"""


@pytest.mark.parametrize("page", [PANDOC, NUMBERED])
def test_other_pages_are_read(tmp_path: Path, page: str) -> None:
    own = read(tmp_path, "a.html", page.encode())
    assert [(text.replace("[deep]", "deep"), cited) for text, cited in told(own)] == [
        *(("It lies there.", (ORRIN.id,)), ("It is deep.", ()), ("Falk came.", (FALK.id,)))
    ]
    assert own.sections[-1].heading == "Law"


def test_a_word_file_without_notes_cites_its_list(tmp_path: Path) -> None:
    file, written = io.BytesIO(), docx.Document()
    written.add_heading("Law", 1)
    written.add_paragraph("Falk came [1].")
    written.add_heading("References", 1)
    written.add_paragraph("[1] Falk https://example.org/falk")
    written.save(file)
    assert told(read(tmp_path, "a.docx", file.getvalue())) == [("Falk came.", (FALK.id,))]


SAVED = "https://en.wikipedia.org/wiki/Orrin"
WIKIPEDIA = f"""<title>Orrin - Wikipedia</title><h1>Orrin</h1><div id="siteSub">From Wikipedia</div>
<div class="mw-parser-output"><div role="note">For others, see Falk.</div>
<p>Orrin lies in hills.<sup class="reference"><a href="{SAVED}#cite_note-1">[1]</a></sup><sup class="noprint">[<a
href="/w">citation needed</a>]</sup> He was.<sup class="reference"><a href="{SAVED}#cite_note-a-2">[a]</a></sup></p>
<table class="infobox"><tr><td>Area<sup class="reference"><a href="{SAVED}#cite_note-1">[1]</a></sup></td></tr></table>
<h2>Later</h2><p>It fell.<sup class="reference"><a href="{SAVED}#cite_note-4">[4]</a></sup><sup class="reference"><a
href="{SAVED}#cite_note-b-5">[b]</a></sup></p>
<ul><li><cite class="citation book" id="CITEREFFalk1990"><a href="{SAVED}">Falk, D.</a> (1990). <i>Law</i>. Retrieved
in 2020</cite><span class="Z3988" title="rft.btitle=Law&amp;rft.date=1990-05&amp;rft.aulast=Falk&amp;rft_id=info:doi/1"
></span></li></ul><!-- NewPP --><span class="Z3988" title="rft.btitle=Other"></span>
<ol class="references"><li id="cite_note-1"><a href="{SAVED}#cite_ref-1">^</a> <a class="external"
href="{ORRIN.url}">Lake</a>, <a href="{SAVED}">Society</a></li>
<li id="cite_note-a-2"><span class="reference-text">Falk was a lawyer.<sup class="reference"><a
href="{SAVED}#cite_note-3">[2]</a></sup></span></li>
<li id="cite_note-3"><a href="{SAVED}#CITEREFFalk1990">Falk 1990</a>, p. 3.</li>
<li id="cite_note-4">Moe, <i>Ships</i> (1999), p. 2.</li><li id="cite_note-b-5">It rose again.</li></ol></div>"""


def test_a_saved_page_of_wikipedia() -> None:
    own = page_article("A file", WIKIPEDIA.encode())
    cited = [[(own.references or {})[int(c.source_id)] for c in s.citations] for s in own.article.sentences()]
    told = ["Orrin lies in hills.", "He was.", "Falk was a lawyer.", "It fell.", "It rose again."]
    assert [s.text for s in own.article.sentences()] == told
    ships = Reference("", "Moe, Ships (1999), p. 2")
    assert cited == [[Reference(ORRIN.url, "Lake")], [], [Reference("https://doi.org/1", "Law")], [ships], []]
    assert cited[2][0].entry == "Falk. 1990. Law"
    assert own.left_out == [("infobox", 1)]


def test_parts_with_text_that_are_not_read_are_named() -> None:
    page = """<article><header><h1>Orrin</h1></header><header><h1>Orrin</h1><p>It is dry.</p></header><p>It lies.</p>
        <aside>Known since 1900.<form>In it.</form></aside><figure><img><figcaption>Seen.</figcaption></figure>
        <figure><img></figure><form>Sign here.<button>Go</button></form><form><button>Go</button></form></article>"""
    own = page_article("A file", page.encode())
    assert own.left_out == [("header", 0), ("aside", 0), ("figure", 0), ("form", 0)]
    assert [s.text for s in own.article.sentences()] == ["It lies."]


LINKS = f'<a href="{FALK.url}"></a><a href="%s">Orrin</a>'
RECORD = '<cite><a class="external" href="%s">O</a></cite><span class="Z3988" title="rft_id=%s&amp;rft.title=O"></span>'


@pytest.mark.parametrize("entry", [f'%s</li><li id="n">{FALK.url}', LINKS, RECORD % ("%s", "https://who.int/falk")])
def test_a_page_cites_what_its_readers_see(tmp_path: Path, entry: str) -> None:
    page = f'<article><p>It lies.<sup><a href="#n">[1]</a></sup></p><ol><li id="n">{entry % ORRIN.url}</li></ol>'
    assert told(read(tmp_path, "a.html", page.encode()))[0] == ("It lies.", (ORRIN.id,))


HTML = st.sampled_from(
    [
        *('<div class="mw-parser-output">', "</div>", "<p>", "</p>", "<h2>", "</h2>", "<table>", "</table>", "<li>"),
        *('<sup class="reference">', "</sup>", '<a href="#cite_note-1">', '<a href="#cite_note-a">', "[1]", "[a]"),
        *("</a>", '<li id="cite_note-1">', '<li id="cite_note-a">', "</li>", '<a href="#CITEREFA">'),
        *('<cite id="CITEREFA">', "</cite>", "</span>", "A \x1blake."),
        '<span class="Z3988" title="rft.btitle=A&amp;rft_id=https://a.example">',
        *('<a class="external" href="https://b.example">', '<span class="reference-text">', "<!-- x -->", "Ibid."),
    ]
)


@given(pieces=st.lists(HTML, min_size=1, max_size=40))
def test_every_citation_of_any_page_leads_to_a_reference(pieces: list[str]) -> None:
    with suppress(DatasetError):
        own = page_article("A file", "".join(pieces).encode())
        cited = {int(c.source_id) for sentence in own.article.sentences() for c in sentence.citations}
        assert cited <= set(own.references or {})


BODY = """# Lake Orrin

Lake Orrin is a reservoir.{a}

## History

The dam was begun in 1929.{b} It cost 12 million crowns{ab}.
"""
CITED = [
    ("Lake Orrin is a reservoir.", [LAKE]),
    ("The dam was begun in 1929.", [DAM]),
    ("It cost 12 million crowns.", [LAKE, DAM]),
]
NUMBERS = {"a": "[1]", "b": "[2]", "ab": "[1][2]"}
NOTES = {"a": "[^a]", "b": "[^b]", "ab": "[^a][^b]"}
FORMS: dict[str, tuple[dict[str, str], str]] = {
    "ordered links": (NUMBERS, f"## References\n\n1. [The lake]({LAKE})\n2. [The dam](<{DAM}>)\n"),
    "ordered by Markdown": (NUMBERS, f"## References\n1. [The lake]({LAKE})\n1. [The dam]({DAM})\n"),
    "ordered addresses": (NUMBERS, f"## Sources\n1) The lake. {LAKE}.\n2) “The dam”, {DAM}\n"),
    "bracketed": (NUMBERS, f"### Works cited\n- [1] The lake, {LAKE}\n- [2] {DAM} The dam\n"),
    "bracketed without a heading": (NUMBERS, f"[1] The lake: {LAKE}\n\n[2] The dam: <{DAM}>"),
    "on two lines": (NUMBERS, f"**Sources:**\n[1] The lake\n    {LAKE}\n[2] The dam\n{DAM}\n"),
    "bullets": (NUMBERS, f"Sources:\n- [The lake]({LAKE})\n- [The dam]({DAM})\n"),
    "definitions": (NUMBERS, f'[1]: {LAKE} "The lake"\n[2]: <{DAM}>\n  (The dam)\n'),
    "a list": ({**NUMBERS, "ab": "[1, 2]"}, f"## References\n[1] {LAKE}\n[2] {DAM}"),
    "a range": ({**NUMBERS, "ab": "[1–2]"}, f"## Notes\n[1] {LAKE}\n[2] {DAM}"),
    "escaped": ({"a": r"\[1\]", "b": r" \[2\]", "ab": r"\[1\]\[2\]"}, f"## References\n\\[1\\] {LAKE}\n\\[2\\] {DAM}"),
    "in another language": (NUMBERS, f"## Einzelnachweise\n\n1. [The lake]({LAKE})\n2. [The dam]({DAM})\n"),
    "footnotes": (NOTES, f"[^a]: The lake, {LAKE}\n[^b]: The dam\n    {DAM}\n"),
    "numbered footnotes": (
        {"a": "[^1]", "b": "[^2]", "ab": "[^1] [^2]"},
        f"[^1]: [The lake]({LAKE})\n[^2]: [The dam]({DAM})\n",
    ),
    "linked numbers": ({"a": f"[[1]]({LAKE})", "b": f"[2]({DAM})", "ab": rf"[\[1\]]({LAKE})[\[2\]]({DAM})"}, ""),
    "linked numbers with a list": (
        {"a": "[[1]](#ref-1)", "b": f"[[7]]({DAM})", "ab": f"[1](#ref-1)[[7]]({DAM})"},
        f"## References\n1. [The lake]({LAKE})\n2. [The dam]({DAM})",
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_citations_and_lists(name: str) -> None:
    marks, references = FORMS[name]
    article = read_markdown(f"{BODY.format(**marks)}\n{references}")
    assert rows(article) == CITED
    assert [section.heading for section in article.sections] == ["History"]
    assert (article.report.invented_citations, article.report.unavailable_citations) == (0, 0)


def test_a_citation_has_the_best_passage_of_its_page() -> None:
    marks, references = FORMS["ordered links"]
    *_, cost = passages(read_markdown(f"{BODY.format(**marks)}\n{references}"))
    assert len(cost) == 2
    assert cost[1].startswith("The dam\n")
    assert "12 million crowns" in cost[1] and "1929" not in cost[1]


def test_what_leads_to_no_page_is_dropped_and_counted() -> None:
    text = (
        "A lake.[1][3] It is deep.[2][9][0]\n\n## References\n"
        f"1. [The lake]({LAKE})\n2. [Gone](https://gone.example)\n3. A book, 1931, p. 4"
    )
    article = read_markdown(text)
    assert rows(article) == [("A lake.", [LAKE]), ("It is deep.", [])]
    assert article.report.unavailable_citations == 2, "a page that is not held, and a book"
    assert article.report.invented_citations == 2
    assert [source.url for source in article.sources] == [LAKE]


def test_a_number_in_the_text_is_no_entry() -> None:
    steps = "## Steps\n1. Dig [it](https://x.example).\n2. Fill it.[1]"
    text = f"{steps}\n\n## References\n[1] {LAKE}\n\n## Later\nIt stayed."
    article = read_markdown(text)
    assert rows(article) == [("Dig it.", []), ("Fill it.", [LAKE]), ("It stayed.", [])]


@pytest.mark.parametrize("before", ["It harms fish. [1]\n\n", "- It harms fish. [1]\n\n", ""])
def test_statements_beside_a_list_of_references_stay(before: str) -> None:
    after = "" if before else "\n\nIt harms fish. [1]"
    text = f"A dam. [1]\n\n## Notes\n{before}1. [The dam]({DAM})\n\n  of Orrin\n2. {LAKE}{after}"
    assert rows(read_markdown(text)) == [("A dam.", [DAM]), ("It harms fish.", [DAM])]


@pytest.mark.parametrize("entry", [f"<!--\n1. {LAKE}\n\n-->\n1. {DAM}", f"1. <!-- {LAKE} --> {DAM}"])
def test_what_readers_do_not_see_is_no_reference(entry: str) -> None:
    text = f"A dam. [1]\n\n<!-- It fell. -->\n\nSee `<!--`. It rose. [1] See `-->`.\n\n## References\n{entry}\n"
    found = [row for row in rows(read_markdown(text)) if "<!--" not in row[0]]
    assert found[:2] == [("A dam.", [DAM]), ("It rose.", [DAM])]


def test_metadata_in_yaml_are_no_sentences() -> None:
    article = read_markdown("---\ntitle: Orrin\nauthors:\n  - A. Doe\n---\n\n# Orrin\n\nA lake.\n\n---\n\nIt is: deep.")
    assert [sentence.text for sentence in article.sentences()] == ["A lake.", "It is: deep."]
    assert [sentence.text for sentence in read_markdown("---\nA lake.\n---\nDeep.").sentences()] == ["A lake.", "Deep."]


def test_lines_of_a_paragraph_belong_together() -> None:
    article = read_markdown("One is so.\nTwo goes\non here.\n\nThree.\n- Four.\n- Five.")
    assert [[s.text for s in one.sentences] for one in article.lead] == [
        *(["One is so.", "Two goes on here."], ["Three."], ["Four."], ["Five."]),
    ]


@given(article=cited_articles())
def test_an_exported_article_comes_back_from_markdown(article: Article) -> None:
    # where nothing cites, escaped numbers count as citations: some programs escape all of theirs
    assume(any(s.citations for s in article.sentences()) or "[" not in "".join(s.text for s in article.sentences()))
    found = read_markdown(to_markdown(article))
    require_same(found, article)


@pytest.mark.parametrize("note", ["", "A small model planned this article."])
def test_a_single_source_without_a_link_comes_back_with_its_citation(note: str) -> None:
    memo = Snippet("corpus:memo.txt", "A memo", "The lake was filled in 1926.")
    article = replace(citing(memo, text=memo.text, title="Lake"), note=note)
    pages = AvailablePages([Reference(memo.url, memo.title, memo.text)])
    found = pages.cite(markdown_article("Lake", to_markdown(article)))
    assert [len(one.citations) for one in found.sentences()] == [1]
    assert (found.report.invented_citations, found.report.unavailable_citations) == (0, 0)


PIECES = st.sampled_from(
    [
        *("[1]", "[^1]", "[1]: ", "[^1]: ", "[[2]](", f"({LAKE})", DAM, "\n", "\n\n", "    ", "## References", "# A"),
        *("1. ", "- ", "[", "]", "(", ")", "\\", "\\[1\\]", "<", "**", " — ", "word.", "A sentence.", '"', "|"),
        *("\ufdd0", "[99999]", "[0]", "[1-9]"),
    ]
)
anything = st.lists(PIECES | st.text(max_size=4), max_size=40).map("".join)


@settings(max_examples=2 * settings().max_examples)
@given(text=anything)
def test_whatever_the_file_holds_cites_all(text: str) -> None:
    article = read_markdown(text)
    assert cites_all(article)
    assert all(sentence.text.strip() for sentence in article.sentences())


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("# Lake Orrin\nA lake.", "A lake."),
        ("## lake orrin\nA lake.\n## History", "A lake."),
        ("# Orrin, a lake\nA lake.\n## History", "A lake."),
        ("# Overview\nA lake.\n# History", "Overview"),
        ("A lake.\n# Lake Orrin", "A lake."),
    ],
)
def test_an_opening_title_is_no_section(text: str, first: str) -> None:
    assert without_title(markdown_blocks(text), "Lake Orrin")[0].text == first


def test_headings_at_any_level_are_read() -> None:
    def count(part: HeadingNode) -> int:
        return 1 + sum(map(count, part.subsections))

    assert count(HeadingNode.of_blocks(TextBlock("a", level) for level in range(1, 3000))) == 3000
