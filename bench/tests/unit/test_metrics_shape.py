"""Texts of articles, their shape, density and cost, by hand."""

from dataclasses import replace

import pytest
from cases import case, generated, human

from storm_bench.metrics.counts import COST, RESEARCH, SHAPE, density, first_stated
from storm_bench.metrics.texts import generated_text
from storm_bench.types import Case, HumanArticle, HumanSection, Topic
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.types import (
    LATER_ROUND,
    Article,
    Conversation,
    Paragraph,
    Perspective,
    Section,
    Sentence,
    Snippet,
    Turn,
    Usage,
    UsageRow,
)

HASHING = HashingEmbedder()


def test_both_texts_are_prepared_alike() -> None:
    people = HumanArticle("T", lead="One.", sections=(HumanSection("H", "Two.", (HumanSection("S", "Three."),)),))
    deep = Section("S", (Paragraph((Sentence("Three."),)),))
    written = Article(
        "T",
        lead=(Paragraph((Sentence("One."),)), Paragraph((Sentence(" "),))),
        sections=(Section("H", (Paragraph((Sentence("Two."),)),), (deep,)),),
    )
    assert people.text() == generated_text(written) == "One.\n\nTwo.\n\nThree."


def test_shape_by_hand() -> None:
    written = generated(
        {"One": ["Rome was not built in a day.[1]", "Rome was not built in a day.[1]"], "Two": ""},
        lead="Rome grew.[3]",
        sources=4,
    )
    people = human({"Any": "word " * 8}, lead="And two.")
    assert SHAPE.score([case(people, written)]) == [
        {
            "words": 16,
            "length_ratio": 1.6,
            "sentences": 3,
            "sections": 2,
            "headings": 2,
            "references": 2,
            "references_collected": 4,
            "bibliography_cited": 0.5,
            "repeated_4grams": pytest.approx(4 / 13),
        }
    ]
    empty = SHAPE.score([case("", "")])[0]
    assert [name for name, value in empty.items() if value is None] == [
        "length_ratio",
        "bibliography_cited",
        "repeated_4grams",
    ]


def test_questions_and_sources_of_the_interviews_are_counted_and_those_of_later_rounds_are_not() -> None:
    def turn(*pages: str) -> Turn:
        return Turn("Why?", snippets=tuple(Snippet(f"https://{page}.org", page, f"{page} says so.") for page in pages))

    held = (
        Conversation(Perspective("Basic fact writer", "Facts."), (turn("a", "b"), turn("b"), turn())),
        Conversation(Perspective("Historian", "The past."), (turn("c"),)),
        Conversation(Perspective("Reader 2", LATER_ROUND), (turn("d", "e"),)),
    )
    article = replace(generated({"One": "Rome grew."}), conversations=held)
    assert RESEARCH.score([case("", article), case("", "")]) == [
        {"questions": 4, "references_researched": 3},
        {"questions": None, "references_researched": None},
    ]


def test_a_fact_is_new_unless_it_says_the_same_with_the_same_numbers() -> None:
    facts = ["The storm killed 12 people.", "the storm killed people", "The storm killed 13 people.", "Trade grew."]
    assert first_stated(facts, HASHING.embed, alike=0.7) == [True, False, True, True]
    assert first_stated(facts * 2, HASHING.embed, alike=0.7) == [True, False, True, True] + [False] * 4
    assert first_stated([], HASHING.embed) == []


def test_density_by_hand() -> None:
    metric = density(HASHING)
    written = generated({"One": ["Rome grew.[1]", "Trade came.", "Rome grew."]}, sources=1)
    length = len("Rome grew. Trade came. Rome grew.")
    assert metric.score([case("", written), case("", "")]) == [
        {
            "knowledge_density": pytest.approx(2000 / length),
            "cited_density": pytest.approx(1000 / length),
            "distinct_facts": pytest.approx(2 / 3),
        },
        {"knowledge_density": None, "cited_density": None, "distinct_facts": None},
    ]


def test_cost_is_the_runs_record() -> None:
    rows = (
        UsageRow("outline", "outliner", "m", calls=2, tokens_in=30, tokens_cached=10, tokens_out=5, cost=0.25),
        UsageRow("sections", "writer", "m", calls=1, tokens_in=20, tokens_out=9, cost=0.5),
    )

    def scored(usage: Usage) -> dict[str, float | None]:
        topic = Topic("t", "T", human())
        return dict(COST.score([Case(topic, Article("T", usage=usage))])[0])

    assert scored(Usage(rows, seconds=7.5)) == {
        "dollars": 0.75,
        "calls": 3,
        "tokens_in": 50,
        "tokens_cached": 10,
        "tokens_out": 14,
        "seconds": 7.5,
    }
    assert scored(Usage((*rows, UsageRow("review", "judge", "m", calls=1))))["dollars"] is None
    assert set(scored(Usage()).values()) == {None}
