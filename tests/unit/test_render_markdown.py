"""Markdown and JSON: texts are shown as texts, cited sources listed, articles read back; none steers a reader."""

import io
import itertools
import json
import re
import zipfile
from collections.abc import Iterator
from functools import reduce

import pytest
from articles import citing
from export_readers import parse_markdown, sentence_table
from hypothesis import given, settings
from hypothesis import strategies as st
from imported_cases import read_json
from markdown_it import MarkdownIt
from markdown_it.token import Token
from strategies import HOSTILE, articles

from storm_pipeline import types
from storm_pipeline.errors import RunError
from storm_pipeline.evidence.citations import marker, number_references, parse_cited
from storm_pipeline.output.export.formats import FORMATS, export
from storm_pipeline.output.render.html import to_html
from storm_pipeline.output.render.links import is_shared_link, shared_address
from storm_pipeline.output.render.markdown import to_markdown
from storm_pipeline.run.article_json import SCHEMA, from_json, to_json
from storm_pipeline.text.markers import MARKS
from storm_pipeline.text.words import tidy
from storm_pipeline.types import Article, Citation, Conversation, Outline, Paragraph, Section, Sentence, Snippet, Source


def test_an_article() -> None:
    a = Source("a", "https://a.org/x_(y)", "A & B", (Snippet("https://a.org/x_(y)", "A", "t"),))
    b = Source("b", "corpus:memo.md", "Memo")
    unused = Source("c", "https://c.org", "C")
    article = Article(
        "C#",
        (Paragraph((Sentence("It [1] *is*.", (Citation("b", ""), Citation("a", ""))), Sentence("- So."))),),
        (Section("Use", (Paragraph((Sentence("1. One\nline.", (Citation("a", ""),)),)),), (Section("Deep"),)),),
        (unused, a, b),
    )
    assert to_markdown(article) == (
        "# C\\#\n\n"
        "It \\[1\\] \\*is\\*.[1][2]\n\\- So.\n\n"
        "## Use\n\n1\\. One line.[2]\n\n### Deep\n\n"
        "## References\n\n1. Memo — corpus:memo.md\n2. [A & B](https://a.org/x_\\(y\\))\n\n"
        "---\n\n*3 sentences, 1 without a citation; 2 sources cited.*\n"
    )


def shown(token: Token) -> str:
    """The characters that a viewer shows for an inline token."""
    assert all(child.type in {"text", "softbreak", "text_special"} for child in token.children or ()), token.children
    return "".join("\n" if child.type == "softbreak" else child.content for child in token.children or ())


@given(articles())
def test_a_viewer_shows_the_texts_of_any_article_literally_and_it_is_read_back(article: Article) -> None:
    numbers, text = number_references(article), to_markdown(article)
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    end = next(i for i, t in enumerate(tokens) if t.type in {"ordered_list_open", "hr"})
    seen = [shown(t) for before, t in itertools.pairwise(tokens[:end]) if before.type == "paragraph_open"]
    paragraphs = [*article.lead]
    todo = list(article.sections)
    while todo:
        section = todo.pop(0)
        paragraphs.extend(section.paragraphs)
        todo[:0] = section.subsections
    rows = [[tidy(s.text) + marker(s, numbers) for s in p.sentences if tidy(s.text)] for p in paragraphs]
    assert seen == ["\n".join(row) for row in rows if row]
    links = [c for t in tokens for c in t.children or () if c.type == "link_open"]
    assert len(links) <= sum(is_shared_link(source.url) for source in article.references)
    assert all(str(link.attrs["href"]).lower().startswith(("http://", "https://", "file:")) for link in links)
    urls = {source.id: shared_address(source.url) for source in article.sources}
    assert parse_markdown(text) == [(told, tuple(urls[i] for i in ids)) for told, ids in sentence_table(article)]
    record = to_json(article)
    assert from_json(record) == read_json(record) == article
    assert from_json(re.sub(r'"([st][0-9a-f]{12})[0-9a-f]{28}"', r'"\1"', record)) == article  # an earlier version's


def test_preprints_are_marked_and_read_back() -> None:
    snippet = Snippet("https://arxiv.org/abs/2402.14207", "STORM", "It is so.", page=3)
    text = to_markdown(citing(snippet))
    assert "1. [STORM](https://arxiv.org/abs/2402.14207), p. 3, preprint" in text
    assert parse_markdown(text) == [("It is so.", (snippet.url,))]


@pytest.mark.parametrize("spans", [[[0, 11]], [[-1, 4]], [[4, 4]], [[5, 3]], [[0, 5], [4, 6]], [[6, 8], [0, 4]]])
def test_words_that_a_passage_lacks_are_damage(spans: list[list[int]]) -> None:
    record = json.loads(to_json(citing(Snippet("https://a.org", "", "Ships came"))))
    record["article"]["lead"][0]["sentences"][0]["citations"][0]["spans"] = spans
    with pytest.raises(RunError, match="outside of it"):
        from_json(json.dumps(record))


def test_half_a_surrogate_pair_can_be_written() -> None:
    text = to_json(Article("a\ud83d"))
    assert from_json(text).title == "a?"
    text.encode()


def damaged(**changes: object) -> str:
    return json.dumps({"schema": SCHEMA, "article": {"title": "T"} | changes})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        *(("", "not JSON"), ("[" * 100_000, "not JSON"), ("[]", "no 'article'"), ('{"schema": 1}', "no 'article'")),
        *(('{"article": {}, "schema": 99}', "format 99"), ('{"article": {"title": "T"}}', "format None")),
        *((damaged(title=5), "damaged"), (damaged(sections="x"), "damaged")),
        (to_json(Article("T", (Paragraph((Sentence("A.", (Citation("s", "t"),)),)),))), "lacks"),
        (
            to_json(Article("T", sections=reduce(lambda below, _: (Section("H", (), below),), range(99), ()))),
            "too deeply",
        ),
    ],
)
def test_what_is_no_article_is_refused(text: str, says: str) -> None:
    with pytest.raises(RunError, match=says):
        from_json(text)


BAD = "\x1b\x07\x00\x9b\u202a\u202b\u202d\u202e\u2066\u2067\u2068"


def article_of(texts: list[str]) -> Article:
    title, heading, said, name, focus, question, detail, url, page, model, published, site = texts
    snippet = Snippet(f"https://example.org/{url}", page, said, published=published, site=site, author=name)
    source = Source(snippet.source_id, snippet.url, page, (snippet,))
    sentence = Sentence(said, (Citation(source.id, snippet.id),))
    body = (Paragraph((sentence,)),)
    return Article(
        title,
        body,
        (Section(heading, body),),
        (source,),
        Outline(title),
        (Conversation(types.Perspective(name, focus), (types.Turn(question, (question,), (sentence,)),)),),
        usage=types.Usage((types.UsageRow(heading, name, model, 1),)),
        report=types.Report(problems=(types.Problem(heading, "failure", detail),)),
    )


def outputs(article: Article) -> Iterator[str]:
    """The article in Markdown, HTML and every export format whose files are text or archives of text."""
    yield to_markdown(article)
    yield to_html(article)
    for name in FORMATS.keys() - {"pdf"}:  # drawn from the HTML
        content = export(article, name)
        if zipfile.is_zipfile(io.BytesIO(content)):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                texts = [
                    name for name in archive.namelist() if name.endswith((".xml", ".xhtml", ".opf", ".rels", ".css"))
                ]
                yield from (archive.read(entry).decode() for entry in texts)
        else:
            yield content.decode()


def test_no_text_of_an_article_steers_who_reads_it() -> None:
    for rendered in outputs(article_of([f"x{BAD}ab {n}.[]<{BAD}\u202c\u2069\u200d b" for n in range(12)])):
        assert not set(BAD) & set(rendered)


def test_a_title_of_many_hashes_is_escaped_at_once() -> None:
    assert to_markdown(Article(f"{'#' * 10**6}x#")).startswith(f"# \\{'#' * 10**6}x\\#\n")


SHOWN = [Citation(f"s{n}", f"t{n}") for n in range(1, 6)]


def read(text: str) -> tuple[list[tuple[str, str]], int]:
    """Sentences as (text, cited numbers) and the count of inventions."""
    result = parse_cited(text, SHOWN)
    return [(s.text, "".join(c.source_id[1] for c in s.citations)) for s in result.sentences], result.invented


@pytest.mark.parametrize(
    ("text", "sentences", "invented"),
    [
        ("It ran.[1] It fell. [2]", [("It ran.", "1"), ("It fell.", "2")], 0),
        ("It ran [1]. It fell[2][3].", [("It ran.", "1"), ("It fell.", "23")], 0),
        ("It ran [1-3]. It fell [2–4].", [("It ran.", "123"), ("It fell.", "234")], 0),
        ("It ran [4-99]. It fell [3-1].", [("It ran.", "45"), ("It fell.", "123")], 1),
        ("It ran [0] [99].", [("It ran.", "")], 2),
        ("It ran [[1]]. It fell [Source 1]. It sat [^2].", [("It ran.", "1"), ("It fell.", "1"), ("It sat.", "2")], 0),
        ("It ran [Sources 1 and 2]. It fell [#3].", [("It ran.", "12"), ("It fell.", "3")], 0),
        ("It ran (1).", [("It ran (1).", "")], 0),
        ("It ran ([1]).", [("It ran.", "1")], 0),
        ("[1] It ran.\n[2] It fell.", [("It ran.", "1"), ("It fell.", "2")], 0),
        ("[1]\nIt ran.", [("It ran.", "1")], 0),
        ("It ran. [1]. It fell.", [("It ran.", "1"), ("It fell.", "")], 0),
        ("It ran. [citation needed] It fell.", [("It ran.", ""), ("It fell.", "")], 0),
        ("See [the page](https://a.b/c_(d)) now [sic].", [("See the page now [sic].", "")], 0),
        ("It ran [1](https://a.b). It fell [[2]](http://c).", [("It ran.", "1"), ("It fell.", "2")], 0),
        ("It ran in [1999].", [("It ran in [1999].", "")], 0),
        ("It ran [3, no. it fell in Rome].", [("It ran [3, no. it fell in Rome].", "")], 0),
        ("It ran [3†and it fell].", [("It ran [3†and it fell].", "")], 0),
        (
            "It ran【1】. It fell【2†source】. It sat ［３］.",
            [("It ran.", "1"), ("It fell.", "2"), ("It sat.", "3")],
            0,
        ),
        ("It ran [" + "9" * 50 + "].", [("It ran [" + "9" * 50 + "].", "")], 0),
        ("It ran [1], [2] , fast.", [("It ran, fast.", "12")], 0),
        ("It ran.<sup>[1]</sup> It fell \\[2\\].", [("It ran.", "1"), ("It fell.", "2")], 0),
        ("It  ran\n[1] fast .", [("It ran fast.", "1")], 0),
        ("第一句。[1]第二句。[2]", [("第一句。", "1"), ("第二句。", "2")], 0),
        ("[[1]2] It ran.", [("It ran.", "12")], 0),
        ("", [], 0),
    ],
)
def test_parse_cited(text: str, sentences: list[tuple[str, str]], invented: int) -> None:
    assert read(text) == (sentences, invented)


PIECES = st.lists(
    st.sampled_from(
        [
            *("[1]", "[2, 9]", "[3-4]", "[[", "]]", "[", "]", "5", "(", ")", "It ran.", "no", ".", "\n", "【2】", "\0"),
            *HOSTILE,
        ]
    ),
    max_size=14,
)


@given(st.one_of(PIECES.map("".join), PIECES.map(" ".join), st.text()))
@settings(max_examples=3 * settings().max_examples)
def test_parsed_text_is_clean_and_citations_are_shown_ones(text: str) -> None:
    result = parse_cited(text, SHOWN)
    assert result.invented >= 0
    for sentence in result.sentences:
        assert sentence.text
        assert sentence.text == tidy(sentence.text)
        assert not MARKS.search(sentence.text)
        assert set(sentence.citations) <= set(SHOWN)
        assert len(set(sentence.citations)) == len(sentence.citations)
