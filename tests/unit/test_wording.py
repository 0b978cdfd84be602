"""Sentences taken out of their text, and other words for them."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.types import Citation, Sentence
from storm_pipeline.writers.paragraphs import in_paragraphs
from storm_pipeline.writers.paraphrase_checks import adds_little, can_be_cut, names_the_subject, says_the_same
from storm_pipeline.writers.self_contained import points_back, stands_alone

PLAIN = st.lists(st.sampled_from("alpha beta tower road river built stood silk".split()), min_size=1, unique=True).map(
    lambda told: f"The {' '.join(told)}."
)


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("The road was built in the reign of Elizabeth I as a toll road.", True),
        ("In World War I he served as a pilot there.", True),
        ('The king said "we shall never give in" to his men.', True),
        ('The abbot was called "the last of the builders" and „der Alte“ by “all of them”.', True),
        ('The door of the tower is only 50" wide and low.', True),
        ('The abbot was called "the last of the builders.', False),
        ("Trained as a mason, he built” the tower of stone.", False),
        ("I keep hearing of it all the time now.", False),
        ("When I saw the house it was burning down.", False),
        ("You can see the tower from the hill above.", False),
        ("The latter was built in a much harder stone.", False),
        ("Vaccine coverage by age group and date is in Figure 3c.", False),
        ("The tower was built by an abbot and ...", False),
        ("It closed.", False),
    ],
)
def test_a_sentence_stands_alone_where_neither_its_text_nor_its_writer_is_missed(text: str, alone: bool) -> None:
    assert stands_alone(text) is alone


@pytest.mark.parametrize(
    ("text", "back"),
    [
        ("It was built in 1402.", True),
        ("Now his father went down to the town.", True),
        ("Burning with anger, he went home.", True),
        ("In 1905 he published four papers.", True),
        ("After the war the abbot sold his tower.", False),
        ("Newton and his friends wrote letters.", False),
        ("A widow sold her house to the abbot.", False),
        ("The tower was built in 1402.", False),
    ],
)
def test_who_is_not_named_is_pointed_back_to(text: str, back: bool) -> None:
    assert points_back(text) is back


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Most plants have many cells, among them red algae.", "Except for red algae, most plants have many cells."),
        ("Kelp, an alga, lacks chloroplasts and is not a plant.", "Despite its chloroplasts kelp is not a plant."),
        ("He said the law doesn't hold.", "He said the law holds."),
        ("The abbot's tower had a significant impact.", "The abbot's tower had an impact."),
        (
            "The Reformation, which ended in the Renaissance, is old.",
            "At the end of the Renaissance came the Reformation.",
        ),
        ("The abbot's legacy still resonates.", "The abbot was a saint."),
        ("A pivotal tower stands there.", "A tower stands there."),
        ("A fresco by Raphael is a school of Athens.", "The School of Athens is a fresco by Raphael."),
        ("Like Gothic and Baroque, it followed Gothic forms.", "It followed Gothic and preceded Baroque forms."),
        ("It fell in the 14th, or in the 14th, century.", "It fell in the 14th century."),
        ("Protected since 1375555, the tower stands.", "The tower is protected and stands."),
        (
            "The mason, an author and judge, was an author and judge of old.",
            "The mason was an author and judge of old.",
        ),
        ("In the 8th season they asked: are you the one?", "In the 8th season they danced."),
    ],
)
def test_other_words_that_say_something_else(new: str, old: str) -> None:
    assert not says_the_same(new, old, known="")


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("The tower lacks a roof.", "The tower has no roof."),
        ("The war ended in 1402.", "The war lasted until 1402."),
        ("No. 5 is the oldest house.", "The oldest house is No. 5."),
        ("It is not only old but also high.", "It is both old and high."),
        ("The vital road was important.", "The important road was closed to all."),
        ("The tower is a high tower of stone.", "The tower is high and of stone."),
        ("In 1402 the tower fell.", "The tower fell in that year."),
        ("The Abbot's tower fell and the Abbot fled.", "As the Abbot fled, the tower of the Abbot fell."),
        ("Raphael painted the School of Athens.", "It was painted by Raphael: the School of Athens."),
    ],
)
def test_other_words_that_say_the_same(new: str, old: str) -> None:
    assert says_the_same(new, old, known="The year 1402")


@pytest.mark.parametrize(
    ("new", "little"),
    [
        ("A vast group of diverse organisms, algae live by light.", True),
        ("Light feeds the algae, a vast and very diverse group of organisms.", True),
        ("Sunlight, carbon dioxide and water become sugar and oxygen in algae.", False),
        (
            "Algae are a diverse group of organisms that live by light; a large and diverse group of them "
            "live by light and by light alone.",
            False,
        ),
        ("", False),
    ],
)
def test_other_words_add_little(new: str, little: bool) -> None:
    old = "Algae are any of a large and diverse group of organisms that live by light."
    assert adds_little(new, old, shown=f"Algae {old}") is little


@pytest.mark.parametrize(
    ("new", "old", "title", "named"),
    [
        ("Salt art began here.", "Here began salt art.", "Salt art", True),
        ("Salt began here.", "Here began salt art.", "Salt art", False),
        ("Art began here.", "Here began salt art.", "Salt art", False),
        ("Ibsen sold it.", "Henrik Ibsen sold salt.", "Henrik Ibsen", False),
        ("Ibsen sold salt.", "Henrik Ibsen sold salt.", "Henrik Ibsen", True),
        ("A writer sold salt.", "Henrik Ibsen sold salt.", "Henrik Ibsen", False),
        ("Bergen sold salt.", "Bergen sold fish for salt.", "Fish of Bergen", False),
        ("Salt was sold here.", "Nordic Salt was sold here.", "Nordic Salt", False),
        ("Somebody sold it.", "He sold it.", "Henrik Ibsen", True),
    ],
)
def test_other_words_name_the_subject(new: str, old: str, title: str, named: bool) -> None:
    assert names_the_subject(new, old, topic="Salt", title=title) is named


@given(PLAIN, PLAIN)
def test_a_denial_is_never_added_nor_lost(a: str, b: str) -> None:
    assert says_the_same(a, b, known="")
    denied = b.replace("The ", "Not the ", 1)
    assert not says_the_same(a, denied, known="")
    assert not says_the_same(denied, a, known="")


def test_what_turns_cannot_be_cut() -> None:
    assert not can_be_cut("It had a parapet, but that was replaced.")
    assert not can_be_cut("Originally it had a parapet.")
    assert can_be_cut("It had a parapet and a roof.")


@given(st.lists(st.sampled_from("abcd"), max_size=12))
def test_paragraphs_keep_order_and_no_sentence_stands_alone(sources: list[str]) -> None:
    sentences = [Sentence(f"Sentence {i}.", (Citation(f"s{own}", f"n{own}"),)) for i, own in enumerate(sources)]
    paragraphs = in_paragraphs(sentences)
    assert [s for paragraph in paragraphs for s in paragraph.sentences] == sentences
    assert all(len(paragraph.sentences) >= min(3, len(sentences)) for paragraph in paragraphs)
    for before, after in pairwise(paragraphs):
        assert before.sentences[-1].citations != after.sentences[0].citations
