"""What metrics compare by default, as the official STORM evaluation prepares it, on cases worked out by hand."""

from dataclasses import replace
from typing import get_args

import pytest
from cases import case, generated, human
from list_tagger import ListTagger

from storm_bench.metrics.overlap import rouge, rouge_body
from storm_bench.metrics.recall import article_entity_recall, heading_entity_recall
from storm_bench.metrics.texts import HeadingsOf, generated_headings, heading_pair, plain
from storm_bench.types import HumanArticle, HumanSection
from storm_pipeline.types import Heading, Outline

PUBLISHED = """Lake_Orrin

The lake is old.[1]

# History

It was dug in 1931.

## Notes on the dam

It broke.

# Legacy

# References

[1] https://example.org/lake
"""
HUMAN = HumanArticle(
    "Lake Orrin",
    lead="The lake is old.",
    sections=(HumanSection("History", "It was dug in 1931.", (HumanSection("Dam"),)), HumanSection("Legacy")),
    published_text=PUBLISHED,
)


def test_headings_come_from_the_published_text_up_to_the_first_back_matter_word() -> None:
    article = generated({"History": "", "See also": "", "Legacy": ""})
    assert heading_pair(HUMAN, article) == (("History",), ("History",))
    unpublished = replace(HUMAN, published_text="")
    assert heading_pair(unpublished, article)[0] == ("History", "Dam", "Legacy")


def test_texts_are_cleaned_as_officially() -> None:
    assert plain(PUBLISHED) == (
        "Lake_Orrin\nThe lake is old\nsection History\nIt was dug in 1931\nsection Notes on the dam\nIt broke\n"
        "section Legacy"
    )
    assert plain("See www.example.org/a, a café — long-term.[12]") == "See  a caf  longterm"


def test_rouge_counts_headings_and_its_repaired_variant_does_not() -> None:
    judged = case(human({"History": "Rome fell."}), generated({"Legacy": "Rome fell."}))
    # Words: section history rome fell, section legacy rome fell: 3 of 4 are common. Without headings: 2 of 2.
    assert rouge().score([judged])[0]["rouge_1"] == pytest.approx(3 / 4)
    assert rouge_body().score([judged])[0]["rouge_1_body"] == pytest.approx(1.0)
    assert rouge().parameters["text"] != rouge_body().parameters["text"]


def test_published_entities_are_the_truth_where_there_are_any() -> None:
    metric = article_entity_recall(ListTagger(["Rome", "China"]))
    people = human(lead="Rome.")
    published = replace(people, entities=("rome", "china", "silk road", "po"))
    article = generated({"One": "Rome and China."})
    scores = metric.score([case(people, article), case(published, article)])
    assert [(own["article_entity_recall"], own["article_entities"]) for own in scores] == [(1.0, 1), (0.5, 4)]


def test_headings_of_the_article_are_not_those_that_its_outline_only_planned() -> None:
    written = replace(
        generated({"History": "It grew."}), outline=Outline("T", (Heading("History"), Heading("Unwritten")))
    )
    assert generated_headings(written) == ("History", "Unwritten")
    assert generated_headings(written, "article") == ("History",)
    scores = [
        heading_entity_recall(ListTagger(["unwritten"]), headings_of=own).score(
            [case(human({"Unwritten": "x"}), written)]
        )[0]
        for own in get_args(HeadingsOf)
    ]
    assert [own["heading_entity_recall"] for own in scores] == [1.0, 0.0]
