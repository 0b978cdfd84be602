"""What sources differ on: found among passages, told to the writer, sent back where one side is told, and recorded."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from articles import article, section, sentence
from contexts import run
from hypothesis import given, settings
from hypothesis import strategies as st

from storm_pipeline.judges.base import Question, Span, Verdict
from storm_pipeline.references.passages import Passage, passages
from storm_pipeline.references.screen import Claim, Screen
from storm_pipeline.render.json import from_json
from storm_pipeline.retrieval.embedder import HashingEmbedder
from storm_pipeline.types import Disagreement, Side, Snippet, Source
from storm_pipeline.writers.disagreement import Differing, contested
from storm_pipeline.writers.draft_checks import checked_blocks
from storm_pipeline.writers.drafts import read_draft
from storm_pipeline.writers.judging import Doubts

TOPIC = "Peru 2022"
FEW = Snippet("https://a.org/1", "A", "To admit the motion against Castillo, Congress needed 46 votes. It sat long.")
MANY = Snippet("https://b.org/1", "B", "Congress needed 52 votes to admit the motion against Castillo, it was said.")
OTHER = Snippet("https://c.org/1", "C", "Farmers of the coast counted 70 votes in their own assembly in the hills.")
COPIED = Snippet("https://d.org/9", "D", MANY.text)
AGREED = Snippet(
    "https://e.org/9", "E", "The motion against Castillo was to be admitted, for which Congress needed 52 votes."
)
BOTH = "Congress needed 46 votes to admit the motion [1] or, as others say, 52 votes [2]."
ONE = "To admit the motion Congress needed 46 votes [1]."


def sides(*snippets: Snippet) -> list[list[tuple[str, int]]]:
    found = Differing.among(passages(snippets), TOPIC, "en")
    return [[(side.says, side.independent) for side, _ in thing] for thing in found.things]


def test_numbers_of_one_thing_differ_and_copies_count_once() -> None:
    assert sides(FEW, MANY, OTHER) == [[("46 votes", 1), ("52 votes", 1)]]
    assert sides(FEW, MANY, COPIED) == [[("46 votes", 1), ("52 votes", 1)]]
    assert sides(FEW, MANY, COPIED, AGREED) == [[("46 votes", 1), ("52 votes", 2)]]
    (thing,) = Differing.among(passages([FEW, MANY, COPIED]), TOPIC, "en").things
    assert [set(side.source_ids) for side, _ in thing] == [{FEW.source_id}, {MANY.source_id, COPIED.source_id}]


def test_rows_of_a_series_and_sentences_without_a_common_name_speak_of_different_things() -> None:
    def paid(*rows: str) -> list[Snippet]:
        form = "Along the road the caravans with {} paid tolls of {} dirhams at the gates of the old town {}."
        return [Snippet(f"https://{i}.org/", "Tolls", form.format(*row.split())) for i, row in enumerate(rows)]

    assert sides(*paid("spice 55 Merv", "jade 91 Merv")) == []
    assert sides(*paid("spice 55 Merv", "spice 91 Herat")) == []
    assert sides(*paid("spice 55 Merv", "spice 91 Merv")) == [[("55 dirhams", 1), ("91 dirhams", 1)]]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "The clerk of Castillo, a 32-year-old, spoke to Congress.",
            "The clerk of Castillo, a 25-year-old, spoke to Congress.",
        ),
        ("Castillo spent the 2021 season in Congress of Lima.", "Castillo spent three seasons in Congress of Lima."),
        (
            "Castillo of Peru has a video of the motion in Congress: Show more Like 5 Dislike Reply.",
            "Castillo of Peru has a video of the motion in Congress: Show more Like 11 Dislike Reply.",
        ),
        (
            "Castillo posted a 16-6 record with the Lions in 36 games with a 2.99 average and a .915 share of saves.",
            "Castillo posted an 8-4 record with the Lions in 14 games with a 2.70 average and a .918 share of saves.",
        ),
        (
            "| Round of Castillo in Congress | 46 votes | motion admitted in Congress | Lima |",
            "| Round of Castillo in Congress | 52 votes | motion admitted in Congress | Lima |",
        ),
        (
            "Castillo said that 46 votes were counted in Congress.",
            "In the long night before the ministers of Castillo resigned one by one and went home to their provinces, "
            "where nobody was waiting for them, 52 votes were counted for another bill, said the clerks of Congress.",
        ),
        (
            "The final between Giants and Packers drew 53.9 million viewers, the most since Seinfeld.",
            "The final between Vikings and Saints drew 57.9 million viewers, the most since Seinfeld.",
        ),
        (
            "Through 2016 Congress gave 191.13 million soles to the motion of Castillo.",
            "Through 2017 Congress gave 291.13 million soles to the motion of Castillo.",
        ),
        (
            "In 1931 Castillo was chairman of the motion in Congress.",
            "In the 1930s Castillo was chairman of the motion in Congress.",
        ),
    ],
    ids=[
        "a part of a word",
        "a year",
        "numbers before names",
        "statistics",
        "tables",
        "a short and a long one",
        "another game",
        "another year",
        "a decade",
    ],
)
def test_what_only_shares_its_form_does_not_differ(one: str, other: str) -> None:
    assert sides(Snippet("https://a.org/1", "A", one), Snippet("https://b.org/1", "B", other)) == []


def test_one_source_does_not_differ_from_itself() -> None:
    assert sides(FEW, replace(MANY, url=FEW.url)) == []


def test_what_one_source_counts_again_and_again_hides_no_other_difference() -> None:
    rows = [
        f"In district {place} of the coast the farmers counted {n} votes." for n, place in enumerate("ABCDEFGH", 50)
    ]
    table = Snippet("https://t.org/", "Votes", " ".join(rows))
    assert sides(table, FEW, MANY) == [[("46 votes", 1), ("52 votes", 1)]]


def test_a_source_with_several_of_the_numbers_counts_several_things() -> None:
    games = Snippet(
        "https://games.org/",
        "Cold games",
        "The game at Lambeau Field in Green Bay was played at 13 degrees and a strong wind. "
        "The game at Lambeau Field in Green Bay was played at 4 degrees and a strong wind.",
    )
    final = Snippet(
        "https://final.org/",
        "Final",
        "The game at Lambeau Field in Green Bay was played at 1 degree and a strong wind.",
    )
    assert sides(games, final) == []
    alone = replace(games, text=games.text.partition("wind. ")[2])
    assert sides(alone, final) == [[("4 degrees", 1), ("1 degree", 1)]]


def test_dates_of_one_event_differ_and_those_of_two_do_not() -> None:
    built = "The Orrin Dam was finished by two crews of workers in {} after a flood."
    one, other = (Snippet(f"https://{n}.org/", n, built.format(year)) for n, year in (("a", "1931"), ("b", "1936")))
    assert sides(one, other) == [[("1931", 1), ("1936", 1)]]
    assert (
        sides(one, replace(other, text="In 1936 the Orrin Dam got a power station beside its old flood gates.")) == []
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(20, 900), st.integers(20, 900), st.booleans())
def test_what_is_found_is_what_differs_in_whatever_order(one: int, other: int, turned: bool) -> None:
    pair = [
        replace(FEW, text=FEW.text.replace("46", str(one))),
        replace(MANY, text=MANY.text.replace("52", str(other))),
    ]
    found = sides(*(reversed(pair) if turned else pair))
    if one == other:
        assert found == []
    for thing in found:
        assert {says for says, _ in thing} == {f"{one} votes", f"{other} votes"}
        assert all(independent == 1 for _, independent in thing)


def test_the_writer_is_told_the_numbers_of_the_passages() -> None:
    lines = Differing.among(passages([FEW, OTHER, MANY]), TOPIC, "en").lines().splitlines()
    assert lines[1:] == ["- [1] “46 votes”; [3] “52 votes”"]
    assert Differing.among(passages([FEW, OTHER]), TOPIC, "en").lines() == ""


@pytest.mark.parametrize(("reply", "told"), [(f"1: {BOTH}", True), (f"1: {ONE}", False), ("", False)])
def test_a_draft_that_tells_one_side_goes_back_once_and_is_not_lost(reply: str, told: bool) -> None:
    shown = passages([FEW, MANY])
    differing = Differing.among(shown, TOPIC, "en")
    remarks: list[str] = []

    def ask_again(asked: str, concerned: Any) -> str:
        remarks.append(asked)
        assert set(concerned) == {0, 1}
        return reply

    screen = Screen(shown, known=TOPIC, embed=HashingEmbedder().embed)
    with run([FEW, MANY]) as (ctx, _):
        blocks = checked_blocks(ctx, "Votes", read_draft(ONE, 2), screen, ask_again, differing=differing)
    (kept,) = [s for block in blocks for paragraph in block.paragraphs for s in paragraph.sentences]
    assert "[2] “52 votes” differ from it" in remarks[0]
    assert ("52 votes" in kept.text) == told
    assert "46 votes" in kept.text


def test_a_draft_that_tells_both_sides_stays() -> None:
    shown = passages([FEW, MANY])
    screen = Screen(shown, known=TOPIC, embed=HashingEmbedder().embed)
    claims = [Claim("Congress needed 46 votes, or 52 votes.", (0, 1))]
    judged = screen.judge(claims)
    assert Differing.among(shown, TOPIC, "en").remarked(claims, judged, "en") == judged


def sources() -> tuple[Source, Source]:
    first, second = (Source(own.source_id, own.url, own.title, (own,)) for own in (FEW, MANY))
    return first, second


def test_the_article_records_what_it_tells_and_its_page_shows_it() -> None:
    first, second = sources()
    things = [(Side("46 votes", (first.id,), 1), Side("52 votes", (second.id,), 1))]
    plain = article(section("Votes", "It met.", sentence("It needed 46 votes.", first)), sources=(first, second))
    assert contested(things, plain) == (Disagreement(things[0], (1,), told=False),)
    both = article(section("Votes", sentence("It needed 46 or 52 votes.", first, second)), sources=(first, second))
    (found,) = contested([*things, *things], both)
    assert (found.sentences, found.told) == ((0,), True)
    assert contested(things, article(section("Votes", "It met."), sources=(first, second))) == ()
    written = replace(both, disagreements=(found,))
    assert from_json(written.to_json()) == written
    page = written.to_html()
    assert "Where its sources differ" in page
    assert "“46 votes” [1], 1 independent source; “52 votes” [2], 1 independent source" in page
    assert "the text tells one side" not in page
    assert "Where its sources differ" not in both.to_html()


class Contradicting:
    """Finds that the last passage says otherwise."""

    name, threshold = "scripted", 0.5
    parameters: Mapping[str, str] = {}

    def judge(self, questions: list[Question]) -> list[Verdict]:
        return [Verdict("contradicted", 0.0, (Span(len(one.passages) - 1, 0, 8),)) for one in questions]


def test_a_contradiction_that_the_judge_finds_is_recorded() -> None:
    shown = passages([FEW, MANY])
    screen = Screen(shown, known=TOPIC, embed=HashingEmbedder().embed)
    claims = [Claim("Congress was to admit the motion against Castillo.", (0, 1))]
    with run([FEW, MANY]) as (ctx, _):
        Doubts(ctx, "Votes", screen, Contradicting()).raised(claims, screen.judge(claims))
    ((one, other),) = ctx.differing
    assert (one.says, one.source_ids) == (claims[0].text, (FEW.source_id,))
    assert (other.says, other.source_ids) == (MANY.text[:8], (MANY.source_id,))


def test_a_copy_on_another_site_and_pages_of_one_site_are_not_independent_for_a_judge_either() -> None:
    longer = replace(MANY, url="https://d.org/9", title="D", text=f"{MANY.text} It was late.")
    shown = [Passage(one.text, (one,)) for one in (MANY, longer, replace(AGREED, url="https://b.org/2"), FEW)]
    screen = Screen(shown, known=TOPIC, embed=HashingEmbedder().embed)
    claims = [Claim("Congress was to admit the motion against Castillo.", (0, 1, 2, 3))]
    with run() as (ctx, _):
        Doubts(ctx, "Votes", screen, Contradicting()).raised(claims, screen.judge(claims))
    ((one, _other),) = ctx.differing
    assert (len(one.source_ids), one.independent) == (3, 1)
