"""Heading soft recall against the paper's equations written out, hand-computed sets, and its properties."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from cases import case, generated, human
from hypothesis import given
from hypothesis import strategies as st

from storm_bench.metrics.recall import heading_soft_recall
from storm_bench.metrics.texts import article_text, body_headings
from storm_pipeline.evidence.retrieval import Vectors
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.optimize.metrics import soft_recall
from storm_pipeline.types import UNTITLED, Article, Heading, Outline, Section

AXES = {"north": (1, 0), "east": (0, 1), "north-east": (1, 1), "south": (-1, 0), "north by east": (3, 1)}


def compass(texts: Sequence[str]) -> Vectors:
    vectors = np.array([AXES[text] for text in texts], dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def written_out(truth: set[str], produced: set[str], embed: HashingEmbedder, *, clip: bool) -> float:
    """Equations 1 to 4 of appendix C.1, one sum after the other."""

    def similarity(a: str, b: str) -> float:
        x, y = ([float(v) for v in embed.embed([text])[0]] for text in (a, b))
        cosine = sum(p * q for p, q in zip(x, y, strict=True)) / math.hypot(*x) / math.hypot(*y)
        return max(cosine, 0.0) if clip else cosine

    def card(items: set[str]) -> float:
        return sum(1 / sum(similarity(a, b) for b in items) for a in items)

    return (card(truth) + card(produced) - card(truth | produced)) / card(truth)


words = st.sampled_from("history origins background culture legacy trade religion early-life climate".split())
headings = st.lists(st.lists(words, min_size=1, max_size=2).map(" ".join), min_size=1, max_size=5)
HASHING = HashingEmbedder(32)


@given(headings, headings)
def test_it_is_the_papers_formula(truth: list[str], produced: list[str]) -> None:
    ours = soft_recall(truth, produced, HASHING.embed, clip=True)
    assert ours == pytest.approx(written_out(set(truth), set(produced), HASHING, clip=True), abs=1e-5)


@given(headings, headings, st.randoms())
def test_neither_order_nor_duplicates_matter(truth: list[str], produced: list[str], random: object) -> None:
    value = soft_recall(truth, produced, HASHING.embed, clip=True)
    assert soft_recall(truth[::-1], produced[::-1], HASHING.embed, clip=True) == pytest.approx(value)
    assert soft_recall(truth * 2, [*produced, *produced], HASHING.embed, clip=True) == pytest.approx(value)
    assert soft_recall([f" {h}\n" for h in truth], produced, HASHING.embed, clip=True) == pytest.approx(value)


@pytest.mark.parametrize(
    ("truth", "produced", "recall"),
    [
        (["north", "east"], ["north"], 0.5),  # card 2, 1 and 2
        (["north"], ["east"], 0.0),  # card 1, 1 and 2
        (["north", "east"], ["north-east"], (2 + 1 - (2 / (1 + math.sqrt(0.5)) + 1 / (1 + math.sqrt(2)))) / 2),
        # What lies between two headings makes the union smaller than the two: more than all is recalled.
        (["north-east"], ["north", "east"], 1 + 2 - (2 / (1 + math.sqrt(0.5)) + 1 / (1 + math.sqrt(2)))),
    ],
)
def test_by_hand(truth: list[str], produced: list[str], recall: float) -> None:
    assert soft_recall(truth, produced, compass) == pytest.approx(recall, abs=1e-6)


def test_without_headings() -> None:
    assert soft_recall([], ["north"], compass) is None
    assert soft_recall(["", " "], ["north"], compass) is None
    assert soft_recall(["north"], [], compass) == 0.0


def test_cosines_that_cancel_out_give_no_count() -> None:
    assert soft_recall(["north", "south"], ["east"], compass) is None
    assert soft_recall(["north", "south"], ["east"], compass, clip=True) == pytest.approx(0.0)


def test_the_metric_compares_the_outline_and_else_the_body() -> None:
    metric = heading_soft_recall(HASHING)
    people = human({"History": "", "Climate": ""})
    body = generated({"History": "", "Climate": ""})
    planned = Article(
        "Topic", sections=body.sections, outline=Outline("Topic", (Heading("Trade", (Heading("Roads"),)),))
    )
    nested = Article("Topic", sections=(Section("History", (), (Section("Climate"),)),))
    scores = metric.score([case(people, body), case(people, nested), case(people, planned), case(human(), body)])
    values = [score["heading_soft_recall"] for score in scores]
    assert values[:2] == [pytest.approx(1.0)] * 2
    assert values[2] == soft_recall(["History", "Climate"], ["Trade", "Roads"], HASHING.embed)
    assert values[3] is None
    assert metric.parameters["embedder"] == "hashing-32"


def test_a_heading_overview_that_the_writer_chose_counts() -> None:
    below_lead = generated({UNTITLED: "Rome grew."}, lead="Rome is a town.")
    planned = replace(generated({UNTITLED: "Rome grew."}), outline=Outline("Topic", (Heading(UNTITLED),)))
    assert [body_headings(own) for own in (below_lead, planned)] == [(UNTITLED,)] * 2
    assert [f"# {UNTITLED}" in article_text(own) for own in (below_lead, planned)] == [True, True]
    assert article_text(generated({UNTITLED: "Rome grew."})) == "Rome grew."
