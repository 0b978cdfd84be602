"""Reading markers, numbering sources, and reading rendered text back."""

import pytest
from export_readers import parse_markdown, sentence_table
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import HOSTILE, articles

from storm_pipeline.evidence.citations import parse_cited
from storm_pipeline.output.render.links import shared_address
from storm_pipeline.output.render.markdown import to_markdown
from storm_pipeline.text.markers import MARKS
from storm_pipeline.text.words import tidy
from storm_pipeline.types import Article, Citation

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


@given(articles())
def test_markdown_reads_back_to_the_same_citations(article: Article) -> None:
    urls = {source.id: shared_address(source.url) for source in article.sources}
    expected = [(text, tuple(urls[i] for i in ids)) for text, ids in sentence_table(article)]
    assert parse_markdown(to_markdown(article)) == expected
