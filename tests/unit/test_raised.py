"""Superscripts, subscripts, deletions and ruby: no digits are glued, in pages, own files, books and search results."""

import time
from pathlib import Path

import pytest
from books import epub, paragraph, run, word
from commands import run_storm
from hypothesis import given
from hypothesis import strategies as st
from servers import closed_port

from storm_pipeline.errors import SettingsError
from storm_pipeline.evidence.retrieval.embedder import hub_folder, is_here, open_embedder
from storm_pipeline.interfaces.configuration.diagnosis import diagnose
from storm_pipeline.settings import Settings
from storm_pipeline.sources.documents.docx import read_docx
from storm_pipeline.sources.documents.epub import read_epub
from storm_pipeline.sources.documents.markup import fragment_text, parse_html, text_of
from storm_pipeline.sources.documents.reader import read_html, read_markdown
from storm_pipeline.sources.pages.extract import extract
from storm_pipeline.sources.pages.fetch import FetchedPage
from storm_pipeline.text.lexical import terms
from storm_pipeline.text.plain import plain_text
from storm_pipeline.text.quantities import missing
from storm_pipeline.text.words import folded_words

FILLER = "".join(
    f"<p>In the year {100 + n} the caravan number {n} reached the oasis of Dunhuang with silk.</p>" for n in range(9)
)
MARKUP = [
    # Marks of notes: with a link, by label, as they stand.
    ('of 1904<sup><a href="#n3">3</a></sup> by', "of 1904 by"),
    ('of 1904<sup class="reference" id="cite_ref-3">3</sup> by', "of 1904 by"),
    ("of 1904<sup>[3]</sup> by", "of 1904 by"),
    ("from the harbour.<sup>3</sup> Then", "from the harbour. Then"),
    ("from the harbour<sup>3, 4</sup> then", "from the harbour then"),
    # What may be an exponent stays one.
    ("of 1904<sup>3</sup> by", "of 1904³ by"),
    ("the 68<sup>4</sup> boats", "the 68⁴ boats"),
    ("a 12<sup>1,2</sup> ton", "a 12¹,² ton"),
    ("of 10<sup>&minus;6</sup> joules", "of 10⁻⁶ joules"),
    ("where x<sup>n</sup> and <i>y</i><sup>n+1</sup> are", "where xⁿ and yⁿ⁺¹ are"),
    ("where e<sup>2x</sup> is", "where e^(2x) is"),
    ("by <sup>14</sup>C dating", "by ¹⁴C dating"),
    ("added 3<sup>1</sup>/<sub>2</sub> cups", "added 3¹/₂ cups"),
    # Letters stay on the line.
    ("the 1<sup>st</sup> and 2<sup>nd</sup> of", "the 1st and 2nd of"),
    ("the XIX<sup>e</sup> of", "the XIXe of"),
    ("N<sup>o</sup> 5 of", "No 5 of"),
    ("the H<sub>2</sub>O of", "the H₂O of"),
    ("the CO<sub>2</sub> and C<sub>6</sub>H<sub>12</sub>O<sub>6</sub> of", "the CO₂ and C₆H₁₂O₆ of"),
    # Deleted, inserted, and what stands above characters.
    ("sold <del>40</del><ins>50</ins> boats", "sold 50 boats"),
    ("of <ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp>字<rp>(</rp><rt>ji</rt><rp>)</rp></ruby> here", "of 漢字 here"),
    ("a long<wbr>word and an&shy;other", "a longword and another"),
]
LINKED = [
    ('of 1904<a href="#fn3"><sup>3</sup></a> by', "of 1904 by"),
    ('of 1904<a role="doc-noteref" href="n.xhtml">3</a> by', "of 1904 by"),
    ("of 1904 (<a href='#p2'>part 2</a>) by", "of 1904 (part 2) by"),
    ("sold <s>40</s> 50 boats", "sold 50 boats"),
    ("said <q>no <b>ship</b></q> to", "said “no ship” to"),
    ("said <q>“no ship”</q> to", "said “no ship” to"),
    # Raised and lowered by a style or a class.
    ("the 68<span style='vertical-align:super'>4</span> boats", "the 68⁴ boats"),
    ('the 68<span style="font-size: 70%; Vertical-Align : Super;">4</span> boats', "the 68⁴ boats"),
    ('the 68<span class="superscript">4</span> boats', "the 68⁴ boats"),
    ('by <span class="sup">14</span>C dating', "by ¹⁴C dating"),
    ('the harbour<span class="sup">3</span> then', "the harbour then"),
    ('the 1<span class="sup">st</span> of', "the 1st of"),
    ("the H<span style='vertical-align: sub'>2</span>O of", "the H₂O of"),
    ('the CO<span class="subscript">2</span> and C<i class="sub">6</i> of', "the CO₂ and C₆ of"),
    ('the title <span class="sub">2020 edition</span> of', "the title 2020 edition of"),
    ('of 1904 <span class="sub">2020</span> of', "of 1904 2020 of"),
    ("of 1904<a href='#fn3'><span style='vertical-align:super'>3</span></a> by", "of 1904 by"),
    # Marks of notes that stand on the line.
    ("of 1904<a href='#fn3'>3</a> by", "of 1904 by"),
    ("of 1904<a href='notes.html#x3'>[3]</a>.", "of 1904."),
    ("of <b>1904</b><a href='#x3'>*</a> by", "of 1904 by"),
    ("the harbour.<a href='#xa'>a</a> Then", "the harbour. Then"),
    ("of 1904<a href='#x3'>3</a><a href='#x4'>4</a> by", "of 1904 by"),
    ("of 1904<span>[<a href='#x9'>9</a>]</span> by", "of 1904 by"),
    ("of 1906<span class='footnote-ref'>9</span> by", "of 1906 by"),
    ("of 1906<span role='doc-noteref'>‡</span> by", "of 1906 by"),
    # Other links and labels stay.
    ("see <a href='#s3'>3</a> by", "see 3 by"),
    ("of 1904–<a href='#s3'>05</a> by", "of 1904–05 by"),
    ("of 1904<a href='other.html'>5</a> by", "of 19045 by"),
    ("see§<a href='#s3'>3</a> by", "see§3 by"),
    ("of 1906 <span class='note'>9</span> by", "of 1906 9 by"),
    ("of 19<span class='notebook annotation'>06</span> by", "of 1906 by"),
    ("the word<a href='#word'>play</a> by", "the wordplay by"),
    ("part 1<a href='#s12'>2</a>3 by", "part 123 by"),
]


@pytest.mark.parametrize(("markup", "text"), [*MARKUP, *LINKED])
def test_markup_within_lines_is_read_in_pages_books_and_what_engines_deposit(markup: str, text: str) -> None:
    told, url = f"A word {text} word.", "https://a.example/x"
    html = f"<html><head><title>T</title></head><body><article><p>A word {markup} word.</p>{FILLER}</article>"
    for pages in (extract(FetchedPage(url, url, "text/html", html.encode())).pages, read_html(html.encode()).pages):
        assert plain_text(pages[0][1].split("\n")[0]) == told
    page = markup.replace("<wbr>", "<wbr/>").replace("&shy;", "\xad").replace("&minus;", "−")
    assert read_epub(epub(f"<p>A word {page} word.</p>")).pages == ((None, told),)
    assert text_of(parse_html(f"<p>A word {markup} word.".encode())) == told
    if (markup, text) in MARKUP:
        assert fragment_text(f"A word {markup} word.") == told


def test_formulas_of_a_book() -> None:
    formula = (
        "<math xmlns='http://www.w3.org/1998/Math/MathML'><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup>"
        "<mo>+</mo><mfrac><mn>1</mn><mn>2</mn></mfrac><msubsup><mi>v</mi><mn>0</mn><mn>2</mn></msubsup></math>"
    )
    assert read_epub(epub(f"<p>{formula}</p>")).pages == ((None, "E=mc²+1/2v₀²"),)


def test_numbers_of_a_table_of_contents_stay() -> None:
    lists = "<li>Trade<a href='#s1'>1</a></li><li><a href='#s2'>2</a> Silk</li>"
    for contents in (f"<ol class='toc'>{lists}</ol>", f"<div id='contents'><ul>{lists}</ul></div>"):
        assert text_of(parse_html(f"<body>{contents}".encode())).split() == ["Trade1", "2", "Silk"]


MARKDOWN = [
    ("of 1904<sup>3</sup> by", "of 1904³ by"),
    ("of 1904<sup>[3]</sup> by", "of 1904 by"),
    ('of 1904<sup><a href="#fn3">3</a></sup> by', "of 1904 by"),
    ("of H<sub>2</sub>O and p &lt; 5 by", "of H₂O and p < 5 by"),
    ("sold <del>40</del> and <s>50</s> 60 boats", "sold and 60 boats"),
    ("the 68^4^ boats", "the 68⁴ boats"),
    ("of 10^-6^ and e^2x^ and ^14^C", "of 10⁻⁶ and e^(2x) and ¹⁴C"),
    ("the H~2~O and C~6~H~12~O~6~ of", "the H₂O and C₆H₁₂O₆ of"),
    ("sold ~~30 *old* ships~~ 45 boats", "sold 45 boats"),
    ("of 1904[^1] and 1905[^long-name][^2].", "of 1904 and 1905."),
    # What is no mark stays.
    ("about ~5 to ~10 boats, 2^3 and 2^4, ^_^", "about ~5 to ~10 boats, 2^3 and 2^4, ^_^"),
    (r"of 68\^4\^ and \~~30\~~ boats", "of 68^4^ and ~~30~~ boats"),
    ("of `68^4^ <sup>3</sup> [^1]` and ``a ` ~~b~~`` by", "of 68^4^ <sup>3</sup> [^1] and a ` ~~b~~ by"),
    ("where $x^2+y^2$ and $$H~2~O$$ for $5 and 68^4^ for $6", "where $x^2+y^2$ and $$H~2~O$$ for $5 and 68⁴ for $6"),
    ("see [it](/a~b~c) and https://a.example/x~b~c/^d^ by", "see it and https://a.example/x~b~c/^d^ by"),
    ("see [3](#s3), [1] and (^) by", "see 3, [1] and (^) by"),
]


@pytest.mark.parametrize(("markup", "text"), MARKDOWN)
def test_markup_within_lines_is_read_in_markdown(markup: str, text: str) -> None:
    read = read_markdown(f"# T\n\nA word {markup} word.\n".encode())
    assert read.title == "T"
    assert plain_text(read.pages[0][1].split("\n")[2]) == f"A word {text} word."


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("```python\n68^4^ ~~30~~\n\nH~2~O[^1]\n```", "68^4^ ~~30~~ H~2~O[^1]"),
        ("~~~\n68^4^\n```\n68^4^\n~~~~", "68^4^ ``` 68^4^"),
        ("> ```\n> 68^4^ <sup>3</sup>\n> ```", "68^4^ <sup>3</sup>"),
    ],
)
def test_marks_in_code_of_markdown_stay(code: str, shown: str) -> None:
    read = read_markdown(f"Of 5^2^.\n\n{code}\n\nOf 68^4^.".encode())
    assert read.pages == ((None, f"Of 5².\n\n{shown}\n\nOf 68⁴."),)


def test_lists_and_tables_of_markdown_keep_their_lines() -> None:
    text = b"- a\n- 68^4^\n\n1931. Begun.\n1. Built.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    assert read_markdown(text).pages[0][1] == "- a\n- 68⁴\n\n1931. Begun.\n1. Built.\n\na | b\n1 | 2"


@given(st.text("a1 ^~`$[]<>sup/\\\n", max_size=60))
def test_whatever_the_marks_markdown_is_read(text: str) -> None:
    found = read_markdown(text.encode())
    if found.pages and not set("^~<>[`\\") & set(text):
        assert "".join(found.pages[0][1].split()) == "".join(text.split())


def test_a_superscript_that_was_not_closed_swallows_no_paragraphs() -> None:
    text = text_of(parse_html(b"<p>One<sup>1</p><div><sup><p>Two 2 words.</p><p>Three.</p></div>"))
    assert "Two 2 words.\n\nThree." in text


def having(text: str, properties: str) -> str:
    return run(text).replace("<w:r>", f"<w:r><w:rPr>{properties}</w:rPr>")


def at(text: str, position: str) -> str:
    return having(text, f'<w:vertAlign w:val="{position}"/>')


@pytest.mark.parametrize(
    ("runs", "text"),
    [
        ((run("of 1904"), at("3", "superscript"), run(" by")), "of 1904³ by"),
        ((run("10"), at("1", "superscript"), at("2", "superscript"), run(" joules")), "10¹² joules"),
        ((run("the harbour"), at("3", "superscript"), run(" by")), "the harbour by"),
        ((run("1904"), at("[3]", "superscript"), run(" by")), "1904 by"),
        ((run("the 1"), at("st", "superscript"), run(" of H"), at("2", "subscript"), run("O")), "the 1st of H₂O"),
        ((run("sold "), having("40 ", '<w:strike w:val="0"/>'), run("50")), "sold 40 50"),
        ((run("sold "), having("40 ", "<w:vanish/>"), run("50")), "sold 50"),
        ((run("1904"), "<w:r><w:footnoteReference w:id='2'/></w:r>", run(" by")), "1904 by"),
        ((run("1904"), f'<w:hyperlink w:anchor="_ftn1">{at("3", "superscript")}</w:hyperlink>', run(" by")), "1904 by"),
        ((run("1904"), f"<w:ins>{run('–05')}</w:ins><w:del>{run('–06')}</w:del>", run(" by")), "1904–05 by"),
        (
            ("<w:r><w:ruby><w:rt>" + run("kan") + "</w:rt><w:rubyBase>" + run("漢") + "</w:rubyBase></w:ruby></w:r>",),
            "漢",
        ),
    ],
)
def test_runs_of_a_word_file(runs: tuple[str, ...], text: str) -> None:
    assert read_docx(word(paragraph(*runs))).pages == ((None, text),)


@given(st.integers(0, 10**6), st.integers(0, 999))
def test_no_digits_are_glued(number: int, mark: int) -> None:
    page = f"<p>in {number}<sup>{mark}</sup> by"
    for text in (fragment_text(page), text_of(parse_html(page.encode()))):
        assert not missing(f"It was {number}.", [text])
        assert terms(text)[0] == str(number)
        assert folded_words(text)[1] == str(number)


NAME = "paraphrase-multilingual-MiniLM-L12-v2"


@pytest.mark.parametrize("is_forbidden", [True, False], ids=["HF_HUB_OFFLINE", "no network"])
def test_a_model_out_of_reach_fails_soon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_forbidden: bool) -> None:
    with closed_port() as address:
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", is_forbidden)
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", address)
        slept = list[float]()
        monkeypatch.setattr(time, "sleep", slept.append)
        with pytest.raises(SettingsError, match="not on this machine, and the model hub cannot be reached"):
            open_embedder(NAME, tmp_path)
        assert sum(slept) < 20  # the library tries for 75 seconds


def test_models_that_are_here_are_not_fetched(tmp_path: Path) -> None:
    assert not is_here(NAME, tmp_path)
    assert not is_here("no name of a model!", tmp_path)
    assert is_here(str(tmp_path), tmp_path)
    cached = hub_folder(tmp_path) / f"models--sentence-transformers--{NAME}"
    (cached / "refs").mkdir(parents=True)
    (cached / "refs" / "main").write_text("abc")
    (cached / "snapshots" / "abc").mkdir(parents=True)
    (cached / "snapshots" / "abc" / "modules.json").write_text("[]")
    assert is_here(NAME, tmp_path)


def test_it_is_listed_under_downloads_and_by_the_doctor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORM_EMBEDDER", NAME)
    monkeypatch.setenv("COLUMNS", "300")
    output = run_storm("assets", "list", "--cache", str(tmp_path)).output
    assert NAME in output
    assert "from the model hub" in output
    found = diagnose(Settings.build({"lm": "openai/x", "embedder": NAME, "cache": tmp_path, "search": "wiki-leads"}))
    assert "the first run fetches it from the model hub" in next(
        one.detail for one in found if one.subject == f"sentence encoder {NAME}"
    )
