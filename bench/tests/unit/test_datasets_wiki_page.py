"""Rendered Wikipedia articles: text, headings, citations of every kind, infobox; and HTML that is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wikimedia import article_html, listed, mark

from storm_bench.datasets.wiki_page import WikiPage, read_page

URL = "https://en.wikipedia.org/wiki/Silk"


def read(html: str) -> WikiPage:
    return read_page(html, "Silk", URL)


def test_both_skins_of_headings_and_citations_are_read() -> None:
    page = read(article_html(["https://a.example/1", "https://b.example/2", "https://c.example/3"]))
    assert page.article.headings() == ("Course", "Rescue", "Aftermath")
    assert page.article.infobox == (("Date", "3 March 2024"), ("Deaths", "None (two injured)"))
    assert page.features.subsections == 1 and page.features.sections == 2
    assert page.features.words == len(page.article.text().split())


PARSOID = """<section data-mw-section-id="1"><h2 id="Trade">Trade</h2>
<p>Silk was traded.<sup class="mw-ref reference" id="cite_ref-a_1-0"><a href="./Silk#cite_note-a-1"><span
class="mw-reflink-text"><span class="cite-bracket">[</span>1<span class="cite-bracket">]</span></span></a></sup></p>
</section><div class="mw-references-wrap"><ol class="mw-references references"><li id="cite_note-a-1"><span
class="mw-reference-text reference-text"><a rel="mw:ExtLink nofollow" href="//a.example/x" class="external text">A</a>.
</span></li></ol></div>"""


def test_the_markup_of_parsoid_is_read() -> None:
    (section,) = read(PARSOID).article.sections
    assert section.sentences[0].text == "Silk was traded."
    assert section.sentences[0].references == ("https://a.example/x",)


SHORT = f"""<h2>Trade</h2><p>Silk<sup id="r" class="reference"><a href="#cite_note-2">[a]</a></sup> was
dear.{mark(3)}{mark(4)} Jade<sup class="noprint Inline-Template">[<i>citation needed</i>]</sup> was not.{mark(5)}
So <sup>10</sup>B.</p>
<ol class="references"><li id="cite_note-2"><span class="reference-text">A note, no source.</span></li></ol>
<ol class="references"><li id="cite_note-3"><span class="reference-text"><a href="#CITEREFSmith2001">Smith 2001</a>,
p. 5.</span></li><li id="cite_note-4"><span class="reference-text">Ames, <i>Silk</i>. <a
href="/wiki/Special:BookSources/978-0-00" title="x">978-0-00</a>.</span></li>{listed(5, "https://c.example/5")}</ol>
<h2>Bibliography</h2><ul><li><cite id="CITEREFSmith2001" class="citation book">Smith. <a class="external text"
href="https://smith.example/book">Silk</a>.</cite></li></ul>"""


def test_short_citations_notes_and_books_are_told_apart() -> None:
    page = read(SHORT)
    (section,) = page.article.sections
    assert [sentence.text for sentence in section.sentences] == ["Silk was dear.", "Jade was not.", "So 10B."]
    assert [sentence.references for sentence in section.sentences] == [
        ("https://smith.example/book",),
        ("https://c.example/5",),
        (),
    ]
    assert [(cited.url, cited.title) for cited in page.article.references] == [
        ("https://smith.example/book", "Smith 2001, p. 5."),
        ("", "Ames, Silk. 978-0-00."),
        ("https://c.example/5", '"Report 5".'),
    ]


def test_what_is_no_running_text_is_left_out() -> None:
    html = """<table class="box ambox"><tr><td>This is a mess.</td></tr></table><p class="mw-empty-elt"></p>
    <p>Area is <span class="mwe-math-element"><span style="display:none"><math alttext="x"><mi>x</mi></math></span><img
    alt="{\\displaystyle x^{2}}"></span> wide<br>and flat.<style>.a{}</style><!-- hidden --></p>
    <figure><figcaption>A picture.</figcaption></figure><div class="navbox"><p>More.</p></div>
    <blockquote><p>Said he.</p></blockquote>"""
    page = read(html)
    assert page.article.lead == "Area is x^{2} wide and flat.\n\nSaid he."


@given(st.text(max_size=80), st.integers(0, 3000), st.integers(0, 3000))
def test_no_html_breaks_the_reader(noise: str, start: int, end: int) -> None:
    whole = article_html(["https://a.example/1"], sentences=2)
    page = read(whole[:start] + noise + whole[max(start, end) :])
    assert page.features.words >= 0
    assert isinstance(page.article.text(), str)


@pytest.mark.parametrize("html", ["", " ", "\0", "<!-- -->", "just text"])
def test_html_without_paragraphs_gives_no_text(html: str) -> None:
    assert read(html).article.text() == ""
