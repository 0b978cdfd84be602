"""Which found pages bear on a topic."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.evidence.retrieval.vectors import Vectors
from storm_pipeline.evidence.subject import bare_name, keep_relevant
from storm_pipeline.types import Brief, Snippet

ODER = "2022 Oder environmental disaster"


def snippets(*pages: tuple[str, str]) -> list[Snippet]:
    return [Snippet(f"https://example.org/{i}", title, text) for i, (title, text) in enumerate(pages)]


def embed(texts: Sequence[str]) -> Vectors:
    return HashingEmbedder().embed(texts)


@pytest.mark.parametrize(
    ("name", "bare"),
    [
        *(("Basil II", "Basil II"), ("The Silk Road (film)", "Silk Road"), ("ルネサンス（美術）", "ルネサンス")),
        *(("(500)", "(500)"), ("The ", "The"), (" (x)", "(x)")),
    ],
)
def test_a_bare_name_has_no_brackets_and_no_article(name: str, bare: str) -> None:
    assert bare_name(name) == bare


def test_pages_that_name_the_topic_or_are_near_to_it_or_to_the_question_are_kept() -> None:
    found = snippets(
        ("Poland", "Tonnes of fish died in the river in a disaster for the whole environment of the Oder."),
        ("Report", "The commission wrote on the 2022 ODER environmental disaster."),
        ("Prymnesium parvum", "Golden algae release toxins that kill fish in brackish water."),
        ("Road Act 1916", "An act concerning the width of wagon wheels on county roads."),
    )
    assert keep_relevant(Brief(ODER), found, embed) == tuple(found[:2])
    assert keep_relevant(Brief(ODER), found, embed, "Which toxins of golden algae kill fish?") == tuple(found[:3])


def test_a_page_is_kept_whole_and_one_in_another_language_too() -> None:
    page = [Snippet("https://a.org", "A", text) for text in ("The Oder is long.", "Wheels of wagons are wide.")]
    found = [*page, *snippets(("Pogoda", "Katastrofa zaskoczyła władze i mieszkańców regionu w sierpniu."))]
    assert keep_relevant(Brief("Oder"), found, embed) == tuple(found)
    assert keep_relevant(Brief("Odra", language="pl"), found, embed) == tuple(found[:2])


def test_words_decide_without_the_embedder() -> None:
    def refuse(texts: Sequence[str]) -> Vectors:
        raise AssertionError(texts)

    found = snippets(("Basil II", "He ruled."), ("Rus", "basil ii asked the Rus for help."))
    assert keep_relevant(Brief("Basil II"), found, refuse) == tuple(found)
    assert keep_relevant(Brief("Basil II"), (), refuse) == ()


@given(st.lists(st.tuples(st.text(max_size=20), st.text(min_size=1, max_size=60)), max_size=6), st.text(max_size=20))
def test_order_and_whole_pages_are_kept(pages: list[tuple[str, str]], topic: str) -> None:
    found = snippets(*pages)
    kept = keep_relevant(Brief(topic), found, lambda texts: np.eye(len(texts), dtype=np.float32))
    assert [one for one in found if one in kept] == list(kept)
    assert bare_name(topic) or not topic.strip()
