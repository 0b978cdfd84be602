"""Sentences taken out of their text."""

import pytest

from storm_bench.datasets.self_contained import points_back, stands_alone


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("To understand the concept, see Nonbuilding structure for contrast.", False),
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
        ("Following this victory, the abbot built a tower.", True),
        ("By volume it is the largest lake of the north.", True),
        ("For those who love towers, the abbot built one.", False),
        ("After the war the abbot sold his tower.", False),
        ("Newton and his friends wrote letters.", False),
        ("A widow sold her house to the abbot.", False),
        ("The tower was built in 1402.", False),
    ],
)
def test_who_is_not_named_is_pointed_back_to(text: str, back: bool) -> None:
    assert points_back(text) is back
