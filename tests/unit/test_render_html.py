"""The HTML page: nothing hostile comes out active, and every link has its target."""

import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any
from urllib.parse import unquote

import pytest
from articles import cites, citing, page_of
from hypothesis import example as also
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html as lxml_html
from strategies import HOSTILE, articles, spans_of, texts

from storm_pipeline import types
from storm_pipeline.errors import DatasetError
from storm_pipeline.output.render.html import to_html
from storm_pipeline.output.render.links import Remark, passage_link
from storm_pipeline.text.words import tidy
from storm_pipeline.types import Article, Citation, Paragraph, Section, Sentence, Snippet, Spans, Usage, UsageRow


@pytest.mark.parametrize(("title", "text"), [("A", "'" * 24_000), ("Silk. " * 20_000, "A")])
def test_a_page_that_would_show_one_passage_or_title_too_often_is_refused(title: str, text: str) -> None:
    snippet = Snippet("https://a.org", title, text)
    paragraph = Paragraph(tuple(cites(f"It is {i}.", snippet) for i in range(450)))
    article = Article("Silk", sections=(Section("Trade", (paragraph,)),), sources=(page_of(snippet),))
    with pytest.raises(DatasetError, match=r"of which a check or a page may have 50,000,000"):
        to_html(article)


def test_a_page_that_would_name_one_source_too_often_below_the_research_is_refused() -> None:
    snippet = Snippet("https://a.org", "Silk. " * 20_000, "A")
    turns = tuple(types.Turn("What?", answer=(cites(f"It is {i}.", snippet),)) for i in range(450))
    article = Article(
        "Silk", sources=(page_of(snippet),), conversations=(types.Conversation(types.Perspective("A", "B"), turns),)
    )
    with pytest.raises(DatasetError, match=r"of which a check or a page may have 50,000,000"):
        to_html(article)


def test_a_long_title_is_not_read_for_each_other_address_of_its_source() -> None:
    snippet = Snippet("https://a.org", "Silk " * 400_000, "A")
    also = tuple(f"https://{n}.org" for n in range(20_000))  # would take many minutes
    article = Article(
        "Silk", lead=(Paragraph((cites("It is.", snippet),)),), sources=(replace(page_of(snippet), also=also),)
    )
    assert to_html(article).count("rel=") > len(also)


class CountedSnippets(tuple[Snippet, ...]):
    """Snippets that count how often they are gone through."""

    times = 0

    def __iter__(self) -> Iterator[Snippet]:
        type(self).times += 1
        return super().__iter__()


def test_the_passages_of_a_source_are_not_gone_through_for_each_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def times(sentences: int) -> int:
        monkeypatch.setattr(CountedSnippets, "times", 0)
        snippets = [Snippet("https://a.org", "A", f"It is {n}.") for n in range(sentences)]
        source = replace(page_of(*snippets), snippets=CountedSnippets(snippets))
        paragraph = Paragraph(tuple(cites(snippet.text, snippet) for snippet in snippets))
        page = to_html(Article("Silk", sections=(Section("Trade", (paragraph,)),), sources=(source,)))
        assert f"It is {sentences - 1}." in page
        return CountedSnippets.times

    assert times(50) == times(5)


VOID = {"meta", "br", "hr", "img", "link"}
ALLOWED = set(
    """
    html head meta title style body a div nav details summary ol ul li main article header h1 h2 h3 h4 h5 h6 p span
    section sup footer dl dt dd script table caption thead tbody tfoot tr th td button time mark aside small
""".split()
)


class Page(HTMLParser):
    """Reads a page as a browser would: tags, attributes, visible text, balance."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.raw: dict[str, list[str]] = {"style": [], "script": []}
        self.text: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        inside = self._open[-1] if self._open else ""
        (self.raw.get(inside, self.text)).append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    @property
    def visible(self) -> str:
        return tidy("".join(self.text))


PLAIN = Page(to_html(Article("x")))


@given(articles())
def test_any_article_gives_a_harmless_page_with_whole_links_that_a_notebook_frames(
    article: Article,
) -> None:
    check_harmless(article)
    shown = Page(article._repr_html_())
    ((tag, attributes),) = shown.tags
    assert (tag, attributes["srcdoc"], shown.text) == ("iframe", to_html(article), [])
    assert "allow-same-origin" not in (attributes["sandbox"] or "")


def check_harmless(article: Article) -> None:
    page = Page(to_html(article))
    assert {tag for tag, _ in page.tags} <= ALLOWED
    assert page.raw == PLAIN.raw  # style and script hold nothing of the article
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(set(ids)) == len(ids)
    for tag, attributes in page.tags:
        assert not any(name.startswith("on") or name in {"style", "src", "srcdoc", "action"} for name in attributes)
        href = attributes.get("href")
        if href is not None:
            assert tag == "a"
            assert re.match(r"#|https?://", href, re.I)
            if href.startswith("#"):
                assert href[1:] in ids
        for key in ("aria-labelledby", "aria-describedby"):
            assert attributes.get(key, ids[0]) in ids
    for sentence in article.sentences():
        assert tidy(sentence.text) in page.visible
    numbers = [int(i.removeprefix("ref-")) for i in ids if i and i.startswith("ref-")]
    assert numbers == list(range(1, len(article.references) + 1))


def example() -> Article:
    one = Snippet("https://www.example.org/a", "First page", "The tower is old.", page=4)
    two = Snippet("https://www.example.org/a", "First page", "It is also tall.")
    memo = Snippet("corpus:memo.md", "A memo", "It leans.")
    cited, both = cites("It is old and tall.", one, two), cites("It leans.", memo, two)
    return Article(
        "The tower",
        (Paragraph((cited, Sentence("Nobody says so."))),),
        (Section("History", (Paragraph((both,)),)),),
        (page_of(one, two), page_of(memo)),
        usage=Usage((UsageRow("sections", "writer", "small-model", 2, 1000, 0, 50, 9.0, 0.5),), 75.0),
        report=types.Report(dropped_faulty=2, problems=(types.Problem("sections", "failure", "One was lost."),)),
    )


SHOWN = st.characters(exclude_categories=["C"])


@given(st.text(SHOWN, max_size=60).flatmap(lambda text: st.tuples(st.just(text), spans_of(text))))
@also(("<b>&amp; [1]</b> It is old.", ((0, 3), (20, 25))))
def test_the_words_that_carry_a_sentence_are_marked_in_its_passage(case: tuple[str, Spans]) -> None:
    text, spans = case
    article = carried(Snippet("https://example.org/a", "A page", text), spans)
    check_harmless(article)
    page = lxml_html.fromstring(to_html(article))
    (card,) = page.xpath("//span[@class='sheet']")
    words = [tidy(text[start:end]) for start, end in spans if tidy(text)]
    assert list(map(tidy, card.xpath(".//mark/text()"))) == [word for word in words if word]
    passage = "".join(card.xpath("./span[@class='passage']//text()"))
    assert "".join(passage.split()) == "".join(text.split())
    (use,) = page.xpath("//details[@class='uses']//li")  # and back: the source lists what rests on it
    assert use.xpath("string(a)") == "It is old."
    assert use.xpath("a/@href") == ["#" + page.xpath("//sup[@class='cite']/@id")[0]]
    assert list(map(tidy, use.xpath("./mark/text()"))) == [word for word in words if word]


def carried(snippet: Snippet, spans: Spans) -> Article:
    """An article of one sentence, which words of a passage carry."""
    sentence = Sentence("It is old.", (Citation(snippet.source_id, snippet.id, spans),))
    return Article("x", (Paragraph((sentence,)),), sources=(page_of(snippet),))


OLD = "By 1900 the well-known tower, built of stone & lime, had been called old for six hundred years. It leans."


@pytest.mark.parametrize(
    ("about", "href"),
    [
        ({}, "#:~:text=By%201900%20the%20well%2Dknown%20tower%2C,old%20for%20six%20hundred%20years."),
        (
            {"url": "https://example.org/a#part"},
            "#part:~:text=By%201900%20the%20well%2Dknown%20tower%2C,old%20for%20six",
        ),
        ({"origin": "snippet"}, ""),  # the engine's words need not stand on the page
        ({"page": 3}, ""),  # browsers find no text in a PDF
        ({"url": "corpus:memo.md"}, None),
        ({"url": "file:///home/me/a.html"}, None),
    ],
)
def test_a_page_that_was_read_is_opened_at_the_words(about: dict[str, Any], href: str | None) -> None:
    snippet = replace(Snippet("https://example.org/a", "A page", OLD, origin="page"), **about)
    page = lxml_html.fromstring(to_html(carried(snippet, ((0, 96),))))
    found = page.xpath("//span[@class='sheet']//span[@class='from']/a/@href")
    assert found == [] if href is None else found[0].startswith("https://example.org/a" + href)
    assert page.xpath("//ol[@class='references']/li/span/a/@href") == ([] if href is None else [snippet.url])


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=80))
@also("a,b-c&d=e #f:~:text=x")
def test_a_text_fragment_gives_back_the_words(text: str) -> None:
    link = passage_link(Snippet("https://example.org/a", "", text, origin="page"), ((0, len(text)),))
    directive = link.removeprefix("https://example.org/a#:~:text=")
    assert link == "" if not tidy(text) else re.fullmatch(r"[\w.~%]+(,[\w.~%]+)?", directive, re.A)
    own = tidy(text).split()
    words = [unquote(part).split() for part in directive.split(",")] if own else [[]]
    assert words == ([own] if len(own) <= 10 else [own[:5], own[-5:]])


@given(articles(), st.dictionaries(st.integers(0, 9), texts, max_size=4))
@settings(max_examples=30)
def test_remarks_stand_behind_their_sentences(article: Article, remarks: dict[int, str]) -> None:
    html = to_html(article, "Checked.", {place: Remark("not", text) for place, text in remarks.items()})
    page = Page(html)
    assert {tag for tag, _ in page.tags} <= ALLOWED
    assert page.raw == PLAIN.raw
    assert "Written by a program" not in page.visible and "A language model researched" not in page.visible
    written = [bool(tidy(sentence.text)) for sentence in article.sentences()]
    shown = [text for place, text in sorted(remarks.items()) if place < len(written) and written[place]]
    found = [own.text_content() for own in lxml_html.fromstring(html).xpath("//small")]
    assert list(map(tidy, found)) == list(map(tidy, shown))


def cites_of(sources: list[set[int]], titles: list[str]) -> Article:
    """An article whose every sentence, a paragraph each, cites the sources of these numbers in ``titles``."""
    snippets = [Snippet(f"https://example.org/{n}", title, f"Passage {n}: {title}") for n, title in enumerate(titles)]
    paragraphs = (Paragraph((cites("So.", *(snippets[n] for n in sorted(row))),)) for row in sources)
    return Article("x", tuple(paragraphs), sources=tuple(map(page_of, snippets)))


@given(st.lists(st.sets(st.integers(0, 9)), max_size=5), st.lists(texts, min_size=10, max_size=10))
@also([{0, 1, 2}, {0, 1, 2, 3}, {5}, set(range(10))], (HOSTILE * 10)[:10])
@settings(max_examples=40)
def test_at_most_three_marks_stand_at_a_sentence_that_reach_all(sources: list[set[int]], titles: list[str]) -> None:
    article = cites_of(sources, titles)
    check_harmless(article)
    numbers = {source.id: number for number, source in enumerate(article.references, 1)}
    paragraphs = lxml_html.fromstring(to_html(article)).xpath("//div[@class='lead']/p")
    for sentence, paragraph in zip(article.sentences(), paragraphs, strict=True):
        cited = sorted(numbers[c.source_id] for c in sentence.citations)
        single = [int(a.text.strip("[]")) for a in paragraph.xpath("./sup/a")]
        folds = paragraph.xpath("./sup[button]")
        assert len(paragraph.xpath("./sup")) == min(len(cited), 3)
        assert len(folds) == (len(cited) > 3)
        listed = [
            a.get("href") for fold in folds for a in fold.xpath("./span[@class='card']//a[starts-with(@href,'#')]")
        ]
        assert single == (cited if len(cited) <= 3 else cited[:2])
        assert [f"#ref-{n}" for n in single] + listed == [f"#ref-{n}" for n in cited]
        printed = paragraph.xpath("./sup/a/text() | ./sup/span[@class='all']//text()")
        assert printed == [f"[{n}]" for n in cited]
        assert folds == [] or folds[0].xpath("string(button)") == f"[+{len(cited) - 2}]"
        shown = tidy("".join(text for card in paragraph.xpath(".//span[@class='card']") for text in card.itertext()))
        for citation in sentence.citations:
            (snippet,) = next(s for s in article.sources if s.id == citation.source_id).snippets
            assert tidy(snippet.text) in shown


def test_uncited_sentences_are_marked_and_counted() -> None:
    page = to_html(example())
    assert lxml_html.fromstring(page).xpath("//span[@class='uncited'][@title]/text()") == ["Nobody says so."]
    assert "1 sentence without a citation" in Page(page).visible


def test_page_is_self_contained_and_in_its_language() -> None:
    page = to_html(replace(example(), language="de"))
    assert page.startswith('<!doctype html>\n<html lang="de">')
    policy = next(a["content"] for _, a in Page(page).tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert not re.search(r"@import|url\(|<link|<img", page)


def test_the_foot_tells_what_each_stage_and_role_took() -> None:
    rows = (
        UsageRow("lead", "writer", "m", 1, 500, 0, 20, 2.0, None),
        UsageRow("sections", "reviewer", "m", 1, 10, 0, 5, 61.0, 0.0),
        UsageRow("sections", "writer", "m", 2, 1000, 400, 50, 9.0, 0.5),
        UsageRow("sections", "writer", "other", 1, 1000, 0, 50, 1.0, 0.002),
    )
    page = lxml_html.fromstring(to_html(Article("x", usage=Usage(rows, 30.0))))
    assert [[tidy(cell.text_content()) for cell in row] for row in page.xpath("//table//tr")[1:]] == [
        ["sections reviewer", "1", "10", "0", "5", "1:01", "$0.00"],
        ["sections writer", "3", "1,600", "400", "100", "0:10", "$0.50"],
        ["lead writer", "1", "500", "0", "20", "0:02", "unknown"],
        ["In all", "5", "2,110", "400", "125", "0:30", "unknown"],
    ]


def test_the_page_says_what_wrote_it_when_and_on_what_it_stands() -> None:
    page = Page(to_html(replace(example(), written="2026-11-22")))
    assert "Written by a program (small-model) from the sources below" in page.visible
    assert "22 November 2026" in page.visible
    assert "2 of 3 sentences rest on 2 sources" in page.visible
    assert "Written by a program from the sources below" in Page(to_html(Article("x"))).visible
    assert "0 of 0 sentences rest on 0 sources" in Page(to_html(Article("x"))).visible


def test_references_say_who_published_them_where_and_when() -> None:
    about = {"author": "Jane Doe", "site": "Marine Letters", "publisher": "Sea Press", "published": "2019-05"}
    one = Snippet("https://example.org/a", "Corals", "They bleach.", accessed="2026-11-22", page=4, **about)
    said = "example.org · Jane Doe · Marine Letters · Sea Press · p. 4 · 2019-05 · accessed 2026-11-22"
    assert said in Page(to_html(citing(one))).visible
