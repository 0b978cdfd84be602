"""The words of a passage that carry a sentence: they are found, and every format that has them has the same."""

import pytest
from articles import article, section, sentence, source
from hypothesis import given, settings
from lxml import html as lxml_html
from strategies import articles

from storm_pipeline.judges.spans import with_spans
from storm_pipeline.render.json import from_json
from storm_pipeline.text.words import tidy
from storm_pipeline.types import Article, Citation, Sentence

DAM = "Lake Orrin lies in the hills. The dam was finished in 1926 by two hundred workers. Trout live in the lake."


def words_of(own: Article, citation: Citation) -> list[str]:
    (text,) = (one.text for found in own.sources for one in found.snippets if one.id == citation.snippet_id)
    return [text[start:end] for start, end in citation.spans]


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ("Two hundred people built the dam by 1926.", ["The dam was finished in 1926 by two hundred workers."]),
        ("The lake, in the hills, has trout.", ["Lake Orrin lies in the hills.", "Trout live in the lake."]),
        ("Nothing is said.", []),
    ],
)
def test_a_citation_says_which_words_carry_its_sentence(claim: str, words: list[str]) -> None:
    page = source("orrin", DAM)
    found = with_spans(article(section("Dam", sentence(claim, page)), sources=(page,)))
    (only,) = (citation for own in found.sentences() for citation in own.citations)
    assert words_of(found, only) == words


def test_spans_that_a_judge_has_found_stay() -> None:
    page = source("orrin", DAM)
    own = Sentence("The dam was finished in 1926.", (Citation(page.id, page.snippets[0].id, ((0, 4),)),))
    assert next(with_spans(article(lead=(own,), sources=(page,))).sentences()) == own


@given(articles())
@settings(max_examples=60, deadline=None)
def test_every_format_with_spans_has_the_words_of_the_passage(drawn: Article) -> None:
    own = with_spans(drawn)
    cited = [citation for one in own.sentences() for citation in one.citations]
    assert all(text for citation in cited for text in words_of(own, citation))
    reloaded = from_json(own.to_json())
    assert reloaded == own
    page = lxml_html.fromstring(reloaded.to_html())
    marked = sorted(filter(None, map(tidy, page.xpath("//span[@class='sheet']//mark/text()"))))
    rendered = [citation for one in own.sentences() if tidy(one.text) for citation in one.citations]
    assert marked == sorted(filter(None, (tidy(text) for citation in rendered for text in words_of(own, citation))))
