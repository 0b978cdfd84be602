"""JSON holds everything, and says what is wrong with a file that is not an article."""

import json

import pytest
from articles import citing
from hypothesis import given
from imported_cases import read_json
from strategies import articles

from storm_pipeline.errors import RunError
from storm_pipeline.run.article_json import SCHEMA, from_json, to_json
from storm_pipeline.types import Article, Citation, Paragraph, Sentence, Snippet


@given(articles())
def test_round_trip(article: Article) -> None:
    text = to_json(article)
    assert from_json(text) == read_json(text) == article


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
        ("", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "no 'article'"),
        ('{"schema": 1}', "no 'article'"),
        ('{"article": {}, "schema": 99}', "format 99"),
        ('{"article": {"title": "T"}}', "format None"),
        (damaged(title=5), "damaged"),
        (damaged(sections="x"), "damaged"),
        (to_json(Article("T", (Paragraph((Sentence("A.", (Citation("s", "t"),)),)),))), "lacks"),
    ],
)
def test_what_is_no_article_is_refused(text: str, says: str) -> None:
    with pytest.raises(RunError, match=says):
        from_json(text)
